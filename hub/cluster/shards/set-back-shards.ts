/**
 * Shards whose files are older than what they committed, because a manifest or a segment is gone or damaged. The log brings
 * them up to date as far as it reaches; what it no longer has is lost until the index is restored.
 */

import type { Logger } from "#proto/kit/log.ts";
import { comparePositions, type Position } from "#proto/position.ts";

interface SetBackShard {
  /** "[index][shard]" */
  readonly name: string;
  readonly uuid: string;
  /** Position that its files cover. */
  readonly from: Position;
  /** Position up to which it was committed before. */
  readonly until: Position;
  /** True if the log no longer had what it needs. */
  isIncomplete: boolean;
}

/** Returns the name of a shard in reports. */
export function shardName({ name }: { readonly name: string }, shard: number): string {
  return `[${name}][${shard}]`;
}

/** How serious it is, and for which shards. */
export interface SetBackReport {
  readonly isIncomplete: boolean;
  readonly reason: string;
}

/** Names printed in a reason. */
const NAMES_MAX = 3;

export class SetBackShards {
  readonly #log: Logger;
  readonly #shards = new Map<string, SetBackShard>();

  constructor(log: Logger) {
    this.#log = log;
  }

  /** Records a shard that was opened. */
  add(shard: Omit<SetBackShard, "isIncomplete">): void {
    const { name, from, until } = shard;
    this.#shards.set(name, { ...shard, isIncomplete: this.#shards.get(name)?.isIncomplete ?? false });
    this.#log.error(
      { shard: name, from, until },
      "files of a shard are damaged or gone: it is older than it was; what is missing is read from the log again",
    );
  }

  /** Records a shard that lacks messages which the log had purged before it was opened. */
  addIncomplete(shard: Omit<SetBackShard, "isIncomplete">): void {
    this.#shards.set(shard.name, { ...shard, isIncomplete: true });
  }

  /** Returns whether a shard lacks documents. */
  has(name: string): boolean {
    return this.#shards.has(name);
  }

  /** Forgets a shard that was removed. */
  remove(name: string): void {
    this.#shards.delete(name);
  }

  /** Records that everything up to `position` was read. */
  reached(position: Position): void {
    if (this.#shards.size === 0) return;
    for (const [name, { until, isIncomplete }] of this.#shards) {
      if (isIncomplete || comparePositions(position, until) < 0) continue;
      this.#shards.delete(name);
      this.#log.info({ shard: name, position }, "the log has brought the shard up to date");
    }
  }

  /** Records that the log no longer has the messages after `from` and up to `to`. */
  missed(from: Position, to: Position): void {
    for (const shard of this.#shards.values()) {
      const isBefore = comparePositions(to, shard.from) <= 0;
      if (isBefore || comparePositions(from, shard.until) >= 0) continue;
      shard.isIncomplete = true;
      this.#log.error(
        { shard: shard.name, from, until: shard.until },
        "the log no longer holds what the shard has lost: documents are missing; restore the index from a snapshot",
      );
    }
  }

  /** Forgets the shards of a deleted index. */
  forget(uuid: string): void {
    for (const [name, shard] of this.#shards) if (shard.uuid === uuid) this.#shards.delete(name);
  }

  /** Returns null if all shards have what they committed. */
  report(): SetBackReport | null {
    if (this.#shards.size === 0) return null;
    const all = [...this.#shards.values()];
    const incomplete = all.filter((shard) => shard.isIncomplete);
    const isIncomplete = incomplete.length > 0;
    const named = isIncomplete ? incomplete : all;
    const names = named
      .slice(0, NAMES_MAX)
      .map(({ name }) => name)
      .join(", ");
    const more = named.length > NAMES_MAX ? ` and ${named.length - NAMES_MAX} more` : "";
    const what = isIncomplete
      ? "lost documents that the log no longer holds; restore the index from a snapshot"
      : "lost files and are read from the log again";
    return { isIncomplete, reason: `${names}${more} ${what}` };
  }
}
