/**
 * The processor of one partition of RAW: messages leave in the order in which they arrive, each message's documents are
 * in DOC before the next one's, and its cursor covers a message only after that.
 */

import type { MessageOutput } from "#hub/pipeline/batch/document-packer.ts";
import type { RawHeader } from "#hub/pipeline/batch/raw-header.ts";
import type { WorkItem, WorkResult } from "#hub/pipeline/batch/worker-protocol.ts";
import type { DocumentOrigin, SourceRange } from "#proto/document-batch.ts";
import { type AppError, toAppError } from "#proto/kit/errors.ts";
import type { Interval } from "#proto/kit/interval-set.ts";
import { comparePositions, type Position, START } from "#proto/position.ts";
import { type CursorStore, SourceRanges, type StoredSource } from "./cursor.ts";
import { Outlet, type OutletDeps } from "./outlet.ts";
import type { CursorEvent, RawEntry } from "./ports.ts";

export interface PartitionDeps extends OutletDeps {
  /** Hands a message to the workers. */
  readonly process: (item: WorkItem, events: number) => Promise<WorkResult>;
  /** Called when a message taken up is finished, or given back unfinished at the stop. */
  readonly release: (bytes: number, madeBytes: number) => void;
  /** Called with how many bytes were made of a message that is taken up. */
  readonly made: (bytes: number) => void;
  /** Called when all that a message led to is durable. */
  readonly finished?: (sequence: number) => void;
  /** True where the session reads no further: what it gives back the next one reads again. */
  readonly isEnding?: () => boolean;
  /** Cursors stay below this sequence: a filter needs the message there. Without it none is needed. */
  readonly heldFrom?: () => number;
}

export interface PartitionStart {
  readonly partition: number;
  readonly rawPosition: Position;
  readonly docPosition: Position;
  /** See WrittenDocuments. */
  readonly docIncarnation: number;
  readonly sources: readonly StoredSource[];
  readonly store: CursorStore;
}

/** A message whose results are durable, until the cursor may cover it. */
interface Settled {
  readonly position: Position;
  readonly key: string;
  readonly ranges: readonly Interval[];
}

/** A message in flight. */
interface Passage {
  readonly entry: RawEntry;
  /** Undefined where the message is refused. */
  readonly header: RawHeader | undefined;
  /** Why it is refused; empty with a header. */
  readonly refusal: string;
  readonly ranges: readonly Interval[];
  readonly bytes: number;
  /** Made of it; 0 until there is a result. */
  madeBytes: number;
  isReleased: boolean;
  readonly result: Promise<WorkResult>;
  readonly startedMs: number;
}

export class Partition {
  readonly partition: number;
  readonly #deps: PartitionDeps;
  readonly #outlet: Outlet;
  readonly #store: CursorStore;
  readonly #ranges: SourceRanges;
  readonly #queue: Passage[] = [];
  readonly #settled: Settled[] = [];
  readonly #moved = new Map<string, Interval>();
  readonly #abort: AbortSignal;
  readonly #docIncarnation: number;
  #taken: Position;
  #finished: Position;
  #saved: Position;
  #docPosition: Position;
  #draining: Promise<void> = Promise.resolve();
  #isDraining = false;
  #isClosed = false;
  #failure: AppError | undefined;

  /** `abort` ends the attempts to write what is in flight. */
  constructor(start: PartitionStart, deps: PartitionDeps, abort: AbortSignal) {
    this.partition = start.partition;
    this.#deps = deps;
    this.#outlet = new Outlet(deps, abort);
    this.#store = start.store;
    this.#ranges = new SourceRanges(start.sources);
    this.#taken = start.rawPosition;
    this.#finished = start.rawPosition;
    this.#saved = start.rawPosition;
    this.#docPosition = start.docPosition;
    this.#docIncarnation = start.docIncarnation;
    this.#abort = abort;
  }

  /** Messages at or before need nothing more, and the stored cursor says so. */
  get savedPosition(): Position {
    return this.#saved;
  }

  get docPosition(): Position {
    return this.#docPosition;
  }

  /** True where the stored cursor doesn't cover everything that was read: after a failure that may be anything. */
  get isBehind(): boolean {
    return this.#failure !== undefined || comparePositions(this.#taken, this.#saved) > 0;
  }

  /** True where saving would move the stored cursor. */
  get canSave(): boolean {
    this.#cover();
    return this.#failure === undefined && comparePositions(this.#finished, this.#saved) > 0;
  }

  /** True after a failure, such as another hub's write of the cursor: it takes nothing any more. */
  get hasFailed(): boolean {
    return this.#failure !== undefined;
  }

  /** Messages that are taken up and not finished. */
  get inFlight(): number {
    return this.#queue.length;
  }

  get sources(): number {
    return this.#ranges.size;
  }

  get forgottenSources(): number {
    return this.#ranges.forgotten;
  }

  get closedGaps(): number {
    return this.#ranges.closedGaps;
  }

  /** Returns false for a message that was taken up already, and for all after a failure or `close`. */
  wants(position: Position): boolean {
    return !this.hasFailed && !this.#isClosed && comparePositions(position, this.#taken) > 0;
  }

  /** Takes no further messages; those taken up are finished. */
  close(): void {
    this.#isClosed = true;
  }

  /** Takes up a message that `wants` accepted; `bytes` are released when it is finished. A text: why the message is refused. */
  accept(entry: RawEntry, read: RawHeader | string, bytes: number): void {
    const header = typeof read === "string" ? undefined : read;
    const refusal = typeof read === "string" ? read : "";
    const { clock, metrics, process } = this.#deps;
    this.#taken = entry.position;
    metrics.messages.inc();
    const ranges =
      header === undefined ? [] : this.#ranges.plan(header.sourceKey, header.from, header.to, clock.now());
    if (header !== undefined) metrics.repeatedBytes.inc(header.to - header.from - lengthOf(ranges));
    const result =
      header !== undefined && ranges.length > 0
        ? process({ data: entry.data, ranges, sequence: entry.position.sequence }, header.events)
        : UNREAD;
    const passage: Passage = {
      entry,
      header,
      refusal,
      ranges,
      bytes,
      madeBytes: 0,
      isReleased: false,
      result,
      startedMs: clock.monotonic(),
    };
    // The queue awaits it in its turn; until then a rejection has no handler.
    result.then((made) => this.#charge(passage, made)).catch(() => undefined);
    this.#queue.push(passage);
    if (!this.#isDraining) this.#draining = this.#drain();
  }

  /** Resolves when nothing is in flight. */
  async idle(): Promise<void> {
    while (this.#isDraining) await this.#draining;
  }

  /** Stores the cursor and returns what it covers now. Throws journal_conflict, after which the partition is dead. */
  async save(): Promise<CursorEvent> {
    const rawPosition = this.#finished;
    const docPosition = this.#docPosition;
    const docIncarnation = this.#docIncarnation;
    const sources = this.#ranges.store(this.#deps.clock.now());
    const moved = [...this.#moved];
    this.#moved.clear();
    try {
      await this.#store.save({ rawPosition, docPosition, docIncarnation, sources });
    } catch (error) {
      for (const [key, range] of moved) if (!this.#moved.has(key)) this.#moved.set(key, range);
      const failure = toAppError(error);
      if (failure.code === "journal_conflict") this.#failure = failure;
      throw failure;
    }
    this.#saved = rawPosition;
    const ranges = moved.map(([key, [from, to]]): SourceRange => ({ key, from, to }));
    return { partition: this.partition, rawPosition, docPosition, docIncarnation, sources: ranges };
  }

  async #drain(): Promise<void> {
    this.#isDraining = true;
    try {
      while (this.#queue.length > 0 && !this.#abort.aborted && this.#failure === undefined) {
        const passage = this.#queue[0]!;
        await this.#finish(passage);
        this.#queue.shift();
        this.#release(passage);
      }
    } catch (error) {
      const failure = toAppError(error);
      const isGivenBack = failure.code === "cancelled" && this.#deps.isEnding?.() === true;
      if (!this.#abort.aborted && !isGivenBack) {
        this.#failure = failure;
        this.#deps.log.error(
          { err: error, partition: this.partition },
          "a partition of the pipeline stopped",
        );
      }
    } finally {
      this.#isDraining = false;
    }
    for (const passage of this.#queue.splice(0)) this.#release(passage);
  }

  #charge(passage: Passage, result: WorkResult): void {
    if (passage.isReleased || "failure" in result) return;
    passage.madeBytes = bytesOf(result.output);
    this.#deps.made(passage.madeBytes);
  }

  #release(passage: Passage): void {
    passage.isReleased = true;
    this.#deps.release(passage.bytes, passage.madeBytes);
  }

  async #finish({ entry, header, refusal, ranges, result, startedMs }: Passage): Promise<void> {
    const { metrics, clock } = this.#deps;
    if (header === undefined) {
      await this.#giveUp(entry, "", 0, refusal);
    } else if (ranges.length > 0) {
      await this.#deliver(entry, header, ranges, await result);
    }
    this.#settled.push({ position: entry.position, key: header?.sourceKey ?? "", ranges });
    this.#deps.finished?.(entry.position.sequence);
    this.#cover();
    metrics.seconds.observe((clock.monotonic() - startedMs) / 1000);
  }

  /** Lets the cursor cover what is settled, up to the first message that a filter needs. */
  #cover(): void {
    const heldFrom = this.#deps.heldFrom?.() ?? Number.POSITIVE_INFINITY;
    for (let next = this.#settled[0]; next !== undefined; next = this.#settled[0]) {
      const { position, key, ranges } = next;
      if (position.sequence >= heldFrom) return;
      this.#settled.shift();
      if (ranges.length > 0) this.#moved.set(key, this.#ranges.finish(key, ranges));
      this.#finished = position;
    }
  }

  async #deliver(
    entry: RawEntry,
    { sourceKey, from }: RawHeader,
    ranges: readonly Interval[],
    result: WorkResult,
  ): Promise<void> {
    if ("failure" in result) return this.#giveUp(entry, sourceKey, from, result.failure.reason);
    const sources = ranges.map(([start, end]): SourceRange => ({ key: sourceKey, from: start, to: end }));
    const position = (await this.#outlet.deliver(result.output, originOf(entry), sources)) ?? START;
    if (comparePositions(position, this.#docPosition) > 0) this.#docPosition = position;
  }

  #giveUp(entry: RawEntry, sourceKey: string, offset: number, reason: string): Promise<void> {
    const { sequence } = entry.position;
    this.#deps.log.error({ reason, sourceKey, sequence }, "a message is given up; see the dead letters");
    const origin = originOf(entry);
    return this.#outlet.deadLetter({
      reason,
      plugin: "worker",
      origin,
      sourceKey,
      offset,
      kind: "batch",
      data: entry.data,
    });
  }
}

/** The result of a message that no worker sees. */
const UNREAD: Promise<WorkResult> = Promise.resolve({ failure: { reason: "", retryable: false } });

/** Returns the bytes that wait to be written for a message. */
function bytesOf({ documents, records, rejected }: MessageOutput): number {
  let bytes = documents.bytes.length;
  for (const each of records) bytes += each.bytes.length;
  for (const { event } of rejected) bytes += event.length;
  return bytes;
}

function originOf({ position, partition }: RawEntry): DocumentOrigin {
  return { rawIncarnation: position.incarnation, partition, rawSequence: position.sequence };
}

function lengthOf(ranges: readonly Interval[]): number {
  return ranges.reduce((sum, [from, to]) => sum + to - from, 0);
}
