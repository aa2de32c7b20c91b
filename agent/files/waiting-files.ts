/**
 * Unread files that wait because the limit of open files is reached. They are opened in the order in which they were
 * found, as soon as files that are read to their end are closed, without waiting for the next scan.
 */

import type { RawPath } from "#agent/discovery/path.ts";
import type { Entry } from "./file-index.ts";

export interface WaitingFilesOptions {
  /** Closes up to this many files that may be closed. */
  readonly makePlaces: (wanted: number) => void;
  /** Returns true if another file may be opened. */
  readonly hasPlace: () => boolean;
  /** Opens a file that may have changed or gone meanwhile. */
  readonly open: (entry: Entry, path: RawPath) => void;
}

/** Others are found again by the next search. */
const WAITING_MAX = 10_000;
/** Between two checks for a free descriptor: a file waits at least that long, and a check takes well under 1 ms. */
const LOOK_EVERY_MS = 50;
/** Opening takes 0.1 ms a file; the rest of the agent has its turn in between. */
const OPENED_AT_ONCE = 100;

export class WaitingFiles {
  readonly #options: WaitingFilesOptions;
  readonly #paths = new Map<Entry, RawPath>();
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;

  constructor(options: WaitingFilesOptions) {
    this.#options = options;
  }

  get count(): number {
    return this.#paths.size;
  }

  /** Adds a file after the others; one that waits already keeps its position. */
  add(entry: Entry, path: RawPath): void {
    if (this.#paths.size < WAITING_MAX || this.#paths.has(entry)) this.#paths.set(entry, path);
    this.#lookLater();
  }

  /** Opens no more files. */
  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }

  #lookLater(): void {
    if (!this.#stopped) this.#timer ??= setTimeout(() => this.#look(), LOOK_EVERY_MS);
  }

  #look(): void {
    const { makePlaces, hasPlace, open } = this.#options;
    this.#timer = undefined;
    makePlaces(this.#paths.size);
    let left = OPENED_AT_ONCE;
    for (const [entry, path] of this.#paths) {
      if (left-- === 0 || !hasPlace()) break;
      this.#paths.delete(entry);
      open(entry, path);
    }
    if (this.#paths.size > 0) this.#lookLater();
  }
}
