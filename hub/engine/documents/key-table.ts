/** Names of an object's fields, looked up by their bytes in a document without making strings. */

import { hashTerm } from "#hub/engine/analysis/ascii-tokenizer.ts";
import { toBytes } from "#hub/engine/bytes/bytes.ts";

interface Slot<T> {
  readonly key: Uint8Array;
  readonly value: T;
}

/** An open-addressing table that is built once. */
export class KeyTable<T> {
  readonly #slots: (Slot<T> | undefined)[];
  readonly #mask: number;

  constructor(entries: Iterable<readonly [string, T]>) {
    const list = [...entries];
    let size = 4;
    while (size < 2 * list.length) size *= 2;
    this.#slots = new Array<Slot<T> | undefined>(size);
    this.#mask = size - 1;
    for (const [name, value] of list) {
      const key = toBytes(name);
      let at = hashTerm(key, 0, key.length, 0) & this.#mask;
      while (this.#slots[at] !== undefined) at = (at + 1) & this.#mask;
      this.#slots[at] = { key, value };
    }
  }

  /** Value of the name bytes[from..to), or undefined. */
  get(bytes: Uint8Array, from: number, to: number): T | undefined {
    const length = to - from;
    let at = hashTerm(bytes, from, length, 0) & this.#mask;
    for (let slot = this.#slots[at]; slot !== undefined; slot = this.#slots[at]) {
      if (slot.key.length === length && matches(slot.key, bytes, from)) return slot.value;
      at = (at + 1) & this.#mask;
    }
    return undefined;
  }
}

function matches(key: Uint8Array, bytes: Uint8Array, from: number): boolean {
  for (let index = 0; index < key.length; index++) if (key[index] !== bytes[from + index]) return false;
  return true;
}
