/**
 * Snapshots that are read page by page: the contexts of scrolls and of changes by query, and the snapshots that other hosts
 * read by the id of their scroll or point in time.
 */

import type { ShardSearcher } from "#hub/cluster/shards/contract.ts";
import type { Searcher } from "#hub/engine/searcher/searcher.ts";
import type { SearchCursor } from "#hub/search/phases/contract.ts";
import type { SearchRequest } from "#hub/search/request/search-request.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import type { SearchedShards } from "./searched-shards.ts";

/** Maximum contexts of a host. Each keeps the files of its segments; callers have lower limits of their own. */
const MAX_CONTEXTS = 2_000;
/** The same limit as for contexts, see SearchContexts. */
const MAX_SNAPSHOTS = 2_000;

/** The state of one walk. */
export interface SearchContext {
  readonly request: SearchRequest;
  readonly body: JsonObject;
  readonly opened: SearchedShards;
  /** Where the last page ended; undefined until it is known. */
  cursor: SearchCursor | undefined;
  /** Hits of the whole walk. */
  total: number | undefined;
  /** True if the last page was empty: so are all following ones. */
  isAtEnd: boolean;
}

/** The contexts of a host. */
export class SearchContexts {
  readonly #contexts = new Map<string, SearchContext>();

  get size(): number {
    return this.#contexts.size;
  }

  /** Keeps a context; closes its shards if it throws. Throws overloaded. */
  add(id: string, context: SearchContext): void {
    if (this.#contexts.size < MAX_CONTEXTS) {
      this.#contexts.set(id, context);
      return;
    }
    context.opened.close();
    throw new AppError("overloaded", `${MAX_CONTEXTS} contexts of scrolls and changes by query are open`);
  }

  /** Throws not_found. */
  get(id: string): SearchContext {
    const context = this.#contexts.get(id);
    if (context !== undefined) return context;
    throw new AppError("not_found", "the context was closed, or its shards were reopened");
  }

  close(ids: readonly string[]): void {
    for (const id of ids) {
      this.#contexts.get(id)?.opened.close();
      this.#contexts.delete(id);
    }
  }

  closeAll(): void {
    this.close([...this.#contexts.keys()]);
  }
}

interface KeptShard extends ShardSearcher {
  /** Searches that read it. */
  uses: number;
  /** True once no further search may read it; the last running search closes it. */
  isDropped: boolean;
}

/** Snapshots of shards, by the id of another host's scroll that reads them page by page, or of the point in time. */
export class Snapshots {
  readonly #kept = new Map<string, readonly KeptShard[]>();

  /** Keeps snapshots; closes them if it throws. Throws overloaded. */
  add(id: string, searchers: readonly ShardSearcher[]): void {
    if (this.#kept.size < MAX_SNAPSHOTS) {
      this.#kept.set(
        id,
        searchers.map((each) => ({ ...each, uses: 0, isDropped: false })),
      );
      return;
    }
    for (const { searcher } of searchers) searcher.close();
    throw new AppError(
      "overloaded",
      `a host keeps ${MAX_SNAPSHOTS} snapshots of scrolls and points in time already`,
    );
  }

  /** Returns the snapshot of a shard, which stays readable until it is closed, once. Throws unavailable. */
  searcher(id: string, uuid: string, shard: number): Searcher {
    const found = this.#kept.get(id)?.find((each) => each.index.uuid === uuid && each.shard === shard);
    if (found === undefined)
      throw new AppError("unavailable", "the snapshot of the shard was lost because its host was restarted");
    const { segments, mapping, totalDocs } = found.searcher;
    found.uses++;
    const close = (): void => {
      found.uses--;
      closeUnused(found);
    };
    return { segments, mapping, totalDocs, close };
  }

  close(ids: readonly string[]): void {
    for (const id of ids) {
      for (const shard of this.#kept.get(id) ?? []) {
        shard.isDropped = true;
        closeUnused(shard);
      }
      this.#kept.delete(id);
    }
  }

  closeAll(): void {
    this.close([...this.#kept.keys()]);
  }
}

function closeUnused({ uses, isDropped, searcher }: KeptShard): void {
  if (isDropped && uses === 0) searcher.close();
}
