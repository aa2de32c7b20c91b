/** What the fields of a document mean, read from its JSON. */

export type Json = Record<string, unknown>;

/** A document, or an object of its field `o`, which nested queries and aggregations see as a document of its own. */
export interface Item {
  readonly id: string;
  readonly root: Json;
  readonly object?: Json;
}

export type Kind = "number" | "date" | "keyword" | "boolean" | "ip";
export type Value = string | number;

/** Kinds of the fields of documents. */
export const KINDS: Readonly<Record<string, Kind>> = {
  u: "number",
  at: "date",
  k: "keyword",
  kk: "keyword",
  ks: "keyword",
  n: "number",
  m: "number",
  d: "number",
  f: "number",
  h: "number",
  c: "number",
  z: "number",
  ka: "keyword",
  na: "number",
  b: "boolean",
  ip: "ip",
  "p.k": "keyword",
  "p.n": "number",
  "o.k": "keyword",
  "o.n": "number",
  "o.at": "date",
};

/** Numbers with a fraction. */
export const FRACTIONS: ReadonlySet<string> = new Set(["d", "f", "h", "c"]);

/** Other names of fields. */
const ALIASES: Readonly<Record<string, string>> = { ka: "ks", na: "n" };

/** What null means in a field. */
const NULL_VALUES: Readonly<Record<string, number>> = { z: -7 };

const NESTED = "o.";

/** Returns the values of a field: times in ms, booleans as 0 and 1, texts of keywords each once, as columns hold them. */
export function valuesOf(item: Item, field: string): Value[] {
  const kind = KINDS[field]!;
  const read = rawValues(item, field).map((value) => readValue(value, kind));
  return kind === "keyword" || kind === "ip" ? [...new Set(read)] : read;
}

/** Returns the numbers of a field that isn't text. */
export function numbersOf(item: Item, field: string): number[] {
  return valuesOf(item, field) as number[];
}

/** Returns the texts of a field of text. */
export function textsOf(item: Item, field: string): string[] {
  return rawValues(item, field) as string[];
}

/** Returns the tokens of each text, as the standard analyzer makes them of such texts. */
export function tokensOf(item: Item, field: string): string[][] {
  return textsOf(item, field).map(tokens);
}

export function tokens(text: string): string[] {
  return text.toLowerCase().match(/[a-z0-9]+/g) ?? [];
}

/** Returns the objects of the nested field. */
export function objectsOf(item: Item): Item[] {
  return flat(item.root["o"]).map((object) => ({ id: item.id, root: item.root, object: object as Json }));
}

/** Compares two values of a field as sorts and ranges do. */
export function comparison(field: string): (a: Value, b: Value) => number {
  if (KINDS[field] === "ip") return (a, b) => addressNumber(String(a)) - addressNumber(String(b));
  return (a, b) => (a < b ? -1 : a > b ? 1 : 0);
}

/** Returns the value as a query or a bucket writes it. */
export function written(field: string, value: Value): unknown {
  return KINDS[field] === "boolean" ? value === 1 : value;
}

function rawValues(item: Item, field: string): unknown[] {
  const isNested = field.startsWith(NESTED);
  // Nested objects are documents of their own: the root has none of their fields, and they have none of the root's.
  if (isNested !== (item.object !== undefined)) return [];
  const path = (isNested ? field.slice(NESTED.length) : (ALIASES[field] ?? field)).split(".");
  const nothing = NULL_VALUES[field];
  let found: unknown[] = [isNested ? item.object : item.root];
  for (const step of path) found = found.flatMap((each) => flat((each as Json)[step], nothing));
  return found;
}

/** `nothing`: what null means; undefined: no value. */
function flat(value: unknown, nothing?: number): unknown[] {
  if (value === null && nothing !== undefined) return [nothing];
  if (value === undefined || value === null) return [];
  return Array.isArray(value) ? value.flatMap((each) => flat(each, nothing)) : [value];
}

function readValue(value: unknown, kind: Kind): Value {
  if (kind === "boolean") return value === true ? 1 : 0;
  if (kind === "date") return typeof value === "number" ? value : Date.parse(value as string);
  return value as Value;
}

function addressNumber(address: string): number {
  return address.split(".").reduce((number, part) => number * 256 + Number(part), 0);
}
