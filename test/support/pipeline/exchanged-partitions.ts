/** Hubs that share a log and exchange its partitions, for tests of what a change of them does. */

import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { setImmediate } from "node:timers/promises";
import { decodeCursor } from "#hub/pipeline/runtime/cursor.ts";
import type { Pipeline } from "#hub/pipeline/runtime/pipeline.ts";
import type { PipelineOptions } from "#hub/pipeline/runtime/pipeline-options.ts";
import type { RawSource } from "#hub/pipeline/runtime/ports.ts";
import { systemClock } from "#proto/kit/clock.ts";
import { setting as logSetting, messages, type Setting, started } from "#test/harness/running-pipeline.ts";

/** Waits of a change are at least this long. */
export const STALL_MS = 3_000;
/** The log lost nothing. */
export const LOSSES = { incarnation: 1, survives: () => true };

/** A log to which lines of partitions are written, and hubs that share it. */
export class World {
  readonly log: Setting = logSetting();
  /** Partitions whose documents aren't taken until `open`. */
  readonly held = new Set<number>();
  /** Calls of the sink with documents of a held partition. */
  holding = 0;
  readonly #context: TestContext;
  readonly #lengths = new Map<number, { lines: number; bytes: number }>();
  #opened = Promise.withResolvers<void>();

  constructor(context: TestContext) {
    this.#context = context;
    context.after(() => this.open());
    this.log.sink.before = async ({ partition }) => {
      if (!this.held.has(partition)) return;
      this.holding++;
      await this.#opened.promise;
    };
  }

  /** Writes further lines of a partition, such as `7/0`, one a message. */
  write(partition: number, count: number): void {
    const file = this.#lengths.get(partition) ?? { lines: 0, bytes: 0 };
    this.#lengths.set(partition, file);
    for (let at = 0; at < count; at++) {
      const text = `${partition}/${file.lines++}\n`;
      this.log.raw.append({ text, from: file.bytes, fileKey: `f${partition}`, partition });
      file.bytes += text.length;
    }
  }

  /** All lines that were written, sorted. */
  get written(): string[] {
    return [...this.#lengths]
      .flatMap(([partition, { lines }]) => Array.from({ length: lines }, (_, at) => `${partition}/${at}`))
      .sort();
  }

  hub(options: Partial<PipelineOptions> = {}): Promise<Pipeline> {
    return started(this.#context, this.log, { sharing: { mayWrite: () => true }, ...options });
  }

  /** The lines of all documents, sorted. */
  get arrived(): string[] {
    return messages(this.log.sink).map(String).sort();
  }

  open(): void {
    this.held.clear();
    this.#opened.resolve();
    this.#opened = Promise.withResolvers();
  }

  async untilHeld(): Promise<void> {
    while (this.holding === 0) await setImmediate();
  }

  /** Sequence in RAW up to which a partition's stored cursor covers it. */
  async covered(partition: number): Promise<number> {
    const entry = await this.log.cursors.get(`cursor.${partition}`);
    return entry === null ? 0 : decodeCursor(entry.key, entry.value).rawPosition.sequence;
  }

  /** Asserts that each line was written to the sink, and no message more than once. */
  assertOnce(): void {
    const { sink } = this.log;
    assert.deepEqual(this.arrived, this.written);
    const origins = sink.writes.map(({ origin }) => origin.rawSequence);
    assert.equal(origins.length, new Set(origins).size, "a message was processed twice");
  }
}

/** Counts the readers of a log, of which those after the first wait for `open` before each message. */
export class HeldReaders implements RawSource {
  begun = 0;
  open = 0;
  readonly #source: RawSource;
  readonly #opened = Promise.withResolvers<void>();

  constructor(source: RawSource) {
    this.#source = source;
  }

  async *read(options: Parameters<RawSource["read"]>[0]) {
    const isFirst = this.begun++ === 0;
    this.open++;
    try {
      for await (const entry of this.#source.read(options)) {
        if (!isFirst) await this.#opened.promise;
        yield entry;
      }
    } finally {
      this.open--;
    }
  }

  letGo(): void {
    this.#opened.resolve();
  }
}

/** Whether a promise has settled. */
export function follow(promise: Promise<unknown>): { isOver: boolean } {
  const state = { isOver: false };
  promise.then(
    () => (state.isOver = true),
    () => (state.isOver = true),
  );
  return state;
}

/** A clock whose waits for blocked outputs are short. */
export const hasty: typeof systemClock = {
  ...systemClock,
  sleep: (ms, signal) => systemClock.sleep(ms >= STALL_MS ? ms / 20 : ms, signal),
};
