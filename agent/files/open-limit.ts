/** How many files an input may hold open: by its settings, the memory, and the descriptors that the system gives. */

import type { Clock } from "#proto/kit/clock.ts";

/**
 * Each open file takes some 9 kB, and the agent has 128 MB. Others take turns: inactive ones are closed although
 * they aren't committed yet.
 */
const OPEN_FILES_MAX = 2_000;
/** If the system gives no more descriptors, this many are left to searches, the registry and connections. */
const DESCRIPTORS_SPARED = 32;
/** The system may give more again: files of other programs count too. */
const DESCRIPTORS_AGAIN_MS = 60_000;

/** The limit of open files; lower for a while after the system gave no descriptor. */
export class OpenLimit {
  readonly #settingsFiles: number;
  readonly #clock: Clock;
  /** The limit found in the system, and until when it counts, on the monotonic clock. */
  #allowed = { files: OPEN_FILES_MAX, untilMs: Number.NEGATIVE_INFINITY };

  /** `settingsFiles`: 0 for no limit of the settings. */
  constructor(settingsFiles: number, clock: Clock) {
    this.#settingsFiles = settingsFiles === 0 ? OPEN_FILES_MAX : settingsFiles;
    this.#clock = clock;
  }

  /** Maximum of open files: at least one, or none would ever be read. */
  get files(): number {
    return Math.max(1, Math.min(this.#settingsFiles, this.systemFiles));
  }

  /** Maximum of files that the system allows, whatever the settings; 0 if it has no descriptor to spare. */
  get systemFiles(): number {
    const { files, untilMs } = this.#allowed;
    return this.#clock.monotonic() < untilMs ? files : OPEN_FILES_MAX;
  }

  /**
   * Records that the system gave no descriptor with `open` files open: without descriptors folders can't be listed
   * either, and no file would ever be closed for another.
   */
  lower(open: number): void {
    const files = Math.max(0, open - DESCRIPTORS_SPARED);
    this.#allowed = { files, untilMs: this.#clock.monotonic() + DESCRIPTORS_AGAIN_MS };
  }
}
