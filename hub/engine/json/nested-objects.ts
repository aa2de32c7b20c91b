/** Finds the objects of a nested path in a document, and makes a document from each. */

import { toBytes } from "#hub/engine/bytes/bytes.ts";
import * as json from "./scanner.ts";

/** One scanner is enough: a walk never waits. */
const scanner = new json.JsonScanner();

/** Makes documents of the objects of one path: `{"a":{"b":{…}}}` for an object at a.b. */
export class NestedObjects {
  readonly #path: string;
  readonly #prefix: Uint8Array;
  readonly #suffix: Uint8Array;

  constructor(path: string) {
    const names = path.split(".");
    this.#path = path;
    this.#prefix = toBytes(names.map((name) => `{${JSON.stringify(name)}:`).join(""));
    this.#suffix = toBytes("}".repeat(names.length));
  }

  /** Returns a document for each object of the path, in their order. Throws mapping_parse for what isn't JSON. */
  of(source: Uint8Array): Uint8Array[] {
    const found: [from: number, to: number][] = [];
    scanner.reset(source);
    if (scanner.value() === json.OBJECT) collect(this.#path, found);
    return found.map(([from, to]) => this.#wrap(source.subarray(from, to)));
  }

  #wrap(object: Uint8Array): Uint8Array {
    const [prefix, suffix] = [this.#prefix, this.#suffix];
    const wrapped = new Uint8Array(prefix.length + object.length + suffix.length);
    wrapped.set(prefix);
    wrapped.set(object, prefix.length);
    wrapped.set(suffix, prefix.length + object.length);
    return wrapped;
  }
}

/** Returns the number of objects at `path`. Throws mapping_parse for what isn't JSON. */
export function countNested(source: Uint8Array, path: string): number {
  const found: [number, number][] = [];
  scanner.reset(source);
  if (scanner.value() === json.OBJECT) collect(path, found);
  return found.length;
}

/** Adds the ranges of the objects at `path` below an object that was opened. Names may be dotted. */
function collect(path: string, found: [number, number][]): void {
  for (let first = true; scanner.key(first); first = false) {
    const name = scanner.text();
    if (name === path) take("", found);
    else if (name !== "" && path.startsWith(`${name}.`)) take(path.slice(name.length + 1), found);
    else scanner.skip(scanner.value());
  }
}

/** Adds the objects of the value that follows; `rest`: the path below it, "" for the objects themselves. */
function take(rest: string, found: [number, number][]): void {
  const kind = scanner.value();
  if (kind === json.ARRAY) {
    for (let first = true; scanner.element(first); first = false) take(rest, found);
  } else if (kind === json.OBJECT && rest !== "") {
    collect(rest, found);
  } else if (kind === json.OBJECT) {
    const from = scanner.at - 1;
    scanner.skip(kind);
    found.push([from, scanner.at]);
  }
}
