/** Tells once about each path, however often it is met. */

import type { Logger } from "#proto/kit/log.ts";

/** Notices remembered as told. */
const REMEMBERED_MAX = 1_000;

export class Notices {
  readonly #log: Logger;
  readonly #told = new Set<string>();

  constructor(log: Logger) {
    this.#log = log;
  }

  /** Logs that `path` is not read and why, unless it was logged before. */
  notRead(path: string, reason: string, level: "info" | "warn" = "info"): void {
    const what = `${path}: ${reason}`;
    if (this.#told.has(what)) return;
    if (this.#told.size >= REMEMBERED_MAX) this.#told.clear();
    this.#told.add(what);
    this.#log[level]({ path }, `file is not read: ${reason}`);
  }
}
