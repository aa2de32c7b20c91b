/** A pipeline over a log in memory, for the tests of the runtime. */

import type { TestContext } from "node:test";
import { Pipeline } from "#hub/pipeline/runtime/pipeline.ts";
import type { PipelineOptions } from "#hub/pipeline/runtime/pipeline-options.ts";
import { silentLogger } from "#proto/kit/log.ts";
import { Metrics } from "#proto/kit/metrics.ts";
import { MemoryBucket } from "../support/kit/memory-bucket.ts";
import { FoldingSink, MemoryRaw } from "./pipeline-log.ts";

/** What outlives a pipeline. */
export interface Setting {
  readonly raw: MemoryRaw;
  readonly sink: FoldingSink;
  readonly cursors: MemoryBucket;
}

export function setting(): Setting {
  return { raw: new MemoryRaw(), sink: new FoldingSink(), cursors: new MemoryBucket() };
}

/** Starts a pipeline that ends with the test. */
export async function started(
  t: TestContext,
  { raw, sink, cursors }: Setting,
  options: Partial<PipelineOptions> = {},
) {
  const pipeline = new Pipeline({
    settings: { id: "main", workers: 1, batchSize: 125, batchDelayMs: 1 },
    source: raw,
    sink,
    deadLetters: sink.deadLetters,
    cursors,
    hub: "hub-1",
    log: silentLogger(),
    metrics: new Metrics(),
    ...options,
  });
  t.after(() => pipeline.stop());
  await pipeline.start();
  return pipeline;
}

/** Returns `count` lines with their numbers from `from` on. */
export function numbered(from: number, count: number): string {
  return Array.from({ length: count }, (_, index) => `line ${from + index}\n`).join("");
}

export function messages(sink: FoldingSink): unknown[] {
  return sink.documents.map(({ source }) => source["message"]);
}

/** The lines 0 to `count`, as `messages` gives them. */
export function expectedMessages(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `line ${index}`);
}

/** Appends `count` numbered lines as blocks of `perBlock` lines of one file. */
export function fill(raw: MemoryRaw, count: number, perBlock: number, fileKey = "f", partition = 7): void {
  let offset = 0;
  for (let line = 0; line < count; line += perBlock) {
    const text = numbered(line, perBlock);
    raw.append({ text, from: offset, fileKey, partition });
    offset += text.length;
  }
}
