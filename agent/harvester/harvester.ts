/**
 * Reads one file and keeps it open. Each read begins a little before the end of the last one, so one system call
 * returns new data and the proof that the old data is unchanged: fewer or different bytes mean that the content was
 * replaced, and reading begins a new generation at 0.
 */

import { closeSync, fstatSync, type Stats } from "node:fs";
import type { Slot } from "#agent/contract/slot-pool.ts";
import type { FileRow } from "#agent/registry/row.ts";
import { BlockReader } from "./block-reader.ts";
import { EventReader } from "./event-reader.ts";
import { FileReading } from "./file-reading.ts";
import { type HarvesterOptions, type ReadOutcome, type Successor, tookSlot } from "./harvester-options.ts";
import { sameBefore, sameHead } from "./identity.ts";
import { Progress } from "./progress.ts";

export class Harvester {
  readonly key: string;
  readonly path: string;
  /** Path under which the file was read before; its successor has it now. */
  readonly formerPath: string;
  readonly row: FileRow;
  readonly openedMs: number;
  /** When data was found last, on the monotonic clock. */
  activeMs: number;
  /** True if no path leads to the file any more. */
  deleted = false;
  /** When it was deleted, by the file system's clock, or later; null while it has a path. */
  deletedMs: number | null = null;
  /** True if the file has a path outside the input's patterns. */
  movedAway = false;
  readonly #options: HarvesterOptions;
  readonly #progress: Progress;
  readonly #reading: FileReading;
  readonly #events: EventReader | null;
  readonly #blocks: BlockReader;
  #seen: Pick<Stats, "size" | "mtimeMs"> = { size: -1, mtimeMs: -1 };
  /** True if the file has changed since the last read began. */
  #hasNews = true;
  #busy = false;
  #closed = false;

  /** Takes over `fd`. A row whose content isn't in the file any more gets a new generation. */
  constructor(options: HarvesterOptions) {
    const { key, path, row, output, onChange, persist, events } = options;
    this.#options = options;
    this.key = key;
    this.path = path;
    this.formerPath = row.path;
    this.row = row;
    this.openedMs = options.monotonicMs();
    this.activeMs = this.openedMs;
    const { confirmsCommits } = output;
    this.#progress = new Progress({ key, row, confirmsCommits, onChange, persist });
    this.#reading = new FileReading(options, this.#progress);
    this.#events = events === null ? null : new EventReader(this.#reading, events);
    this.#blocks = new BlockReader(this.#reading);
    if (!this.#contentIsKnown()) {
      this.#progress.beginGeneration();
      this.#events?.reset(true);
    }
    row.path = path;
    row.size = -1;
    if (this.isArchive) this.#see(fstatSync(options.fd));
    onChange();
  }

  /** True if the read bytes are the unpacked content of the file: it never changes. */
  get isArchive(): boolean {
    return this.#options.archive !== null;
  }

  get linesRead(): number {
    return this.#reading.linesRead;
  }

  get bytesRead(): number {
    return this.#reading.bytesRead;
  }

  /** When a block was sent last, on the monotonic clock. */
  get sentMs(): number {
    return this.#reading.sentMs;
  }

  /** Where the next read begins, bytes. */
  get offset(): number {
    return this.#progress.offset;
  }

  /** True if everything read is acknowledged. */
  get idle(): boolean {
    return this.#progress.idle;
  }

  /** True if everything read is in committed segments. */
  get committed(): boolean {
    return this.idle && this.row.committed >= this.offset;
  }

  /**
   * True if the last read found the end of the file, the file hasn't changed since that read began, and no event waits
   * there for its timeout.
   */
  get atEnd(): boolean {
    if (this.#hasNews || this.#busy || this.#events?.isPending === true) return false;
    const { sizeAtEnd } = this.#reading;
    return sizeAtEnd >= 0 && sizeAtEnd >= this.#seen.size;
  }

  /** True if the file, at its last known size, was read completely and is acknowledged, without a truncation. */
  get quiet(): boolean {
    return this.idle && this.atEnd && this.#seen.size >= this.offset;
  }

  /** Time until the event at the file's end counts as whole, ms. */
  get pendingMs(): number {
    return this.#events?.pendingMs ?? Number.POSITIVE_INFINITY;
  }

  /** True if no byte before the end of the file is unread, not even of an unfinished line. */
  get complete(): boolean {
    return this.#reading.sizeAtEnd >= 0 && this.offset >= this.#reading.sizeAtEnd;
  }

  /** True if the file ends in the middle of an event. */
  get endsWithin(): boolean {
    return this.#reading.sizeAtEnd >= 0 && this.offset < this.#reading.sizeAtEnd;
  }

  /** The file in which the last event continues; null: none. Not used if blocks are sent. */
  set successor(successor: Successor | null) {
    if (this.#events !== null) this.#events.successor = successor;
  }

  /** True if everything of an earlier generation is acknowledged. */
  settled(generation: number): boolean {
    return this.#progress.settled(generation);
  }

  /** Bytes seen in the file that no acknowledgement covers. */
  get lagBytes(): number {
    return Math.max(0, Math.max(this.#seen.size, this.offset) - this.row.sent);
  }

  /** Bytes of an unfinished line in a file whose other bytes are acknowledged. */
  get unfinishedBytes(): number {
    return this.quiet ? this.lagBytes : 0;
  }

  /** Bytes seen in the file that aren't in committed segments. */
  get uncommittedBytes(): number {
    return Math.max(0, Math.max(this.#seen.size, this.offset) - this.row.committed);
  }

  /** Takes a fresh stat of the file; returns true if it has changed since the last one. */
  observe(stat: Pick<Stats, "size" | "mtimeMs">): boolean {
    const isSame = stat.size === this.#seen.size && stat.mtimeMs === this.#seen.mtimeMs;
    if (isSame || this.isArchive) return false;
    this.#see(stat);
    this.#hasNews = true;
    this.activeMs = this.#options.monotonicMs();
    return true;
  }

  #see({ size, mtimeMs }: Pick<Stats, "size" | "mtimeMs">): void {
    this.#seen = { size, mtimeMs };
    this.row.known = size;
  }

  /** Stats the open file itself, for one that no path leads to; returns true if it has changed. Throws the system's error. */
  observeOpen(): boolean {
    const stat = fstatSync(this.#options.fd);
    this.deleted = stat.nlink === 0;
    // Later writes change that time: the first recorded one is nearest to the deletion.
    this.deletedMs = this.deleted ? (this.deletedMs ?? stat.ctimeMs) : null;
    this.movedAway = !this.deleted;
    return this.observe(stat);
  }

  /**
   * Reads the next block into `slot` and sends it, which hands the slot over; on `more` and `end` only,
   * otherwise it stays the caller's. `final`: the last line won't grow any more. Throws the system's error.
   */
  async read(slot: Slot, final: boolean): Promise<ReadOutcome> {
    this.#hasNews = false;
    const outcome = await this.#whileOpen(() => (this.#events ?? this.#blocks).read(slot, final));
    if (tookSlot(outcome)) this.activeMs = this.#reading.sentMs;
    return outcome;
  }

  /** Resolves when the registry has on disk what is needed before reading of the file continues. */
  record(): Promise<void> {
    return this.#closed ? Promise.resolve() : this.#whileOpen(() => this.#reading.record());
  }

  /** Goes back to the committed offset. Data in flight arrives a second time, and the hub drops it. */
  rewind(): void {
    this.#progress.rewind();
    this.#reading.sizeAtEnd = -1;
    this.#events?.reset(false);
  }

  /**
   * Closes the file; sent batches are settled nevertheless. A later scan finds in the row whether there is more to
   * read.
   */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    const { fd, nowMs, onChange } = this.#options;
    const stat = statOpenOrNull(fd);
    if (stat !== null) this.#noteLast(stat);
    this.row.seenMs = nowMs();
    onChange();
    if (!this.#busy) closeSync(fd);
  }

  /** Records the file's size, and whether it was read to its end. */
  #noteLast(stat: Stats): void {
    // New content may be as long as the previous one.
    const isUnchanged = stat.size === this.#reading.sizeAtEnd && stat.mtimeMs === this.#seen.mtimeMs;
    if (isUnchanged && this.atEnd && this.idle) {
      const { size, mtimeMs } = this.#options.archive ?? stat;
      this.row.size = size;
      this.row.mtimeMs = mtimeMs;
    }
    this.row.known = stat.size;
  }

  /** Keeps the descriptor for `work`, even if the file is closed meanwhile. */
  async #whileOpen<T>(work: () => Promise<T>): Promise<T> {
    this.#busy = true;
    try {
      return await work();
    } finally {
      this.#busy = false;
      if (this.#closed) closeSync(this.#options.fd);
    }
  }

  #contentIsKnown(): boolean {
    const { row } = this;
    const { fd } = this.#options;
    const { size } = fstatSync(fd);
    // Bytes beyond the file's end are in its successor.
    if (row.tail !== null && row.sent > row.tail.at) return size >= row.tail.at && sameHead(fd, row.head);
    return size >= row.sent && sameHead(fd, row.head) && sameBefore(fd, row.sent, row.anchor);
  }
}

/** Returns the stat of an open file, or null where the file system doesn't give it: a file server has lost the file. */
function statOpenOrNull(fd: number): Stats | null {
  try {
    return fstatSync(fd);
  } catch {
    return null;
  }
}
