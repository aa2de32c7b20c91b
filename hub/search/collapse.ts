/**
 * `collapse`: the best hit of each value of a field. The search runs in rounds, and each round excludes the values found
 * before, so memory stays bounded by the page however many hits a value has.
 */

import type { Hit } from "#hub/search/execute/fetch/fetch-hit.ts";
import { contextFault } from "#hub/search/options/context-fault.ts";
import { printedNumber } from "#hub/search/options/json-writer.ts";
import { hint, integer, list, readOptions, required, text } from "#hub/search/options/options.ts";
import { answersAs } from "#hub/search/options/request-version.ts";
import type { SearchLimits } from "#hub/search/query/query.ts";
import { parseSearchRequest } from "#hub/search/request/search-request.ts";
import { AppError } from "#proto/kit/errors.ts";
import { isObject, type JsonObject } from "#proto/kit/json.ts";
import type { SearchOptions, SearchResponse, SearchShard } from "./phases/contract.ts";
import { searchShards } from "./search.ts";

/** The `collapse` of the request, which is removed from its body. */
export interface Collapse {
  readonly field: string;
  /** Each a search body with a name: more hits of the value. */
  readonly innerHits: readonly JsonObject[];
}

export const COLLAPSE_OPTIONS = {
  field: required(text("keyword or number field with one value for each document", undefined)),
  inner_hits: list("searches among the hits of a value, each with a name"),
  max_concurrent_group_searches: hint(integer("groups are searched one after the other", undefined, 1)),
} as const;

/**
 * Parses the option of a search. Throws parsing; request_invalid if it can't be combined with the search's other
 * options.
 */
export function parseCollapse(body: JsonObject): Collapse | undefined {
  const given = body["collapse"];
  if (!isObject(given) || Object.keys(given).length === 0) return undefined;
  for (const other of ["search_after", "rescore"]) {
    if (body[other] === undefined) continue;
    throw contextFault(`cannot use \`collapse\` in conjunction with \`${other}\``);
  }
  const options = readOptions("collapse", given, COLLAPSE_OPTIONS, "option");
  const innerHits = (options.inner_hits ?? []).map((each) => {
    if (!isObject(each)) throw new AppError("parsing", "[collapse] [inner_hits] must be objects");
    checkInner(each);
    return each;
  });
  return { field: options.field, innerHits };
}

/** A second level has only its field. */
function checkInner({ collapse }: JsonObject): void {
  if (!isObject(collapse)) return;
  const unknown = Object.keys(collapse).find((key) => key !== "field");
  if (unknown === undefined) return;
  throw new AppError("parsing", `[collapse] of [inner_hits] does not support [${unknown}]`, {
    data: { type: "x_content_parse_exception" },
  });
}

/** Runs one plain search. `field`: hits can be collapsed on it, and show its value. */
export type PlainSearch = (
  body: JsonObject,
  limits: SearchLimits,
  field: string | undefined,
) => Promise<SearchResponse>;

/** Runs a search with `collapse`. Throws as searchShards does, and request_invalid for fields that can't be collapsed on. */
export function searchCollapsed(
  body: JsonObject,
  collapse: Collapse,
  limits: SearchLimits,
  shards: readonly SearchShard[],
  options: SearchOptions,
): Promise<SearchResponse> {
  return collapsedSearch(body, collapse, limits, (plain, itsLimits, collapseField) =>
    searchShards(parseSearchRequest(plain, itsLimits), shards, { ...options, ...collapsedOn(collapseField) }),
  );
}

/** Returns the option with which hits show the value that they are collapsed on. */
export function collapsedOn(collapseField: string | undefined): Pick<SearchOptions, "collapseField"> {
  return collapseField === undefined ? {} : { collapseField };
}

/** Like searchCollapsed, by plain searches that `search` runs. */
export async function collapsedSearch(
  body: JsonObject,
  collapse: Collapse,
  limits: SearchLimits,
  search: PlainSearch,
): Promise<SearchResponse> {
  const { collapse: _, from, size, ...rest } = body;
  // Reads and checks the page as any search does.
  const page = parseSearchRequest({ ...rest, from: from ?? 0, size: size ?? 10 }, limits);
  const wanted = page.from + page.size;
  const groups: Hit[] = [];
  const values: unknown[] = [];
  let first: SearchResponse | undefined;
  while (first === undefined || groups.length < wanted) {
    const round = await runRound(rest, collapse.field, values, wanted, limits, search);
    first ??= round;
    const before = values.length;
    for (const hit of round.hits) {
      const value = groupOf(hit, collapse.field);
      if (values.includes(value)) continue;
      values.push(value);
      groups.push(hit);
    }
    if (values.length === before || round.hits.length < wanted) break;
  }
  const hits = groups.slice(page.from, wanted);
  if (collapse.innerHits.length > 0) {
    for (const hit of hits) await addInner(hit, rest, collapse, limits, search);
  }
  return { ...first, hits, cursor: undefined };
}

/** Finds hits of values that aren't in `known`; the first round has the aggregations and the total. */
function runRound(
  body: JsonObject,
  field: string,
  known: readonly unknown[],
  size: number,
  limits: SearchLimits,
  search: PlainSearch,
): Promise<SearchResponse> {
  const columns = body["docvalue_fields"];
  const shown = columns === undefined ? [] : Array.isArray(columns) ? columns : [columns];
  const { aggs: _, aggregations: __, ...bare } = body;
  const isFirst = known.length === 0;
  const plain = {
    ...(isFirst ? body : bare),
    from: 0,
    size,
    docvalue_fields: [...(shown as unknown[]), { field, format: "use_field_mapping" }],
    ...(!isFirst && { post_filter: without(body["post_filter"], field, known) }),
  };
  return search(plain, { ...limits, maxColumnFields: limits.maxColumnFields + 1 }, field);
}

function without(filter: unknown, field: string, known: readonly unknown[]): JsonObject {
  const values = known.filter((value) => value !== null);
  return {
    bool: {
      ...(filter !== undefined && { filter: [filter] }),
      must_not: [
        ...(values.length > 0 ? [{ terms: { [field]: values } }] : []),
        ...(known.includes(null) ? [noValue(field)] : []),
      ],
    },
  };
}

function noValue(field: string): JsonObject {
  return { bool: { must_not: [{ exists: { field } }] } };
}

/** Documents without a value are a group of their own. */
function groupOf(hit: Hit, field: string): unknown {
  const fields = hit["fields"];
  const values = isObject(fields) ? fields[field] : undefined;
  if (!Array.isArray(values)) return null;
  const [value] = values as unknown[];
  // Fractions are shown as texts of numbers, which equal no others and aren't values of queries.
  return printedNumber(value) ?? value;
}

async function addInner(
  hit: Hit,
  { query, post_filter: post }: JsonObject,
  { field, innerHits }: Collapse,
  limits: SearchLimits,
  search: PlainSearch,
): Promise<void> {
  const value = groupOf(hit, field);
  const filter = [value === null ? noValue(field) : { term: { [field]: { value } } }];
  const answers: JsonObject = {};
  for (const { name, ignore_unmapped: _, ...inner } of innerHits) {
    // Versions before 7 return the source despite false.
    const source = inner["_source"] === false && !answersAs(700) ? { _source: true } : {};
    const body = {
      size: 3,
      ...inner,
      ...source,
      query: { bool: { ...(query !== undefined && { must: [query] }), filter } },
      ...(post !== undefined && { post_filter: post }),
    };
    const second = parseCollapse(body);
    const found =
      second === undefined
        ? await search(body, limits, undefined)
        : await collapsedSearch(body, second, limits, search);
    answers[typeof name === "string" ? name : field] = {
      hits: { total: found.total, max_score: found.maxScore, hits: found.hits },
    };
  }
  hit["inner_hits"] = answers;
}
