/** Types of Avro whose values events hold in another form: bytes, and the logical types for decimals and points in time. */

import { isUtf8 } from "node:buffer";
import { isRawJson } from "#proto/codec/json.ts";
import { Timestamp, valueText } from "#proto/event.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import type { AvroReader, AvroWriter } from "./avro-bytes.ts";

/** Values of a type. */
export interface AvroType {
  /** Returns the next value. Throws RangeError where the bytes don't hold one. */
  read(reader: AvroReader): unknown;
  /** True where `write` takes the value. */
  takes(value: unknown): boolean;
  /** Throws where the type doesn't take the value. */
  write(writer: AvroWriter, value: unknown): void;
}

/** Returns a number that is kept as it was written as a number, an integer beyond 2^53 as a text; other values as they are. */
export function plainNumber(value: unknown): unknown {
  if (!isRawJson(value)) return value;
  return value.rawJSON.includes(".") ? Number(value.rawJSON) : value.rawJSON;
}

function isInteger(value: unknown): boolean {
  const plain = plainNumber(value);
  if (typeof plain === "number") return Number.isSafeInteger(plain);
  return typeof plain === "string" && /^-?\d{16,19}$/.test(plain);
}

/** Integers of at most 64 bits: text where a number doesn't hold them. */
export function integerType(): AvroType {
  return {
    read: (reader) => reader.long(),
    takes: isInteger,
    write: (writer, value) => writer.long(plainNumber(value) as number),
  };
}

const isText = (value: unknown): boolean => typeof value === "string" || value instanceof Timestamp;

export function stringType(): AvroType {
  return {
    read: (reader) => reader.bytes().toString(),
    takes: isText,
    write: (writer, value) => writer.bytesOf(Buffer.from(valueText(value))),
  };
}

/** Bytes are read as text where they are UTF-8, else as their base64; a text is written as its UTF-8. */
export function bytesType(): AvroType {
  return {
    ...stringType(),
    read(reader) {
      const bytes = reader.bytes();
      return bytes.toString(isUtf8(bytes) ? "utf8" : "base64");
    },
  };
}

/** Longest decimal: those of databases have 38 digits, some 76. */
const MAX_PRECISION = 1_000;

/**
 * Returns the type of decimals with a fixed scale, which events have as decimal text; undefined: the schema's precision or
 * scale can't be. `size`: number of bytes; undefined: each value has its own.
 */
export function decimalType({ precision, scale = 0 }: JsonObject, size?: number): AvroType | undefined {
  if (!isCount(precision, MAX_PRECISION) || precision === 0 || !isCount(scale, precision)) return undefined;
  const largest = 10n ** BigInt(precision);
  /** Returns a value as the integer that is written; undefined: it isn't of the type. */
  const unscaled = (given: unknown): bigint | undefined => {
    const value = plainNumber(given);
    if (typeof value !== "number" && typeof value !== "string") return undefined;
    const [, sign, whole, fraction = ""] =
      /^([+-]?)(\d{1,1000})(?:\.(\d{1,1000}))?$/.exec(String(value)) ?? [];
    if (whole === undefined || fraction.length > scale) return undefined;
    const number = BigInt(whole + fraction.padEnd(scale, "0"));
    const fits = size === undefined || BigInt.asIntN(8 * size, number) === number;
    return number < largest && fits ? (sign === "-" ? -number : number) : undefined;
  };
  return {
    read: (reader) => decimalText(size === undefined ? reader.bytes() : reader.take(size), scale),
    takes: (value) => unscaled(value) !== undefined,
    write(writer, value) {
      const bytes = twosComplement(unscaled(value)!, size);
      if (size === undefined) writer.bytesOf(bytes);
      else writer.raw(bytes);
    },
  };
}

function isCount(value: unknown, most: number): value is number {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) <= most;
}

function decimalText(bytes: Buffer, scale: number): string {
  if (bytes.length > MAX_PRECISION) throw new RangeError("a decimal is too long");
  const number = BigInt.asIntN(8 * bytes.length, BigInt(`0x0${bytes.toString("hex")}`));
  const digits = (number < 0n ? -number : number).toString().padStart(scale + 1, "0");
  const whole = digits.slice(0, digits.length - scale);
  return `${number < 0n ? "-" : ""}${whole}${scale === 0 ? "" : `.${digits.slice(-scale)}`}`;
}

/** Returns the number in big endian; without a size in as many bytes as it takes. */
function twosComplement(number: bigint, size?: number): Buffer {
  let count = size ?? 1;
  while (BigInt.asIntN(8 * count, number) !== number) count++;
  const hex = BigInt.asUintN(8 * count, number).toString(16);
  return Buffer.from(hex.padStart(2 * count, "0"), "hex");
}

const DAY_MS = 86_400_000n;

/** How many of a unit a millisecond has. */
const PER_MS: ReadonlyMap<string, bigint> = new Map([
  ["timestamp-millis", 1n],
  ["timestamp-micros", 1_000n],
  ["timestamp-nanos", 1_000_000n],
]);

/**
 * Returns the type of points in time, which events have in ISO 8601, with ms; undefined: `name` is none's. Numbers are
 * written as they are.
 */
export function timeType(type: AvroType, name: string): AvroType | undefined {
  const perMs = PER_MS.get(name);
  if (perMs === undefined && name !== "date") return undefined;
  const toMs = (count: bigint): bigint => (perMs === undefined ? count * DAY_MS : floorDivide(count, perMs));
  const fromMs = (ms: bigint): bigint => (perMs === undefined ? floorDivide(ms, DAY_MS) : ms * perMs);
  const countOf = (value: unknown): bigint | undefined => {
    if (isInteger(value)) return BigInt(plainNumber(value) as number | string);
    const ms = Date.parse(valueText(value));
    return Number.isNaN(ms) ? undefined : fromMs(BigInt(ms));
  };
  return {
    read(reader) {
      const iso = new Timestamp(Number(toMs(BigInt(type.read(reader) as number | string)))).toString();
      return perMs === undefined ? iso.slice(0, 10) : iso;
    },
    takes: (value) => value !== null && value !== undefined && countOf(value) !== undefined,
    write: (writer, value) => type.write(writer, countOf(value)),
  };
}

function floorDivide(dividend: bigint, divisor: bigint): bigint {
  const quotient = dividend / divisor;
  return dividend % divisor < 0n ? quotient - 1n : quotient;
}
