/** Opens the shards of a call's indices. */

import type { TargetIndex } from "#hub/host/contract/calls.ts";
import { anyOf } from "#hub/search/execute/nodes/boolean.ts";
import { NoneNode } from "#hub/search/execute/nodes/documents.ts";
import { QUERIES_BY_NAME } from "#hub/search/parse/queries/all.ts";
import { QueryParser } from "#hub/search/parse/query-parser.ts";
import type { SearchShard } from "#hub/search/phases/contract.ts";
import type { Query, SearchedIndex } from "#hub/search/query/query.ts";
import type { HostState } from "./operation.ts";
import type { OpenShards } from "./search-contexts.ts";

/** Opens the shards of the indices; those that were deleted meanwhile are passed over. Throws index_closed, parsing. */
export function openShards(
  { indices, shards }: Pick<HostState, "indices" | "shards">,
  targets: readonly TargetIndex[],
): OpenShards {
  const known = targets.flatMap((target) => {
    const index = indices.byUuid(target.uuid);
    return index === undefined ? [] : [{ index, target, filter: filterOf(target) }];
  });
  const byUuid = new Map(known.map((each) => [each.index.uuid, each]));
  const opened = shards.searchers(known.map(({ index }) => index));
  return {
    shards: opened.map(({ index: { name, uuid }, shard, searcher }) => {
      const { target, filter } = byUuid.get(uuid)!;
      return {
        index: searchedIndex(name, target),
        shard,
        searcher,
        keepsResults: target.keepsResults ?? true,
        ...(filter !== undefined && { filter }),
      };
    }),
    close() {
      for (const { searcher } of opened) searcher.close();
    },
  };
}

/** Opens shards for the length of `run`. */
export async function withShards<T>(
  host: HostState,
  targets: readonly TargetIndex[],
  run: (shards: readonly SearchShard[]) => T | Promise<T>,
): Promise<T> {
  const opened = openShards(host, targets);
  try {
    return await run(opened.shards);
  } finally {
    opened.close();
  }
}

function searchedIndex(
  name: string,
  { uuid, typeName, maxTermsCount, maxAnalyzedOffset }: TargetIndex,
): SearchedIndex {
  return {
    name,
    uuid,
    typeName,
    ...(maxTermsCount !== undefined && { maxTermsCount }),
    ...(maxAnalyzedOffset !== undefined && { maxAnalyzedOffset }),
  };
}

function filterOf({ filters, isEmpty }: TargetIndex): Query | undefined {
  if (isEmpty === true) return new NoneNode();
  if (filters === undefined) return undefined;
  return anyOf(filters.map((filter) => new QueryParser(QUERIES_BY_NAME).parse(filter)));
}
