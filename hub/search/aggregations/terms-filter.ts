/** The options `include` and `exclude` of `terms`. */

import { AppError } from "#proto/kit/errors.ts";
import { isObject } from "../json.ts";
import { compileRegexp } from "../regexp/automaton.ts";

/** Says whether a term gets a bucket. */
export type TermFilter = (text: string) => boolean;

/** Returns the filter of the two options, undefined for none. Throws parsing. */
export function termFilter(include: unknown, exclude: unknown): TermFilter | undefined {
  const partition = isObject(include)
    ? readPartition(include["partition"], include["num_partitions"])
    : undefined;
  const wanted = partition ?? readSide(include, "include");
  const unwanted = readSide(exclude, "exclude");
  if (wanted === undefined && unwanted === undefined) return undefined;
  return (text) => (wanted?.(text) ?? true) && !(unwanted?.(text) ?? false);
}

function readSide(side: unknown, name: string): TermFilter | undefined {
  if (side === undefined || side === null) return undefined;
  if (Array.isArray(side)) {
    const texts = new Set(side.map((each) => numberText(String(each))));
    return (text) => texts.has(numberText(text));
  }
  if (typeof side === "string") {
    const compiled = compileRegexp(side);
    return (text) => compiled.matches(text);
  }
  throw new AppError("parsing", `[terms] [${name}] must be a regular expression or a list of values`);
}

/** Numbers compare by value: 1 and 1.0 are one key. */
function numberText(text: string): string {
  const value = Number(text);
  return text.trim() === "" || Number.isNaN(value) || !Number.isSafeInteger(Math.trunc(value))
    ? text
    : String(value);
}

function readPartition(partition: unknown, count: unknown): TermFilter {
  const [part, parts] = [Number(partition), Number(count)];
  if (!Number.isInteger(part) || !Number.isInteger(parts) || parts < 1 || part < 0 || part >= parts) {
    throw new AppError("parsing", "[terms] [include] needs [partition] below [num_partitions]");
  }
  return (text) => hash(text) % parts === part;
}

/** FNV-1a, so that each term is in one partition whatever shard it comes from. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (const byte of Buffer.from(text)) value = Math.imul(value ^ byte, 0x01000193);
  return value >>> 0;
}
