/** Values of `flattened` fields: objects of any keys, whose leaves are indexed as keywords. */

import * as json from "#hub/engine/json/scanner.ts";
import { type Field, KEY_END } from "#hub/engine/mapping/field.ts";
import { ValueError } from "./values.ts";

/** Objects below each other where the mapping names no depth_limit. */
const DEPTH_LIMIT = 20;

/**
 * Reads the object that `scanner` has begun, to its end, and gives its leaves to `take`: the dotted key below the field, and
 * the value as text. Throws ValueError, once all is read.
 */
export function readFlattened(
  scanner: json.JsonScanner,
  field: Field,
  take: (key: string, value: string) => void,
): void {
  const reader = new FlattenedReader(scanner, field, take);
  reader.object("", 1);
  if (reader.problem !== undefined) throw reader.problem;
}

class FlattenedReader {
  /** The first fault; nothing after it is taken. */
  problem: ValueError | undefined;
  readonly #scanner: json.JsonScanner;
  readonly #field: Field;
  readonly #take: (key: string, value: string) => void;
  readonly #depthLimit: number;

  constructor(scanner: json.JsonScanner, field: Field, take: (key: string, value: string) => void) {
    this.#scanner = scanner;
    this.#field = field;
    this.#take = take;
    this.#depthLimit = Number(field.given["depth_limit"] ?? DEPTH_LIMIT);
  }

  object(path: string, depth: number): void {
    const scanner = this.#scanner;
    for (let first = true; scanner.key(first); first = false) {
      const name = scanner.text();
      if (name.includes(KEY_END))
        this.problem ??= new ValueError("Do not include the character \\0 in keys of a flattened field");
      this.#value(path === "" ? name : `${path}.${name}`, scanner.value(), depth);
    }
  }

  #value(key: string, kind: number, depth: number): void {
    const scanner = this.#scanner;
    if (kind === json.ARRAY) {
      for (let first = true; scanner.element(first); first = false) this.#value(key, scanner.value(), depth);
    } else if (kind === json.OBJECT && depth < this.#depthLimit) {
      this.object(key, depth + 1);
    } else if (kind === json.OBJECT) {
      scanner.skip(kind);
      this.problem ??= new ValueError(
        `The provided [flattened] field [${this.#field.path}] exceeds the maximum depth limit of [${this.#depthLimit}]`,
      );
    } else {
      const value = this.#textOf(kind);
      if (value !== undefined && value.length <= this.#field.ignoreAbove) this.#give(key, value);
    }
  }

  #give(key: string, value: string): void {
    if (this.problem !== undefined) return;
    try {
      this.#take(key, value);
    } catch (error) {
      if (!(error instanceof ValueError)) throw error;
      this.problem = error;
    }
  }

  #textOf(kind: number): string | undefined {
    if (kind === json.TRUE) return "true";
    if (kind === json.FALSE) return "false";
    if (kind !== json.NULL) return this.#scanner.text();
    const { nullValue } = this.#field;
    return nullValue === undefined ? undefined : String(nullValue);
  }
}

/** The fault of a value that is too long as a term. */
export function immense(field: Field, key: string, value: string): ValueError {
  return new ValueError(
    `Flattened field [${field.path}] contains one immense field whose keyed encoding is longer than the allowed max length of 32766 bytes. Key length: ${key.length}, value length: ${value.length} for key starting with [${key.slice(0, 50)}]`,
  );
}

/** The fault of a value that isn't an object. */
export function notAnObject(kind: number): ValueError {
  const name = kind === json.STRING ? "STRING" : kind === json.NUMBER ? "NUMBER" : "BOOLEAN";
  return new ValueError(
    `Failed to parse object: expecting token of type [START_OBJECT] but found [VALUE_${name}]`,
    "parsing_exception",
  );
}
