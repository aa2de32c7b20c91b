/** Ids of documents that came without one. */

import { randomBytes } from "node:crypto";

/** Bytes of an id: 6 of time, 3 of a counter, 6 of this process. */
const ID_BYTES = 15;

/** Characters of an id. */
export const ID_CHARACTERS = 20;

/** Where the four characters of the counter stand. */
const COUNTER_AT = 8;

/** RFC 4648, table 2. */
const DIGITS = Buffer.from("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_");

/** Makes ids that are unique over processes and rise with time: 20 characters base64url. */
export class DocumentIds {
  readonly #bytes = Buffer.concat([Buffer.alloc(9), randomBytes(6)], ID_BYTES);
  readonly #now: () => number;
  #lastMs = 0;
  #counter = randomBytes(3).readUIntBE(0, 3);

  constructor(now: () => number) {
    this.#now = now;
  }

  next(): string {
    this.#count();
    return this.#bytes.toString("base64url");
  }

  /** Returns `count` ids behind each other, ID_CHARACTERS of ASCII each. */
  take(count: number): Uint8Array {
    const out = Buffer.allocUnsafe(count * ID_CHARACTERS);
    let lastMs = -1;
    for (let at = 0; at < out.length; at += ID_CHARACTERS) {
      this.#count();
      if (lastMs === this.#lastMs) this.#again(out, at);
      else out.write(this.#bytes.toString("base64url"), at, "latin1");
      lastMs = this.#lastMs;
    }
    return out;
  }

  #count(): void {
    this.#counter = (this.#counter + 1) & 0xff_ffff;
    this.#lastMs = Math.max(this.#lastMs + (this.#counter === 0 ? 1 : 0), this.#now());
    this.#bytes.writeUIntBE(this.#lastMs, 0, 6);
    this.#bytes.writeUIntBE(this.#counter, 6, 3);
  }

  /** Writes an id of the same millisecond as the one before it: only the counter's characters are others. */
  #again(out: Uint8Array, at: number): void {
    for (let place = at; place < at + ID_CHARACTERS; place++) out[place] = out[place - ID_CHARACTERS]!;
    const counter = this.#counter;
    const place = at + COUNTER_AT;
    out[place] = DIGITS[counter >>> 18]!;
    out[place + 1] = DIGITS[(counter >>> 12) & 63]!;
    out[place + 2] = DIGITS[(counter >>> 6) & 63]!;
    out[place + 3] = DIGITS[counter & 63]!;
  }
}
