/**
 * The shape of a document that is still an object: what jsonShape says of its JSON, found without reading that. The two
 * give different numbers, and so do two threads.
 */

import { randomInt } from "node:crypto";
import { isRawJson, type JsonObject } from "./json.ts";

/** Names that are remembered; beyond, they get new numbers, and shapes that were known are new ones. */
const MAX_NAMES = 16_384;

/** What stands for the kinds of values and the ends of objects and lists; names have larger numbers. */
const SCALAR = 1;
const NULL = 2;
const OBJECT = 3;
const OBJECT_END = 4;
const LIST = 5;
const LIST_END = 6;
const FIRST_NAME = 16;

/** Odd factors: each maps numbers one to one. */
const SPREAD = 0x9e37_79b1;
const FACTOR_A = 0x0100_0193;
const FACTOR_B = 0x85eb_ca6b;

/** Random: nobody can make two shapes meet. */
const SEED_A = randomInt(2 ** 31);
const SEED_B = randomInt(2 ** 31);

/** Each name's number; none is given twice, so that two names never look the same. */
const NAMES = new Map<string, number>();
let nextName = FIRST_NAME;

let a = 0;
let b = 0;

/**
 * Returns the shape of what JSON.stringify makes of `fields`, 0 to 2^53: equal for equal names in equal order with
 * values of the same kinds (object, array, null, other); a list of plain values has one shape however many there are.
 */
export function valueShape(fields: JsonObject): number {
  a = SEED_A;
  b = SEED_B;
  members(fields);
  return (a >>> 0) * 2 ** 21 + ((b ^ (b >>> 13)) >>> 11);
}

function members(object: object): void {
  for (const name in object) {
    const value = (object as JsonObject)[name];
    // JSON leaves them out.
    if (value === undefined || typeof value === "function") continue;
    note(numberOf(name));
    const kind = kindOf(value);
    if (kind === LIST) items(value as readonly unknown[]);
    else if (kind !== OBJECT) note(kind);
    else {
      note(OBJECT);
      members(value as object);
      note(OBJECT_END);
    }
  }
}

function items(list: readonly unknown[]): void {
  note(LIST);
  let last = LIST;
  for (const item of list) {
    const kind = kindOf(item);
    if (kind === LIST) items(item as readonly unknown[]);
    else if (kind === OBJECT) {
      note(OBJECT);
      members(item as object);
      note(OBJECT_END);
    } else if (kind !== SCALAR || last !== SCALAR) note(kind);
    last = kind;
  }
  note(LIST_END);
}

function kindOf(value: unknown): number {
  if (typeof value === "string" || typeof value === "boolean") return SCALAR;
  if (typeof value === "number") return Number.isFinite(value) ? SCALAR : NULL;
  if (value === null || typeof value !== "object") return NULL;
  if (Array.isArray(value)) return LIST;
  // Nearly all are plain ones; to ask for more takes long.
  if (Object.getPrototypeOf(value) === Object.prototype) return OBJECT;
  return isRawJson(value) || "toJSON" in value ? SCALAR : OBJECT;
}

function note(event: number): void {
  const spread = Math.imul(event, SPREAD);
  a = Math.imul(a ^ spread, FACTOR_A) ^ (a >>> 17);
  b = Math.imul(b ^ (b >>> 15) ^ spread, FACTOR_B);
}

function numberOf(name: string): number {
  const known = NAMES.get(name);
  if (known !== undefined) return known;
  if (NAMES.size >= MAX_NAMES) NAMES.clear();
  NAMES.set(name, nextName);
  return nextName++;
}
