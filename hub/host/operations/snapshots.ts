/** Snapshots of shards that another host of the hub searches page by page, by the id of its context. */

import type { ShardSearcher } from "#hub/cluster/hosting/hosting-contract.ts";
import type { Searcher } from "#hub/engine/searcher/searcher.ts";
import { AppError } from "#proto/kit/errors.ts";

/** As many as contexts, see SearchContexts. */
const MAX_SNAPSHOTS = 2_000;

export class Snapshots {
  readonly #kept = new Map<string, readonly ShardSearcher[]>();

  /** Keeps snapshots, which are closed where it throws. Throws overloaded. */
  add(id: string, searchers: readonly ShardSearcher[]): void {
    if (this.#kept.size < MAX_SNAPSHOTS) {
      this.#kept.set(id, searchers);
      return;
    }
    for (const { searcher } of searchers) searcher.close();
    throw new AppError("overloaded", `a host keeps ${MAX_SNAPSHOTS} snapshots of scrolls already`);
  }

  /** Returns the snapshot of a shard, which closing leaves open. Throws unavailable. */
  searcher(id: string, uuid: string, shard: number): Searcher {
    const found = this.#kept.get(id)?.find((each) => each.index.uuid === uuid && each.shard === shard);
    if (found === undefined)
      throw new AppError("unavailable", "the snapshot of the shard was lost as its host was started again");
    const { segments, mapping, totalDocs } = found.searcher;
    return { segments, mapping, totalDocs, close: () => undefined };
  }

  close(ids: readonly string[]): void {
    for (const id of ids) {
      for (const { searcher } of this.#kept.get(id) ?? []) searcher.close();
      this.#kept.delete(id);
    }
  }

  closeAll(): void {
    this.close([...this.#kept.keys()]);
  }
}
