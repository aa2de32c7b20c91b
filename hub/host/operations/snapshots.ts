/** Snapshots of shards by the id of the scroll of another host that reads them page by page, or of the point in time. */

import type { ShardSearcher } from "#hub/cluster/hosting/hosting-contract.ts";
import type { Searcher } from "#hub/engine/searcher/searcher.ts";
import { AppError } from "#proto/kit/errors.ts";

/** As many as contexts, see SearchContexts. */
const MAX_SNAPSHOTS = 2_000;

interface KeptShard extends ShardSearcher {
  /** Searches that read it. */
  uses: number;
  /** True once nobody else may read it; the last search closes it. */
  isDropped: boolean;
}

export class Snapshots {
  readonly #kept = new Map<string, readonly KeptShard[]>();

  /** Keeps snapshots, which are closed where it throws. Throws overloaded. */
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
      throw new AppError("unavailable", "the snapshot of the shard was lost as its host was started again");
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
