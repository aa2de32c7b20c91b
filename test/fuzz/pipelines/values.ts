/** Values of events as Logstash has them: whole numbers and floats are different kinds, and so are times. */

/** A point in time, ms since 1970-01-01 UTC. */
export class Time {
  readonly ms: number;

  constructor(ms: number) {
    this.ms = ms;
  }

  toString(): string {
    return new Date(this.ms).toISOString();
  }
}

export type Hash = Map<string, Value>;
/** A bigint is an Integer, a number a Float. */
export type Value = null | boolean | string | bigint | number | Time | Value[] | Hash;

/** What neither the documentation nor the sources of Logstash define, or a fault there: the event isn't compared. */
export class Unspecified extends Error {}

/** Values of an event that a condition can't handle. */
export class Refused extends Error {}

export function isHash(value: unknown): value is Hash {
  return value instanceof Map;
}

export function copyOf(value: Value): Value {
  if (Array.isArray(value)) return value.map(copyOf);
  return isHash(value) ? new Map([...value].map(([key, each]) => [key, copyOf(each)])) : value;
}

/** Returns a value as `to_s` writes it. */
export function textOf(value: Value | undefined): string {
  if (value === undefined || value === null) return "";
  if (typeof value === "number") return floatText(value);
  if (Array.isArray(value) || isHash(value))
    throw new Unspecified("to_s of a list or hash is Ruby's notation");
  return String(value);
}

/** Ruby and Java agree on these; they write the others with exponents of their own. */
function floatText(value: number): string {
  const size = Math.abs(value);
  if (value !== 0 && (size < 0.001 || size >= 1e7)) throw new Unspecified("exponents of floats");
  if (Object.is(value, -0)) return "-0.0";
  return Number.isInteger(value) ? `${value}.0` : String(value);
}

/** Returns the JSON of a value, floats with a point. */
export function jsonOf(value: Value): string {
  if (value === null) return "null";
  if (typeof value === "bigint" || typeof value === "boolean") return String(value);
  if (typeof value === "number")
    return Number.isInteger(value) && Math.abs(value) < 1e21 ? `${value}.0` : String(value);
  if (Array.isArray(value)) return `[${value.map(jsonOf).join(",")}]`;
  if (isHash(value))
    return `{${[...value].map(([key, each]) => `${JSON.stringify(key)}:${jsonOf(each)}`).join(",")}}`;
  return JSON.stringify(String(value));
}

/** Returns the value that JSON holds. Throws SyntaxError. */
export function parsedJson(text: string): Value {
  const parse = JSON.parse as (
    text: string,
    reviver: (key: string, value: unknown, context: { source?: string }) => unknown,
  ) => unknown;
  return fromPlain(
    parse(text, (_, value, { source }) =>
      typeof value === "number" && /^-?[0-9]+$/.test(source!) ? BigInt(source!) : value,
    ),
  );
}

function fromPlain(value: unknown): Value {
  if (Array.isArray(value)) return value.map(fromPlain);
  if (value === null || typeof value !== "object") return value as Value;
  return new Map(Object.entries(value).map(([key, each]) => [key, fromPlain(each)]));
}

/** JSON with the members of hashes in one order, to compare values. */
export function comparable(value: Value): string {
  if (Array.isArray(value)) return `[${value.map(comparable).join(",")}]`;
  if (!isHash(value)) return jsonOf(value);
  const members = [...value].sort(([one], [other]) => (one < other ? -1 : 1));
  return `{${members.map(([key, each]) => `${JSON.stringify(key)}:${comparable(each)}`).join(",")}}`;
}
