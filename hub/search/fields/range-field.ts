/** Range fields: objects with a lower and an upper bound, each indexed as a separate field. */

import { anyOf, BooleanNode } from "#hub/search/execute/nodes/boolean.ts";
import { ExistsNode } from "#hub/search/execute/nodes/documents.ts";
import { ConstantNode } from "#hub/search/execute/nodes/wrapped-query.ts";
import type { Query, ShardContext } from "#hub/search/query/query.ts";
import type { Bound, RangeBounds } from "./field-range.ts";
import { rangeQuery } from "./field-range.ts";

/** How a document's range lies to that of the query. */
export type Relation = "intersects" | "within" | "contains";

/** Returns the documents with a value within bounds, or with a range that lies to them as `relation` says. */
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

/** Returns true where `name` is a field of ranges. */
export function isRangeField({ mapping }: ShardContext, name: string): boolean {
  return mapping.objectKind(name)?.type.endsWith("_range") === true;
}

/** Returns the documents whose range lies to the bounds as `relation` says; each scores 1. */
function rangeFieldQuery(shard: ShardContext, name: string, bounds: RangeBounds, relation: Relation): Query {
  const { from, to } = bounds;
  const side = (field: string, below: Bound | undefined, above: Bound | undefined): Query =>
    rangeQuery(shard, `${name}.${field}`, { ...bounds, from: below, to: above });
  const at = ({ value }: Bound, inclusive: boolean): Bound => ({ value, inclusive });
  /** Ranges that begin after a bound, or at it where that is meant as well. */
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
