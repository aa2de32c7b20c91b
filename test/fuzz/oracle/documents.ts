/** What the fields of a document mean, read from its JSON. */

export type Json = Record<string, unknown>;

/**
 * A document, an object of its nested field `o`, or an object of the nested field `q` of that: nested queries and aggregations see
 * each as a document of its own.
 */
export interface Item {
  readonly id: string;
  readonly root: Json;
  /** The object, or the one that has the part. */
  readonly object?: Json;
  readonly part?: Json;
}

/** Which documents a query or an aggregation sees. */
export type Level = "root" | "object" | "part";

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
  "o.q.k": "keyword",
  "o.q.n": "number",
};

/** Numbers with a fraction. */
export const FRACTIONS: ReadonlySet<string> = new Set(["d", "f", "h", "c"]);

/** Other names of fields. */
const ALIASES: Readonly<Record<string, string>> = { ka: "ks", na: "n" };

/** What null means in a field. */
const NULL_VALUES: Readonly<Record<string, number>> = { z: -7 };

/** Paths of nested objects; that of the root is empty. */
export const NESTED_PATHS: Readonly<Record<Level, string>> = { root: "", object: "o", part: "o.q" };

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

/** Returns what an item is, or what is nested in it or has it, at a level. */
export function itemsAt({ id, root, object, part }: Item, level: Level): Item[] {
  if (level === "root") return [{ id, root }];
  const objects = (object === undefined ? flat(root["o"]) : [object]) as Json[];
  if (level === "object") return objects.map((each) => ({ id, root, object: each }));
  if (part !== undefined) return [{ id, root, object: object!, part }];
  return objects.flatMap((each) =>
    flat(each["q"]).map((inner) => ({ id, root, object: each, part: inner as Json })),
  );
}

/** Returns the level of the documents that have a field. */
export function levelOf(field: string): Level {
  if (field.startsWith("o.q.")) return "part";
  return field.startsWith("o.") ? "object" : "root";
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
  const level = levelOf(field);
  const own = item.part !== undefined ? "part" : item.object !== undefined ? "object" : "root";
  // Nested objects are documents of their own: those above have none of their fields, and they have none of those above.
  if (level !== own) return [];
  const above = NESTED_PATHS[level];
  const path = above === "" ? (ALIASES[field] ?? field) : field.slice(above.length + 1);
  const nothing = NULL_VALUES[field];
  let found: unknown[] = [item.part ?? item.object ?? item.root];
  for (const step of path.split(".")) found = found.flatMap((each) => flat((each as Json)[step], nothing));
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
