/** Requests with one fault: every part of every query and aggregation is left out, or replaced by each odd value. */

import { isObject } from "#proto/kit/json.ts";
import type { PlainRequest } from "#test/harness/pipelined-http.ts";
import { AGGREGATIONS, ODD_VALUES, QUERIES } from "./api-values.ts";

const HEADERS = { "content-type": "application/json" };
/** Below each aggregation, so that buckets hold something. */
const BELOW = { b: { terms: { field: "n" } } };

export function* sweptRequests(): Generator<PlainRequest> {
  for (const query of QUERIES)
    for (const odd of variants(query))
      yield searchFor({ query: odd, profile: true, explain: true, highlight: { fields: { "*": {} } } });
  for (const aggregation of AGGREGATIONS)
    for (const odd of variants(aggregation)) {
      const whole = isObject(odd);
      yield searchFor({ size: 0, aggs: { a: whole ? { ...odd, aggs: BELOW } : odd } });
    }
}

function searchFor(body: object): PlainRequest {
  return { method: "POST", path: "/lines/_search", headers: HEADERS, body: JSON.stringify(body) };
}

/** The odd values in the place of `value`, then `value` with each of its parts like that, and without it. */
function* variants(value: unknown): Generator<unknown> {
  yield* ODD_VALUES;
  if (typeof value !== "object" || value === null) return;
  for (const [key, part] of Object.entries(value)) {
    for (const odd of variants(part)) yield replaced(value, key, odd);
    const { [key]: _left, ...rest } = value as Record<string, unknown>;
    yield Array.isArray(value) ? Object.values(rest) : rest;
  }
}

function replaced(value: object, key: string, part: unknown): unknown {
  return Array.isArray(value) ? value.with(Number(key), part) : { ...value, [key]: part };
}
