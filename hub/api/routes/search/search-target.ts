/**
 * The target of a search: its indices, restricted by aliases and types; the shards and copies that the parameter
 * `preference` selects; and its limits from settings of the cluster and of these indices.
 */

import { fitsType, typeOf } from "#hub/api/compat/mapping-types.ts";
import type { ApiContext } from "#hub/api/context/api-context.ts";
import { checkBlocks } from "#hub/api/context/index-blocks.ts";
import { clusterSetting } from "#hub/api/parameters/cluster-settings.ts";
import { numberSetting } from "#hub/api/parameters/index-settings.ts";
import { meantNodes } from "#hub/api/parameters/meant-nodes.ts";
import { isTrue } from "#hub/api/parameters/values.ts";
import type { NodeInfo } from "#hub/api/ports/cluster.ts";
import type { IndexInfo, ResolveOptions } from "#hub/api/ports/indices.ts";
import { denotingNames } from "#hub/cluster/catalog/index-names.ts";
import type { CopyWish, TargetIndex } from "#hub/host/contract/calls.ts";
import { warnDeprecated } from "#hub/search/options/request-version.ts";
import { DEFAULT_LIMITS, DEFAULT_MAX_TERMS_COUNT, type SearchLimits } from "#hub/search/query/query.ts";
import { AppError } from "#proto/kit/errors.ts";

/** A parsed preference. */
interface Preference {
  /** Shard numbers of each index; undefined: all. */
  readonly shards?: readonly number[];
  readonly copies?: CopyWish;
}

/** Copies are equal: none of them is a primary. */
const EQUAL = /^_(?:primary|primary_first|replica|replica_first)$/;

/** The selected indices, shards and copies. */
export interface SearchTarget {
  /** Index expression; undefined means all. */
  readonly expression: string | undefined;
  /** Comma-separated types of the path; undefined means any. */
  readonly types: string | undefined;
  readonly options: ResolveOptions;
  /** Shard numbers of each index; undefined: all. */
  readonly shards?: readonly number[];
  /** Preference for the copies to read. */
  readonly copies?: CopyWish;
}

/** The indices of a search. */
export interface SearchedIndices {
  readonly indices: readonly IndexInfo[];
  /** The same in the form of hosts. */
  readonly targets: readonly TargetIndex[];
}

/** Resolves the indices of a target. Throws index_missing, index_closed. */
export function searchedIndices(
  { indices, cluster }: Pick<ApiContext, "indices" | "cluster">,
  { expression, types, options, shards }: SearchTarget,
): SearchedIndices {
  const resolved = indices.resolve(expression, options);
  const found =
    options.ignoreUnavailable === true ? resolved.filter((index) => index.state === "open") : resolved;
  const closed = found.find((index) => index.state === "close");
  if (closed !== undefined) {
    throw new AppError("index_closed", "closed", { data: { index: closed.name, index_uuid: closed.uuid } });
  }
  checkBlocks(found, "read");
  const allowsExpensive = clusterSetting(cluster, "search.allow_expensive_queries") !== "false";
  return {
    indices: found,
    targets: found.map((index) => ({
      ...targetIndex(index, expression, types, options),
      ...(shards !== undefined && { shards }),
      ...(!allowsExpensive && { allowsExpensive }),
    })),
  };
}

/** Returns the names on which rights are granted: that of a data stream instead of those of its indices. */
export function grantedNames(indices: readonly IndexInfo[]): string[] {
  return [...new Set(indices.map(({ name, dataStream }) => dataStream ?? name))];
}

/** Throws forbidden if the sender of a later request may not read one of `names`: rights may have changed since. */
export function checkStillReadable({ indices }: Pick<ApiContext, "indices">, names: readonly string[]): void {
  // An empty expression means all.
  if (names.length > 0)
    indices.resolve(names.join(","), {
      ignoreUnavailable: true,
      allowNoIndices: true,
      expandWildcards: "all",
    });
}

/** Resolves the indices of a target. If that fails, `check` runs first and may throw an error of the request instead. */
export async function checkedIndices(
  parts: Pick<ApiContext, "indices" | "cluster">,
  target: SearchTarget,
  check: () => Promise<unknown>,
): Promise<SearchedIndices> {
  try {
    return searchedIndices(parts, target);
  } catch (error) {
    await check();
    throw error;
  }
}

function targetIndex(
  index: IndexInfo,
  expression: string | undefined,
  types: string | undefined,
  options: ResolveOptions,
): TargetIndex {
  const maxTermsCount = numberSetting(index, "max_terms_count", DEFAULT_MAX_TERMS_COUNT);
  const maxAnalyzedOffset = numberSetting(index, "highlight.max_analyzed_offset", Number.NaN);
  return {
    uuid: index.uuid,
    typeName: typeOf(index),
    ...(maxTermsCount !== DEFAULT_MAX_TERMS_COUNT && { maxTermsCount }),
    ...(!Number.isNaN(maxAnalyzedOffset) && { maxAnalyzedOffset }),
    ...(!isTrue(index.settings.raw["requests.cache.enable"] ?? true) && { keepsResults: false }),
    ...filterOf(index, expression, types, options),
  };
}

/** Returns the filter for the search of an index: by types, or the filters of the aliases through which it is searched. */
function filterOf(
  index: IndexInfo,
  expression: string | undefined,
  types: string | undefined,
  options: ResolveOptions,
): Pick<TargetIndex, "filters" | "isEmpty"> {
  if (types !== undefined && !types.split(",").some((type) => fitsType(index, type)))
    return { isEmpty: true };
  const aliases = meantAliases(index, expression, options);
  if (aliases === undefined) return {};
  const filters = aliases.map((name) => index.aliases[name]?.filter);
  const given = filters.filter((filter) => filter !== undefined);
  return given.length === 0 || given.length < filters.length ? {} : { filters: given };
}

/** Returns the aliases through which an expression selects an index; undefined if it selects the index itself or its stream. */
export function meantAliases(
  index: IndexInfo,
  expression: string | undefined,
  options: ResolveOptions,
): string[] | undefined {
  const names = denotingNames(index, expression, options);
  if (names.has(index.name) || (index.dataStream !== undefined && names.has(index.dataStream)))
    return undefined;
  return Object.keys(index.aliases).filter((name) => names.has(name));
}

/** Default of index.max_slices_per_scroll. */
const DEFAULT_MAX_SLICES = 1024;

/** Returns the limits of a search of `target`, including the cluster setting `search.max_buckets`. */
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

/** Returns the maximum number of slices of a scroll of `target`. */
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

/** The search itself reports missing indices, after its body was checked. */
function quietly({ options }: SearchTarget): SearchTarget["options"] {
  return { ...options, ignoreUnavailable: true, allowNoIndices: true };
}

/** Parses a preference. `nodes`: the live ones, this one first. Throws request_invalid. */
export function parsePreference(given: string | undefined, nodes: readonly NodeInfo[]): Preference {
  if (given === undefined || given === "") return {};
  if (!given.startsWith("_shards:")) return { ...copiesOf(given, nodes) };
  // The list of shards may be followed by another preference.
  const [list = "", ...rest] = given.slice("_shards:".length).split("|");
  const numbers = list.split(",");
  if (!numbers.every((number) => /^\d{1,9}$/.test(number)))
    throw new AppError("request_invalid", `preference [${given}] must list numbers of shards: "_shards:0,2"`);
  const shards = [...new Set(numbers.map(Number))];
  return { shards, ...(rest.length > 0 && copiesOf(rest.join("|"), nodes)) };
}

function copiesOf(given: string, nodes: readonly NodeInfo[]): Preference {
  const [own] = nodes;
  if (given === "_local") return {}; // this hub's copies come first
  if (given === "_only_local") return { copies: { only: [own!.id] } };
  const [name, list] = given.split(/:(.*)/s);
  if (list !== undefined && (name === "_only_nodes" || name === "_prefer_nodes")) {
    const ids = meantNodes(nodes, list).map(({ id }) => id);
    if (name === "_prefer_nodes") return { copies: { prefer: ids } };
    if (ids.length > 0 && list !== "") return { copies: { only: ids } };
    throw new AppError(
      "request_invalid",
      `no data nodes with criteria [${list}] found for preference [${given}]`,
    );
  }
  if (!given.startsWith("_")) return { copies: { session: given } };
  if (!EQUAL.test(given)) throw new AppError("request_invalid", `no Preference for [${given}]`);
  warnDeprecated(
    `[${given}] has been deprecated in 6.1+, and will be removed in 7.0; use [_only_nodes] or [_prefer_nodes]`,
  );
  return {};
}
