/** Turns an exact value into a query for a field of a mapping. */

import { parseIp, parseIpBlock } from "#hub/engine/bytes/ip.ts";
import { completionTerm } from "#hub/engine/documents/completions.ts";
import type { Field } from "#hub/engine/mapping/field.ts";
import { nanosMath, parseDateMath } from "#hub/search/dates/date-math.ts";
import { TermListNode, TermsNode } from "#hub/search/execute/nodes/any-term.ts";
import { AllNode, IdsNode, NoneNode } from "#hub/search/execute/nodes/documents.ts";
import { BooleanValueNode, NumericRangeNode } from "#hub/search/execute/nodes/numeric-range.ts";
import { TermNode } from "#hub/search/execute/nodes/term.ts";
import { scalarText } from "#hub/search/options/json.ts";
import { answersAs } from "#hub/search/options/request-version.ts";
import { LONG_MAX, LONG_MIN } from "#hub/search/options/whole-numbers.ts";
import type { Query, ShardContext } from "#hub/search/query/query.ts";
import { UTC } from "#proto/kit/dates/time-zone.ts";
import { AppError } from "#proto/kit/errors.ts";
import { matchesWildcard } from "#proto/kit/wildcard.ts";

/** Returns a text in the form of a field's terms in the index: normalised for a keyword field. */
export function normalizedFor(shard: ShardContext, field: Field, text: string): string {
  if (field.type !== "keyword" || field.normalizer === undefined) return text;
  return shard.mapping.analysis.normalize(field.normalizer, text);
}

/**
 * Returns the field a query's name means, aliases followed; undefined if the mapping has none. Throws query_shard for a runtime
 * field where the cluster refuses expensive queries.
 */
export function fieldOf(shard: ShardContext, name: string): Field | undefined {
  const field = shard.mapping.resolve(name);
  if (field !== undefined) shard.checkComputed(field.path);
  return field;
}

/** Throws if a field can't be searched. */
export function checkSearchable(field: Field, shard: ShardContext): void {
  if (field.index) return;
  throw new AppError("query_shard", `Cannot search on field [${field.path}] since it is not indexed.`, {
    data: { index: shard.index, index_uuid: shard.indexUuid },
  });
}

/** Returns the documents whose `name` is exactly `value`; text fields are compared by term. */
export function exactQuery(shard: ShardContext, name: string, value: unknown): Query {
  const meta = metaQuery(shard, name, [value]);
  if (meta !== undefined) return meta;
  const field = fieldOf(shard, name);
  if (field === undefined) return new NoneNode();
  checkSearchable(field, shard);
  if (field.type === "text") return new TermNode(field.path, scalarText(value, name));
  if (field.type === "keyword") return new TermNode(field.path, keywordTerm(shard, field, value));
  if (field.type === "completion")
    return new TermNode(field.path, completionTerm(scalarText(value, name), field.ignoreAbove));
  return valueQuery(shard, field, value);
}

/** Returns the documents whose `name` is one of `values`; each scores 1. */
export function exactListQuery(shard: ShardContext, name: string, values: readonly unknown[]): Query[] {
  const meta = metaQuery(shard, name, values);
  if (meta !== undefined) return [meta];
  const field = fieldOf(shard, name);
  if (field === undefined) return [];
  checkSearchable(field, shard);
  if (field.type === "text")
    return [
      new TermListNode(
        field.path,
        values.map((value) => scalarText(value, name)),
      ),
    ];
  if (field.type === "keyword") {
    return [
      new TermListNode(
        field.path,
        values.map((value) => keywordTerm(shard, field, value)),
      ),
    ];
  }
  return values.map((value) => exactQuery(shard, name, value));
}

/** Fields that every document has and no mapping names. */
function metaQuery(shard: ShardContext, name: string, values: readonly unknown[]): Query | undefined {
  const texts = (): string[] => values.map((value) => scalarText(value, name));
  switch (name) {
    case "_id":
      return new IdsNode(texts());
    case "_index":
      return texts().some((text) => isIndex(shard, text)) ? new AllNode() : new NoneNode();
    case "_type":
      return texts().includes(shard.typeName) ? new AllNode() : new NoneNode();
    case "_routing":
    case "_ignored":
    case "_field_names":
      return new TermListNode(name, texts());
    default:
      return undefined;
  }
}

/** From 7.2 on an index is also known by its aliases and its data stream. */
function isIndex({ index, otherNames }: ShardContext, pattern: string): boolean {
  const names = answersAs(700) ? [index, ...otherNames] : [index];
  return names.some((name) => matchesWildcard(pattern, name));
}

function keywordTerm(shard: ShardContext, field: Field, value: unknown): string {
  const text = scalarText(value, field.path);
  return field.normalizer === undefined ? text : shard.mapping.analysis.normalize(field.normalizer, text);
}

/** Numbers, dates, booleans and addresses. */
function valueQuery(shard: ShardContext, field: Field, value: unknown): Query {
  switch (field.type) {
    case "date": {
      const bounds = { format: field.format, nowMs: shard.nowMs, zone: UTC };
      const text = scalarText(value, field.path);
      const from = parseDateMath(text, { ...bounds, roundUp: false });
      return new NumericRangeNode(field.path, {
        from,
        to: parseDateMath(text, { ...bounds, roundUp: true }),
      });
    }
    case "date_nanos": {
      const bounds = { format: field.format, nowMs: shard.nowMs, zone: UTC };
      const text = scalarText(value, field.path);
      const exactFrom = nanosMath(text, { ...bounds, roundUp: false });
      const exactTo = nanosMath(text, { ...bounds, roundUp: true });
      const [from, to] = [Number(exactFrom), Number(exactTo)];
      return new NumericRangeNode(field.path, { from, to, exactFrom, exactTo });
    }
    case "boolean":
      return new BooleanValueNode(field.path, readBoolean(field, value));
    case "ip":
      return addressQuery(field, scalarText(value, field.path));
    case "geo_point":
      throw new AppError(
        "query_shard",
        `Geo fields do not support exact searching, use dedicated geo queries instead: [${field.path}]`,
      );
    case "binary":
      throw new AppError("query_shard", "Binary fields do not support searching");
    default: {
      const point = readNumber(field, value);
      return point === null ? new NoneNode() : new NumericRangeNode(field.path, point);
    }
  }
}

/** Returns 0 or 1. Throws request_invalid. */
export function readBoolean(field: Pick<Field, "path">, value: unknown): 0 | 1 {
  const text = scalarText(value, field.path);
  if (text === "true" || text === "T") return 1;
  if (text === "false" || text === "F" || text === "") return 0;
  throw new AppError("request_invalid", `Can't parse boolean value [${text}], expected [true] or [false]`);
}

/** Returns a number as both bounds of a range; null if a whole-number field can't hold it. Throws request_invalid. */
function readNumber(
  field: Field,
  value: unknown,
): { from: number; to: number; exactFrom?: bigint; exactTo?: bigint } | null {
  const exact = wholeNumber(value);
  if (exact !== null) {
    if (isWholeType(field) && (exact < LONG_MIN || exact > LONG_MAX) && field.type !== "unsigned_long")
      return null;
    return { ...single(storedNumber(field, Number(exact))), exactFrom: exact, exactTo: exact };
  }
  const number = parseNumber(field, value);
  if (isWholeType(field) && !Number.isInteger(number)) return null;
  return single(storedNumber(field, number));
}

function single(value: number): { from: number; to: number } {
  return { from: value, to: value };
}

/** Returns what the field stores for a number: floats are rounded, scaled ones are multiples of 1 / factor. */
export function storedNumber(field: Field, value: number): number {
  if (field.type === "float") return Math.fround(value);
  if (field.type === "half_float") return Math.f16round(value);
  if (field.type === "scaled_float") return Math.round(value * field.scalingFactor) / field.scalingFactor;
  return value;
}

export function isWholeType(field: Pick<Field, "type">): boolean {
  return ["long", "integer", "short", "byte", "unsigned_long", "token_count"].includes(field.type);
}

/** Returns a value as a whole number, null if it isn't written as one. */
export function wholeNumber(value: unknown): bigint | null {
  if (typeof value === "bigint") return value;
  if (typeof value === "number" && Number.isInteger(value)) return BigInt(value);
  return typeof value === "string" && /^[+-]?\d{1,40}$/.test(value.trim())
    ? BigInt(value.trim().replace(/^\+/, ""))
    : null;
}

/** Throws request_invalid for what isn't a number. */
export function parseNumber(field: Field, value: unknown): number {
  const text = scalarText(value, field.path).trim();
  const number = typeof value === "boolean" || text === "" ? Number.NaN : Number(text);
  if (!Number.isNaN(number)) return number;
  throw new AppError("query_shard", `failed to create query: For input string: "${text}"`, {
    data: { field: field.path, type: "number_format_exception" },
  });
}

function addressQuery(field: Field, text: string): Query {
  const address = parseIp(text);
  if (address !== null) return new TermListNode(field.path, [address]);
  const block = parseIpBlock(text);
  if (block === null)
    throw new AppError("query_shard", `'${text}' is not an IP string literal.`, {
      data: { field: field.path },
    });
  const [from, to] = block;
  return new TermsNode(field.path, {
    terms: (segment, path) => segment.terms(path)?.range(from, to, { toInclusive: true }) ?? null,
  });
}
