/** Finds out whether files were written or replaced, as certificates are when they are renewed. */

import { statSync } from "node:fs";

export class FileChanges {
  readonly #paths: readonly string[];
  #seen: string;

  /** The files as they are now are known. Links are followed. */
  constructor(paths: readonly string[]) {
    this.#paths = paths;
    this.#seen = this.#state();
  }

  /** Returns true if a file has changed, appeared or vanished since the last call. */
  take(): boolean {
    const state = this.#state();
    const hasChanged = state !== this.#seen;
    this.#seen = state;
    return hasChanged;
  }

  #state(): string {
    return this.#paths.map(stateOf).join(" ");
  }
}

function stateOf(path: string): string {
  try {
    const { dev, ino, size, mtimeNs } = statSync(path, { bigint: true });
    return [dev, ino, size, mtimeNs].join("/");
  } catch {
    return "none";
  }
}
