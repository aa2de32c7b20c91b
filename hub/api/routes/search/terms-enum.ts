/** `_terms_enum`: the terms of a field that begin with a text, in their order, for completion in forms. */

import type { ApiContext } from "#hub/api/context/api-context.ts";
import { shardFailureBodies } from "#hub/api/http/error-body.ts";
import { type ApiRequest, checkValid } from "#hub/api/http/request.ts";
import { type ApiResponse, json, type Route } from "#hub/api/http/route.ts";
import { RESOLVE_PARAMS, resolveOptions } from "#hub/api/parameters/shared-parameters.ts";
import { anything, flag, integer, object, readOptions, refused, text } from "#hub/search/options/options.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { runSearch } from "./run-search.ts";

const MAX_SIZE = 10_000;
/** Types whose terms are texts. */
const TEXTS = /^(?:keyword|constant_keyword|wildcard|version|flattened)$/;

const OPTIONS = {
  field: text("field whose terms are listed", ""),
  string: text("beginning of the terms; all without it", ""),
  size: integer("number of terms", 10),
  case_insensitive: flag("letters match in both cases", false),
  index_filter: object("query of the documents whose terms count"),
  timeout: anything("time after which the terms found until then are answered"),
  search_after: refused("give a longer string instead"),
} as const;

export function termsEnumRoutes(parts: ApiContext): Route[] {
  return [
    {
      methods: ["GET", "POST"],
      paths: ["/{index}/_terms_enum"],
      params: RESOLVE_PARAMS,
      action: "search",
      summary: "Lists the terms of a field that begin with a text.",
      handle: (request) => termsEnum(parts, request),
    },
  ];
}

async function termsEnum(parts: ApiContext, request: ApiRequest): Promise<ApiResponse> {
  const options = readOptions("terms_enum", request.requiredObject(), OPTIONS, "option");
  const { field, size, index_filter: filter, timeout } = options;
  checkValid(field === "" && "field cannot be null");
  checkValid((size < 1 || size > MAX_SIZE) && `size must be between 1 and ${MAX_SIZE}`);
  const resolve = resolveOptions(request);
  const indices = parts.indices.resolve(request.path["index"], resolve);
  const holding = indices.filter(({ mapping }) => TEXTS.test(mapping.resolve(field)?.type ?? ""));
  if (holding.length === 0)
    return json({ _shards: { total: 0, successful: 0, failed: 0 }, terms: [], complete: true });
  const found = await runSearch(parts, {
    target: { expression: holding.map(({ name }) => name).join(","), types: undefined, options: resolve },
    body: {
      size: 0,
      ...(filter !== undefined && { query: { bool: { filter: [filter] } } }),
      ...(timeout !== undefined && { timeout }),
      aggs: { terms: termsOf(options) },
    },
    typedKeys: false,
    objectTotals: false,
    allowPartial: true,
    useCache: false,
    signal: request.signal,
  });
  const { total, failures } = found.shards;
  const answers = (found.aggregations?.parse() ?? {}) as { terms?: { buckets: readonly JsonObject[] } };
  return json({
    _shards: {
      total,
      successful: total - failures.length,
      failed: failures.length,
      ...(failures.length > 0 && { failures: shardFailureBodies(failures, parts.errors) }),
    },
    terms: (answers.terms?.buckets ?? []).map(({ key }) => String(key)),
    complete: !found.timedOut && failures.length === 0,
  });
}

function termsOf(options: {
  readonly field: string;
  readonly string: string;
  readonly size: number;
  readonly case_insensitive: boolean;
}): JsonObject {
  const { field, string, size, case_insensitive: isFolded } = options;
  const include = string === "" ? {} : { include: `${beginning(string, isFolded)}.*` };
  return { terms: { field, size, order: { _key: "asc" }, ...include } };
}

/** Returns a text as a regular expression of the index; `isFolded`: matches upper and lower case. */
function beginning(string: string, isFolded: boolean): string {
  return Array.from(string)
    .map((character) => {
      const cases = isFolded
        ? new Set([character.toLowerCase(), character.toUpperCase()])
        : new Set([character]);
      const written = [...cases].map((each) => each.replace(/[^\p{L}\p{N}]/gu, "\\$&"));
      return written.length === 1 ? written[0]! : `(${written.join("|")})`;
    })
    .join("");
}
