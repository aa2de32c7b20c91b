/**
 * How far one file is read, acknowledged and committed, generation by generation. The file's row follows. Everything
 * that later distinguishes repeats from losses is on disk before it is used: a generation and the fingerprint of its
 * first bytes before anything of it is sent.
 */

import { hash } from "node:crypto";
import { AckTracker, type Anchor, type Flight, NO_ANCHOR } from "#agent/registry/ack-tracker.ts";
import { EARLIER_MAX, type FileRow, type SourceId, sourceOf } from "#agent/registry/row.ts";
import { HEAD_BYTES } from "./identity.ts";

export interface ProgressOptions {
  readonly key: string;
  readonly row: FileRow;
  /** False: acknowledged data counts as committed. */
  readonly confirmsCommits: boolean;
  /** Called after each change of `row`. */
  readonly onChange: () => void;
  /** Resolves when `row` is on disk or can't be written. */
  readonly persist: () => Promise<void>;
}

/** Names are at least this, so that none is a count of generations. */
const FIRST_NAME = 2 ** 31;
/** Bytes of the first line from which a name is made. */
const NAME_BYTES = 256;

export class Progress {
  readonly row: FileRow;
  readonly #options: ProgressOptions;
  #offset: number;
  #anchor: Anchor;
  #tracker: AckTracker;
  /** Of generations that a truncation ended, while data of them is in flight. */
  readonly #earlier = new Map<number, AckTracker>();
  /** First bytes whose fingerprint is on disk with the generation; -1: not even the generation is. */
  #recordedBytes: number;

  constructor(options: ProgressOptions) {
    const { row } = options;
    this.row = row;
    this.#options = options;
    this.#offset = row.sent;
    this.#anchor = row.anchor;
    this.#tracker = new AckTracker(row.sent, row.anchor);
    this.#recordedBytes = row.head.bytes > 0 ? row.head.bytes : -1;
  }

  /** Where the next read begins, bytes. */
  get offset(): number {
    return this.#offset;
  }

  /** Of the bytes before `offset`. */
  get anchor(): Anchor {
    return this.#anchor;
  }

  /** True if everything read is acknowledged. */
  get idle(): boolean {
    return this.#tracker.idle;
  }

  /** The name of the file's content at the hub. */
  get source(): SourceId {
    return sourceOf(this.#options.key, this.row);
  }

  /** True if everything of an earlier generation is acknowledged. */
  settled(generation: number): boolean {
    return this.#earlier.get(generation)?.idle ?? true;
  }

  /** True if bytes up to `to` may be sent: the fingerprint that recognises them is on disk. */
  isRecorded(to: number): boolean {
    const wanted = to >= HEAD_BYTES ? HEAD_BYTES : 0;
    return this.#recordedBytes >= wanted;
  }

  /**
   * Stores the generation on disk, with a name made of `first`, its first bytes: if it is lost, a restart gives the
   * same content the same name and other content another one.
   */
  record(first: Buffer): Promise<void> {
    const { row } = this;
    if (row.source === null && this.#recordedBytes < 0) {
      row.source = { fileKey: this.#options.key, generation: this.#nameOf(first) };
      this.#options.onChange();
    }
    return this.#persist(row.generation, row.head.bytes);
  }

  /** Records that bytes up to `to` are sent; returns the callback for their acknowledgement. */
  begin(to: number, anchor: Anchor): () => void {
    const tracker = this.#tracker;
    const flight = tracker.begin(this.#offset, to, anchor);
    this.#anchor = anchor;
    this.#offset = to;
    return () => this.#settle(tracker, flight);
  }

  /** Continues at `offset` without sending the bytes before it, which aren't needed. */
  skipTo(offset: number): void {
    const { row } = this;
    row.sent = offset;
    row.committed = offset;
    this.#tracker = new AckTracker(offset, row.anchor);
    this.#offset = offset;
    this.#options.onChange();
  }

  /** Goes back to the committed offset. Data in flight arrives a second time, and the hub drops it. */
  rewind(): void {
    const { row } = this;
    const offset = Math.min(row.committed, row.sent);
    row.sent = offset;
    row.anchor = NO_ANCHOR;
    this.#tracker = new AckTracker(offset, row.anchor);
    this.#offset = offset;
    this.#anchor = row.anchor;
    this.#options.onChange();
  }

  /** Begins at 0 because the content was replaced, and remembers how far the previous one was sent. */
  beginGeneration(): void {
    const { row } = this;
    const { sent, anchor } = this.#tracker;
    const { path, committed, head } = row;
    const ended = { source: this.source, path, offset: sent, committed, anchor, head };
    row.earlier = [{ ...ended, generation: row.generation }, ...row.earlier].slice(0, EARLIER_MAX);
    this.#earlier.set(row.generation, this.#tracker);
    for (const [generation, tracker] of this.#earlier) if (tracker.idle) this.#earlier.delete(generation);
    row.generation++;
    row.source = null;
    row.sent = 0;
    row.committed = 0;
    row.anchor = NO_ANCHOR;
    row.head = NO_ANCHOR;
    row.cuts = [];
    row.tail = null;
    this.#tracker = new AckTracker(0, NO_ANCHOR);
    this.#anchor = NO_ANCHOR;
    this.#offset = 0;
    this.#recordedBytes = -1;
    this.#options.onChange();
  }

  async #persist(generation: number, headBytes: number): Promise<void> {
    await this.#options.persist();
    if (this.row.generation === generation) this.#recordedBytes = headBytes;
  }

  /** Returns a number for content that begins with `first`; no other generation of the file has it. */
  #nameOf(first: Buffer): number {
    const newline = first.indexOf("\n");
    const length = Math.min(newline < 0 ? first.length : newline + 1, NAME_BYTES);
    const { key } = this.#options;
    const taken = this.row.earlier.map(({ source }) => (source.fileKey === key ? source.generation : -1));
    let name = FIRST_NAME + (hash("sha256", first.subarray(0, length), "buffer").readUInt32BE() >>> 2);
    while (taken.includes(name)) name++;
    return name;
  }

  /** Moves the row when a batch is acknowledged; its generation may have ended by then. */
  #settle(tracker: AckTracker, flight: Flight): void {
    if (!tracker.ack(flight)) return;
    const { row } = this;
    if (tracker === this.#tracker) {
      row.sent = tracker.sent;
      row.anchor = tracker.anchor;
      if (!this.#options.confirmsCommits) row.committed = row.sent;
    } else {
      row.earlier = row.earlier.map((each) =>
        this.#earlier.get(each.generation) === tracker && tracker.sent > each.offset
          ? { ...each, offset: tracker.sent, anchor: tracker.anchor }
          : each,
      );
    }
    this.#options.onChange();
  }
}
