/** Parts of a log in memory for the tests of the pipeline: RAW to read, DOC folded by the shards' rules. */

import type {
  DeadLetter,
  DeadLetterSink,
  DocumentSink,
  RawEntry,
  RawSource,
} from "#hub/pipeline/runtime/ports.ts";
import {
  type BatchDocument,
  type DocumentBatch,
  type DocumentOrigin,
  documentsOf,
  type SourceRange,
} from "#proto/document-batch.ts";
import { AppError } from "#proto/kit/errors.ts";
import { IntervalSet } from "#proto/kit/interval-set.ts";
import { LogBatch, type tailrace } from "#proto/messages.ts";
import { comparePositions, type Position } from "#proto/position.ts";

/** The agent that sends unless a block says otherwise. */
export const AGENT_ID = "0d5c1f4e-8a44-4c4e-9c7e-0f6f6b1c2d3e";

export interface Block {
  /** Whose subject the message is on, and whom it names. */
  readonly sender?: string;
  readonly agentId?: string;
  readonly pipelineId?: string;
  readonly text: string;
  readonly from?: number;
  readonly fileKey?: string;
  readonly partition?: number;
  readonly hostName?: string;
  readonly properties?: Partial<tailrace.LogBlock.$Properties>;
}

/** Returns an encoded LogBatch of one file's text. */
export function encodeBlock(block: Block): Uint8Array {
  const { text, from = 0, fileKey = "f", properties = {} } = block;
  const data = Buffer.from(text);
  return LogBatch.encode({
    agentId: block.agentId ?? AGENT_ID,
    pipelineId: block.pipelineId ?? "",
    epoch: 1,
    number: 1,
    agentName: "web-1",
    agentVersion: "6.5.0",
    hostName: block.hostName ?? "host-1",
    block: {
      source: { inputId: "i", inputType: "log", fileKey, generation: 0, path: `/var/log/${fileKey}` },
      from,
      to: from + data.length,
      readTimeMs: Date.UTC(2024, 0, 2),
      dataBytes: data.length,
      data,
      ...properties,
    },
  }).finish();
}

/** RAW: what is appended is read once by each reader. */
export class MemoryRaw implements RawSource {
  readonly entries: RawEntry[] = [];
  /** Entries that readers have asked for, to see backpressure. */
  taken = 0;
  #wake = Promise.withResolvers<void>();

  append(block: Block): Position {
    const position = { incarnation: 1, sequence: this.entries.length + 1 };
    this.entries.push({
      position,
      partition: block.partition ?? 7,
      sender: block.sender ?? AGENT_ID,
      data: encodeBlock(block),
    });
    this.#wake.resolve();
    this.#wake = Promise.withResolvers();
    return position;
  }

  /** Appends bytes that aren't a LogBatch. */
  appendBytes(data: Uint8Array, partition = 7): void {
    const position = { incarnation: 1, sequence: this.entries.length + 1 };
    this.entries.push({ position, partition, sender: AGENT_ID, data });
  }

  async *read({ after, signal }: { after: Position; signal: AbortSignal }): AsyncIterable<RawEntry> {
    let at = this.entries.findIndex(({ position }) => comparePositions(position, after) > 0);
    if (at < 0) at = this.entries.length;
    const stop = Promise.withResolvers<void>();
    signal.addEventListener("abort", () => stop.resolve(), { once: true });
    while (!signal.aborted) {
      const entry = this.entries[at];
      if (entry === undefined) {
        await Promise.race([this.#wake.promise, stop.promise]);
      } else {
        this.taken++;
        at++;
        yield entry;
      }
    }
  }
}

/** DOC with one shard that applies the rules of the common log: repeated messages, ordinals and ranges are dropped. */
export class FoldingSink implements DocumentSink {
  readonly documents: {
    readonly id: string;
    readonly index: string;
    readonly source: Record<string, unknown>;
  }[] = [];
  readonly writes: { origin: DocumentOrigin; sources: readonly SourceRange[]; count: number }[] = [];
  readonly letters: DeadLetter[] = [];
  /** Called before each write; may wait or throw. */
  before: (origin: DocumentOrigin) => Promise<void> | void = () => undefined;
  readonly #next = new Map<number, { sequence: number; ordinal: number }>();
  readonly #ranges = new Map<string, IntervalSet>();
  #sequence = 0;
  #waiters: { count: number; resolve: () => void }[] = [];

  /** Takes what no output will take. */
  readonly deadLetters: DeadLetterSink = {
    write: async (letter) => {
      this.letters.push(letter);
      this.#tell();
    },
  };

  async write(
    origin: DocumentOrigin,
    sources: readonly SourceRange[],
    documents: DocumentBatch,
  ): Promise<Position> {
    await this.before(origin);
    this.#fold(origin, sources, documentsOf(documents, sources));
    this.#tell();
    return { incarnation: 1, sequence: ++this.#sequence };
  }

  /** Resolves when at least `count` documents and letters are there. */
  reached(count: number): Promise<void> {
    return new Promise((resolve) => {
      this.#waiters.push({ count, resolve });
      this.#tell();
    });
  }

  #fold(origin: DocumentOrigin, sources: readonly SourceRange[], documents: readonly BatchDocument[]): void {
    this.writes.push({ origin, sources, count: documents.length });
    const next = this.#next.get(origin.partition) ?? { sequence: 0, ordinal: 0 };
    if (origin.rawSequence < next.sequence) return;
    const floor = origin.rawSequence === next.sequence ? next.ordinal : 0;
    const before = new Map(
      sources.map(({ key }) => [key, new IntervalSet(this.#ranges.get(key)?.toArray() ?? [])]),
    );
    let last = -1;
    for (const { id, index, source, ordinal, sourceIndex, offset } of documents) {
      if (ordinal <= last) throw new AppError("internal", `ordinal ${ordinal} after ${last}`);
      last = ordinal;
      const repeated =
        ordinal < floor || (floor === 0 && before.get(sources[sourceIndex - 1]!.key)!.has(offset));
      if (!repeated) this.documents.push({ id, index, source: JSON.parse(Buffer.from(source).toString()) });
    }
    for (const { key, from, to } of sources) {
      const ranges = this.#ranges.get(key) ?? new IntervalSet();
      ranges.add(from, to);
      this.#ranges.set(key, ranges);
    }
    this.#next.set(origin.partition, { sequence: origin.rawSequence, ordinal: last + 1 });
  }

  #tell(): void {
    const there = this.documents.length + this.letters.length;
    this.#waiters = this.#waiters.filter(({ count, resolve }) => {
      if (there < count) return true;
      resolve();
      return false;
    });
  }
}
