/**
 * Turns a range into a query for a field of a mapping. Range fields are objects with a lower and an upper bound, each
 * indexed as a separate field.
 */

import { parseIp } from "#hub/engine/bytes/ip.ts";
import type { Field } from "#hub/engine/mapping/field.ts";
import { nanosMath, parseDateMath } from "#hub/search/dates/date-math.ts";
import { TermsNode } from "#hub/search/execute/nodes/any-term.ts";
import { anyOf, BooleanNode } from "#hub/search/execute/nodes/boolean.ts";
import { ExistsNode, NoneNode } from "#hub/search/execute/nodes/documents.ts";
import { type NumericBounds, NumericRangeNode } from "#hub/search/execute/nodes/numeric-range.ts";
import { ConstantNode } from "#hub/search/execute/nodes/wrapped-query.ts";
import { scalarText } from "#hub/search/options/json.ts";
import type { Query, ShardContext } from "#hub/search/query/query.ts";
import type { TimeZone } from "#proto/kit/dates/time-zone.ts";
import { AppError } from "#proto/kit/errors.ts";
import {
  checkSearchable,
  fieldOf,
  isWholeType,
  normalizedFor,
  parseNumber,
  readBoolean,
  storedNumber,
  wholeNumber,
} from "./field-terms.ts";

/** How a document's range relates to that of the query. */
type Relation = "intersects" | "within" | "contains";

/** One side of a range. */
export interface Bound {
  readonly value: unknown;
  readonly inclusive: boolean;
}

export interface RangeBounds {
  /** Undefined: open. */
  readonly from: Bound | undefined;
  readonly to: Bound | undefined;
  /** Formats of dates instead of the field's. */
  readonly format?: string | undefined;
  /** Zone of dates that name none. */
  readonly zone: TimeZone;
}

/** Returns the documents with a value of `name` within the bounds. */
export function rangeQuery(shard: ShardContext, name: string, bounds: RangeBounds): Query {
  const field = fieldOf(shard, name);
  if (field === undefined) return new NoneNode();
  checkSearchable(field, shard);
  if (bounds.from === undefined && bounds.to === undefined) return new ExistsNode(field.path);
  switch (field.type) {
    case "date":
      return new NumericRangeNode(field.path, dateBounds(shard, field, bounds));
    case "date_nanos":
      return new NumericRangeNode(field.path, nanosBounds(shard, field, bounds));
    case "text":
    case "keyword":
      return termRange(field, bounds, (value) => normalizedFor(shard, field, scalarText(value, name)));
    case "ip":
      return termRange(field, bounds, (value) => addressOf(scalarText(value, name)));
    case "boolean":
      return new NumericRangeNode(
        field.path,
        numberBounds(bounds, true, (value) => readBoolean(field, value)),
      );
    case "geo_point":
    case "binary":
    case "completion":
      throw new AppError(
        "query_shard",
        `Field [${name}] of type [${field.type}] does not support range queries`,
      );
    default:
      return new NumericRangeNode(
        field.path,
        numberBounds(bounds, isWholeType(field), (value) => boundOf(field, parseNumber(field, value))),
      );
  }
}

/** Bounds of floats are rounded as their values are; those of scaled ones lie between the multiples. */
function boundOf(field: Field, value: number): number {
  return field.type === "scaled_float" ? value : storedNumber(field, value);
}

function dateBounds(
  shard: ShardContext,
  field: Field,
  { from, to, format, zone }: RangeBounds,
): NumericBounds {
  const options = { format: format ?? field.format, nowMs: shard.nowMs, zone };
  const read = (value: unknown, roundUp: boolean): number =>
    parseDateMath(scalarText(value, field.path), { ...options, roundUp });
  return {
    from:
      from === undefined
        ? Number.NEGATIVE_INFINITY
        : from.inclusive
          ? read(from.value, false)
          : read(from.value, true) + 1,
    to:
      to === undefined
        ? Number.POSITIVE_INFINITY
        : to.inclusive
          ? read(to.value, true)
          : read(to.value, false) - 1,
  };
}

/** Bounds of a time in nanoseconds; a bound without a fraction ends with its millisecond, second, day … */
function nanosBounds(
  shard: ShardContext,
  field: Field,
  { from, to, format, zone }: RangeBounds,
): NumericBounds {
  const options = { format: format ?? field.format, nowMs: shard.nowMs, zone };
  const read = (value: unknown, roundUp: boolean): bigint =>
    nanosMath(scalarText(value, field.path), { ...options, roundUp });
  const exactFrom = from && (from.inclusive ? read(from.value, false) : read(from.value, true) + 1n);
  const exactTo = to && (to.inclusive ? read(to.value, true) : read(to.value, false) - 1n);
  return {
    from: exactFrom === undefined ? Number.NEGATIVE_INFINITY : Number(exactFrom),
    to: exactTo === undefined ? Number.POSITIVE_INFINITY : Number(exactTo),
    ...(exactFrom !== undefined && { exactFrom }),
    ...(exactTo !== undefined && { exactTo }),
  };
}

/** Bounds as inclusive ones; whole-number fields are rounded inwards and compared exactly. */
function numberBounds(bounds: RangeBounds, whole: boolean, read: (value: unknown) => number): NumericBounds {
  const { from, to } = bounds;
  const low = from === undefined ? Number.NEGATIVE_INFINITY : read(from.value);
  const high = to === undefined ? Number.POSITIVE_INFINITY : read(to.value);
  if (!whole) {
    return {
      from: from !== undefined && !from.inclusive ? neighbour(low, 1) : low,
      to: to !== undefined && !to.inclusive ? neighbour(high, -1) : high,
    };
  }
  const exactFrom = from === undefined ? undefined : wholeBound(from, low, 1n, Math.ceil);
  const exactTo = to === undefined ? undefined : wholeBound(to, high, -1n, Math.floor);
  return {
    from: exactFrom === undefined ? low : Number(exactFrom),
    to: exactTo === undefined ? high : Number(exactTo),
    ...(exactFrom === undefined ? {} : { exactFrom }),
    ...(exactTo === undefined ? {} : { exactTo }),
  };
}

function wholeBound(
  bound: Bound,
  value: number,
  step: bigint,
  inwards: (value: number) => number,
): bigint | undefined {
  const exact = wholeNumber(bound.value);
  if (exact !== null) return bound.inclusive ? exact : exact + step;
  if (!Number.isFinite(value)) return undefined;
  const rounded = inwards(value);
  return BigInt(rounded) + (rounded === value && !bound.inclusive ? step : 0n);
}

/** The next double above (1) or below (-1). */
function neighbour(value: number, direction: 1 | -1): number {
  if (!Number.isFinite(value)) return value;
  if (value === 0) return direction * Number.MIN_VALUE;
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, value);
  view.setBigInt64(0, view.getBigInt64(0) + BigInt(direction * Math.sign(value)));
  return view.getFloat64(0);
}

function termRange(
  field: Field,
  { from, to }: RangeBounds,
  read: (value: unknown) => string | Uint8Array,
): Query {
  const low = from === undefined ? undefined : read(from.value);
  const high = to === undefined ? undefined : read(to.value);
  const options = { fromExclusive: from?.inclusive === false, toInclusive: to?.inclusive !== false };
  return new TermsNode(field.path, {
    // Addresses are numbers elsewhere.
    expensive: field.type === "ip" ? undefined : "range",
    terms: (segment, path) => segment.terms(path)?.range(low, high, options) ?? null,
    marks: (text) =>
      (low === undefined || isAbove(text, low, !options.fromExclusive)) &&
      (high === undefined || isAbove(high, text, options.toInclusive)),
  });
}

/** Whether a term comes after another one, `orSame`: or is the same. */
function isAbove(term: string | Uint8Array, other: string | Uint8Array, orSame: boolean): boolean {
  const order = Buffer.compare(Buffer.from(term), Buffer.from(other));
  return order > 0 || (orSame && order === 0);
}

function addressOf(text: string): Uint8Array {
  const address = parseIp(text);
  if (address !== null) return address;
  throw new AppError("query_shard", `'${text}' is not an IP string literal.`);
}

/** Returns the documents with a value within bounds, or with a range that has this `relation` to them. */
export function boundsQuery(
  shard: ShardContext,
  name: string,
  bounds: RangeBounds,
  relation: Relation = "intersects",
): Query {
  return isRangeField(shard, name)
    ? rangeFieldQuery(shard, name, bounds, relation)
    : rangeQuery(shard, name, bounds);
}

/** Returns true if `name` is a field of ranges. */
export function isRangeField({ mapping }: ShardContext, name: string): boolean {
  return mapping.objectKind(name)?.type.endsWith("_range") === true;
}

/** Returns the documents whose range has this `relation` to the bounds; each scores 1. */
function rangeFieldQuery(shard: ShardContext, name: string, bounds: RangeBounds, relation: Relation): Query {
  const { from, to } = bounds;
  const side = (field: string, below: Bound | undefined, above: Bound | undefined): Query =>
    rangeQuery(shard, `${name}.${field}`, { ...bounds, from: below, to: above });
  const at = ({ value }: Bound, inclusive: boolean): Bound => ({ value, inclusive });
  /** Ranges that begin after a bound, or at it if that is meant as well. */
  const beginsBehind = (bound: Bound, orAt: boolean): Query =>
    anyOf([side("gte", at(bound, orAt), undefined), side("gt", at(bound, true), undefined)]);
  const endsBefore = (bound: Bound, orAt: boolean): Query =>
    anyOf([side("lte", undefined, at(bound, orAt)), side("lt", undefined, at(bound, true))]);
  const present = new ExistsNode(name);
  const find = (must: Query[], mustNot: Query[]): Query =>
    new ConstantNode(new BooleanNode({ must: [present, ...must], mustNot }));
  switch (relation) {
    case "intersects":
      return find(
        [],
        [
          ...(to === undefined ? [] : [beginsBehind(to, !to.inclusive)]),
          ...(from === undefined ? [] : [endsBefore(from, !from.inclusive)]),
        ],
      );
    case "within":
      return find(
        [
          ...(from === undefined ? [] : [beginsBehind(from, from.inclusive)]),
          ...(to === undefined ? [] : [endsBefore(to, to.inclusive)]),
        ],
        [],
      );
    case "contains":
      return find(
        [],
        [
          from === undefined
            ? anyOf([new ExistsNode(`${name}.gte`), new ExistsNode(`${name}.gt`)])
            : beginsBehind(from, false),
          to === undefined
            ? anyOf([new ExistsNode(`${name}.lte`), new ExistsNode(`${name}.lt`)])
            : endsBefore(to, false),
        ],
      );
  }
}
