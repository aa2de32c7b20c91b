/**
 * The target of a search: the shards of its indices, restricted by aliases and types, and the limits that settings of the
 * cluster and of these indices give it.
 */

import { fitsType, typeOf } from "#hub/api/compat/mapping-types.ts";
import type { ApiContext } from "#hub/api/context/api-context.ts";
import { numberSetting } from "#hub/api/parameters/index-settings.ts";
import { isTrue } from "#hub/api/parameters/values.ts";
import type { Cluster } from "#hub/api/ports/cluster.ts";
import type { IndexInfo, ResolveOptions } from "#hub/api/ports/indices.ts";
import { anyOf } from "#hub/search/execute/nodes/boolean.ts";
import { NoneNode } from "#hub/search/execute/nodes/documents.ts";
import { QUERIES_BY_NAME } from "#hub/search/parse/queries/all.ts";
import { QueryParser } from "#hub/search/parse/query-parser.ts";
import { compileWildcard } from "#hub/search/patterns/wildcard.ts";
import type { SearchShard } from "#hub/search/phases/contract.ts";
import { DEFAULT_MAX_TERMS_COUNT, type Query, type SearchLimits } from "#hub/search/query/query.ts";
import { DEFAULT_LIMITS } from "#hub/search/search.ts";
import { AppError } from "#proto/kit/errors.ts";

/** Which shards. */
export interface SearchTarget {
  /** Index expression; undefined means all. */
  readonly expression: string | undefined;
  /** Comma-separated types of the path; undefined means any. */
  readonly types: string | undefined;
  readonly options: ResolveOptions;
}

/** Shards of a search, to be closed. */
export interface OpenShards {
  readonly indices: readonly IndexInfo[];
  readonly shards: readonly SearchShard[];
  close(): void;
}

/** Opens the shards of a target. Throws index_missing, index_closed. */
export function openShards(
  { indices, shards }: ApiContext,
  { expression, types, options }: SearchTarget,
): OpenShards {
  const resolved = indices.resolve(expression, options);
  const found =
    options.ignoreUnavailable === true ? resolved.filter((index) => index.state === "open") : resolved;
  const closed = found.find((index) => index.state === "close");
  if (closed !== undefined) {
    throw new AppError("index_closed", "closed", { data: { index: closed.name, index_uuid: closed.uuid } });
  }
  const filters = new Map(found.map((index) => [index.name, filterOf(index, expression, types)]));
  const opened = shards.searchers(found);
  return {
    indices: found,
    shards: opened.map(({ index, shard, searcher }) => {
      const filter = filters.get(index.name);
      const maxTermsCount = numberSetting(index, "max_terms_count", DEFAULT_MAX_TERMS_COUNT);
      const maxAnalyzedOffset = numberSetting(index, "highlight.max_analyzed_offset", Number.NaN);
      const named = {
        name: index.name,
        uuid: index.uuid,
        typeName: typeOf(index),
        maxTermsCount,
        ...(!Number.isNaN(maxAnalyzedOffset) && { maxAnalyzedOffset }),
      };
      const keepsResults = isTrue(index.settings.raw["requests.cache.enable"] ?? true);
      return { index: named, shard, searcher, keepsResults, ...(filter !== undefined && { filter }) };
    }),
    close() {
      for (const { searcher } of opened) searcher.close();
    },
  };
}

/** Returns the filter of the aliases and types by which an index is searched; undefined: none. */
function filterOf(
  index: IndexInfo,
  expression: string | undefined,
  types: string | undefined,
): Query | undefined {
  if (types !== undefined && !types.split(",").some((type) => fitsType(index, type))) return new NoneNode();
  const aliases = meantAliases(index, expression);
  if (aliases === undefined) return undefined;
  const filters = aliases.map((name) => index.aliases[name]?.filter);
  if (filters.length === 0 || filters.includes(undefined)) return undefined;
  return anyOf(filters.map((filter) => new QueryParser(QUERIES_BY_NAME).parse(filter)));
}

/** Returns the aliases through which an expression means an index; undefined where it means the index itself, or its stream. */
export function meantAliases(index: IndexInfo, expression: string | undefined): string[] | undefined {
  const parts = (expression ?? "").split(",").filter((part) => part !== "" && !part.startsWith("-"));
  const tests = parts.map((part) => compileWildcard(part === "_all" ? "*" : part));
  const own = index.dataStream === undefined ? [index.name] : [index.name, index.dataStream];
  if (tests.length === 0 || tests.some((test) => own.some((name) => test.matches(name)))) return undefined;
  return Object.keys(index.aliases).filter((name) => tests.some((test) => test.matches(name)));
}

/** index.max_slices_per_scroll unless an index says otherwise. */
const DEFAULT_MAX_SLICES = 1024;

/** Returns the limits of a search of `target`; `search.max_buckets` of the cluster's settings counts. */
export function searchLimits({ cluster, indices }: ApiContext, target?: SearchTarget): SearchLimits {
  const given = clusterSetting(cluster, "search.max_buckets");
  const maxBuckets = given === undefined ? DEFAULT_LIMITS.maxBuckets : Number(given);
  const meant = target === undefined ? [] : indices.resolve(target.expression, quietly(target));
  return {
    ...DEFAULT_LIMITS,
    ...(maxBuckets >= 0 && { maxBuckets }),
    maxResultWindow: strictest(meant, "max_result_window", DEFAULT_LIMITS.maxResultWindow),
    maxRescoreWindow: strictest(meant, "max_rescore_window", DEFAULT_LIMITS.maxRescoreWindow),
    maxColumnFields: strictest(meant, "max_docvalue_fields_search", DEFAULT_LIMITS.maxColumnFields),
    maxScriptFields: strictest(meant, "max_script_fields", DEFAULT_LIMITS.maxScriptFields),
    maxRegexLength: strictest(meant, "max_regex_length", DEFAULT_LIMITS.maxRegexLength),
  };
}

/** Returns a setting of the cluster; transient ones win. */
export function clusterSetting(cluster: Cluster, name: string): unknown {
  const { persistent, transient } = cluster.settings();
  return transient[name] ?? persistent[name];
}

/** Returns how many parts a scroll of `target` may have. */
export function maxSlicesOf({ indices }: ApiContext, target: SearchTarget): number {
  return strictest(
    indices.resolve(target.expression, quietly(target)),
    "max_slices_per_scroll",
    DEFAULT_MAX_SLICES,
  );
}

function strictest(indices: readonly IndexInfo[], name: string, fallback: number): number {
  const values = indices.map((index) => numberSetting(index, name, fallback));
  return values.length === 0 ? fallback : Math.min(...values);
}

/** Missing indices are reported by the search itself, after its body was checked. */
function quietly({ options }: SearchTarget): SearchTarget["options"] {
  return { ...options, ignoreUnavailable: true, allowNoIndices: true };
}
