/** Removes deleted and long unchanged files from the registry, so that it doesn't grow without limit. */

import type { Registry } from "#agent/registry/registry.ts";
import type { Clock } from "#proto/kit/clock.ts";
import type { Entry, FileIndex } from "./file-index.ts";

export interface RegistryCleanupOptions {
  /** 0: never. */
  readonly cleanInactiveMs: number;
  readonly cleanRemoved: boolean;
  readonly registry: Pick<Registry, "get" | "delete">;
  readonly index: FileIndex;
  readonly clock: Clock;
  /** Called before a file's row is removed. */
  readonly onForget: (key: string) => void;
  /** Called with the number of bytes of a missing file that were never read. */
  readonly onLost: (path: string, bytes: number) => void;
}

/** Files of an unmounted folder keep their positions for this time, in which it is expected back. */
const REMOVED_DELAY_MS = 60_000;

export class RegistryCleanup {
  readonly #options: RegistryCleanupOptions;

  constructor(options: RegistryCleanupOptions) {
    this.#options = options;
  }

  /** Forgets a closed file that no search has found for a while; at once if its row holds nothing. */
  missing(entry: Entry): void {
    const now = this.#options.clock.monotonic();
    entry.missingSinceMs ??= now;
    if (entry.key === "" || now - entry.missingSinceMs > REMOVED_DELAY_MS) this.#forget(entry);
  }

  /** Removes the rows of files that weren't written to for long. */
  cleanInactive(): void {
    const { index, registry, clock, cleanInactiveMs, onForget } = this.#options;
    if (cleanInactiveMs === 0) return;
    for (const entry of index.values()) {
      const row = registry.get(entry.key);
      if (row === undefined || entry.harvester !== null || row.size !== row.sent) continue;
      if (index.isReplaced(entry)) continue; // goes soon
      if (clock.now() - row.mtimeMs <= cleanInactiveMs) continue;
      entry.passedOver = { mtimeMs: row.mtimeMs };
      onForget(entry.key);
      registry.delete(entry.key);
      entry.key = "";
    }
  }

  /** Forgets a file that is gone. Its row stays if the settings require that and the file may come back. */
  #forget(entry: Entry): void {
    const { index, registry, cleanRemoved, onForget, onLost } = this.#options;
    const isReplaced = index.isReplaced(entry);
    index.remove(entry);
    const row = registry.get(entry.key);
    const lostBytes = entry.passedOver === null ? entry.size - (row?.sent ?? 0) : 0;
    if (lostBytes > 0) onLost(entry.path, lostBytes);
    if (row !== undefined && !cleanRemoved && !isReplaced) return;
    onForget(entry.key);
    registry.delete(entry.key);
  }
}
