/** The options `include` and `exclude` of `terms`. */

import { scalarText } from "#hub/search/options/json.ts";
import { compileRegexp } from "#hub/search/patterns/automaton.ts";
import { murmur32 } from "#proto/codec/murmur3-32.ts";
import { AppError } from "#proto/kit/errors.ts";
import { isObject } from "#proto/kit/json.ts";

/** Seed of MurmurHash3, so that partitions of texts and addresses are those of the 6.5 server. */
const SEED = 31;

/** Returns whether a term gets a bucket. */
export type TermFilter = (text: string) => boolean;

/** How values of the options are read for a field. */
export interface TermReading {
  /** A value as the text of a key. */
  key(value: string): string;
  /** The bytes of a key as the index has them. */
  readonly bytes: (key: string) => Uint8Array;
  /** Whether regular expressions make sense for the field. */
  readonly isText: boolean;
  readonly isNumber: boolean;
}

/** Returns the filter of the two options, undefined for none; `owner`: the aggregation's type, for messages. Throws parsing, request_invalid. */
export function termFilter(
  include: unknown,
  exclude: unknown,
  reading: TermReading,
  owner: string,
): TermFilter | undefined {
  const partition = isObject(include)
    ? readPartition(include["partition"], include["num_partitions"], reading, owner)
    : undefined;
  const wanted = partition ?? readSide(include, "include", reading, owner);
  const unwanted = readSide(exclude, "exclude", reading, owner);
  if (wanted === undefined && unwanted === undefined) return undefined;
  return (text) => (wanted?.(text) ?? true) && !(unwanted?.(text) ?? false);
}

function readSide(side: unknown, name: string, reading: TermReading, owner: string): TermFilter | undefined {
  if (side === undefined || side === null) return undefined;
  if (Array.isArray(side)) {
    const texts = new Set(side.map((each) => reading.key(scalarText(each, name))));
    return (text) => texts.has(text);
  }
  if (typeof side !== "string") {
    throw new AppError("parsing", `[${owner}] [${name}] must be a regular expression or a list of values`);
  }
  if (!reading.isText) {
    throw new AppError(
      "aggregation_failed",
      `Aggregation [${owner}] cannot support regular expression style include/exclude settings as they can only be applied to string fields. Use an array of values for include/exclude clauses`,
    );
  }
  const compiled = compileRegexp(side);
  return (text) => compiled.matches(text);
}

function readPartition(
  partition: unknown,
  count: unknown,
  { isNumber, bytes }: TermReading,
  owner: string,
): TermFilter {
  const [part, parts] = [Number(partition), Number(count)];
  if (!Number.isInteger(part) || !Number.isInteger(parts) || parts < 1 || part < 0 || part >= parts) {
    throw new AppError("parsing", `[${owner}] [include] needs [partition] below [num_partitions]`);
  }
  if (!isNumber) {
    return (text) => ((murmur32(bytes(text), SEED) % parts) + parts) % parts === part;
  }
  const modulus = BigInt(parts);
  return (text) => ((mixLong(longBits(Number(text))) % modulus) + modulus) % modulus === BigInt(part);
}

/** A whole number as it is, others as the bits of the double. */
function longBits(value: number): bigint {
  if (Number.isInteger(value)) return BigInt.asUintN(64, BigInt(value));
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, value);
  return view.getBigUint64(0);
}

/** Stafford's variant 9 of the finalizer of MurmurHash3, so that partitions are those that ES makes; signed. */
function mixLong(bits: bigint): bigint {
  let z = BigInt.asUintN(64, (bits ^ (bits >> 32n)) * 0x4cd6944c5cc20b6dn);
  z = BigInt.asUintN(64, (z ^ (z >> 29n)) * 0xfc12c5b19d3259e9n);
  z ^= z >> 32n;
  return BigInt.asIntN(64, z);
}
