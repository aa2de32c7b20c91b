/**
 * Hints of the operating system that something changed in a folder. They make waiting for the next scan unnecessary and
 * may be missing: only the scan finds everything.
 */

import { existsSync, type FSWatcher, watch } from "node:fs";
import { basename } from "node:path";
import type { Logger } from "#proto/kit/log.ts";

/** Folders watched at most; the system gives each user some thousand watches for all programs. */
const FOLDERS_MAX = 1_024;

export class Watcher {
  readonly #onHint: (path: string) => void;
  readonly #log: Logger;
  readonly #watches = new Map<string, FSWatcher>();
  #warned = false;

  /** `onHint` gets the path of what was made, changed or removed. */
  constructor(onHint: (path: string) => void, log: Logger) {
    this.#onHint = onHint;
    this.#log = log;
  }

  /** Watches a folder from now on, unless it is watched already or too many are. */
  add(folder: string): void {
    if (!this.#watches.has(folder) && this.#watches.size < FOLDERS_MAX) this.#watch(folder);
  }

  /** Ends watching all folders but `folders`. */
  keep(folders: ReadonlySet<string>): void {
    for (const [folder, watcher] of this.#watches) {
      if (folders.has(folder)) continue;
      watcher.close();
      this.#watches.delete(folder);
    }
  }

  stop(): void {
    this.keep(new Set());
  }

  #watch(folder: string): void {
    const end = (error: unknown): void => {
      this.#watches.get(folder)?.close();
      this.#watches.delete(folder);
      this.#warn(folder, error);
    };
    try {
      const own = basename(folder);
      const watcher = watch(folder, (event, name) => {
        if (event === "rename" && name === own) this.#watchAgain(folder);
        if (name !== null) this.#onHint(folder === "/" ? `/${name}` : `${folder}/${name}`);
      });
      watcher.on("error", end);
      this.#watches.set(folder, watcher);
    } catch (error) {
      end(error);
    }
  }

  /** The system reports a folder that is removed or moved by its own name, and nothing of another one that has its path then. */
  #watchAgain(folder: string): void {
    this.#watches.get(folder)?.close();
    this.#watches.delete(folder);
    if (existsSync(folder)) this.#watch(folder); // else the scan that finds it watches it
  }

  #warn(folder: string, error: unknown): void {
    if (this.#warned) return;
    this.#warned = true;
    this.#log.warn(
      { error },
      `folder ${folder} can't be watched; new lines in such folders are found by scanning only`,
    );
  }
}
