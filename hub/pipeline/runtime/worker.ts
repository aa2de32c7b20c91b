/** A thread of the pipeline: receives RAW messages, returns documents. */

import { parentPort, workerData } from "node:worker_threads";
import { DocumentPacker, transferList } from "#hub/pipeline/batch/document-packer.ts";
import { JsonWriter } from "#hub/pipeline/batch/json-writer.ts";
import { decodeRawMessage, type MessageProcessor } from "#hub/pipeline/batch/raw-message.ts";
import {
  READY,
  SLOW,
  STATISTICS,
  type WorkerSettings,
  type WorkItem,
  type WorkRequest,
  type WorkResponse,
  type WorkResult,
} from "#hub/pipeline/batch/worker-protocol.ts";
import { RegexpGuard, RegexpTimeout } from "#hub/pipeline/regexp/regexp-guard.ts";
import { systemClock } from "#proto/kit/clock.ts";
import { AppError } from "#proto/kit/errors.ts";
import { freeBytes } from "#proto/kit/large-bytes.ts";
import { HeapKeeper, OWN_HEAP } from "#proto/kit/process/thread-heap.ts";
import { lowerThreadPriority } from "#proto/kit/process/thread-priority.ts";
import { DefaultPipeline } from "../default/default-pipeline.ts";
import type { PipelineSet } from "../program/pipeline-set.ts";

/** Memory that documents are written to: what most messages need, and what is kept of more. */
const FIRST_BYTES = 1024 * 1024;
const KEPT_BYTES = 8 * FIRST_BYTES;

/**
 * Longest that a batch may take where filters keep events. It can't be done again: they would see its events twice. So
 * the thread ends, and the next one reads from the oldest event that is kept.
 */
const STATEFUL_BATCH_MS = 2_000;

/** After such an end each expression has a limit of its own for this long: the batch that took long is repeated. */
const CAREFUL_MS = 30_000;

/** How often a thread reports the statistics of its plugins. */
const STATISTICS_INTERVAL_MS = 1_000;

if (parentPort !== null) await serve(parentPort, workerData as WorkerSettings);

async function serve(port: NonNullable<typeof parentPort>, settings: WorkerSettings): Promise<void> {
  lowerThreadPriority();
  const guard = new RegexpGuard({
    onTimeout: () => port.postMessage({ id: SLOW, results: [] } satisfies WorkResponse),
  });
  const fallback = new DefaultPipeline(settings.defaultId, systemClock);
  const set = await configured(settings, fallback, guard);
  if (settings.isCareful === true) {
    guard.isCareful = true;
    setTimeout(() => {
      guard.isCareful = false;
    }, CAREFUL_MS).unref();
  }
  let json = new JsonWriter(FIRST_BYTES);
  port.on("message", ({ id, items }: WorkRequest) => {
    const batch = (): WorkResult[] =>
      items.length === 0 ? [flush(set)] : items.map((item) => work(set ?? fallback, item, json));
    // The default pipeline has no expressions that could run away.
    const results =
      set === undefined
        ? batch()
        : set.isStateful
          ? guard.runOnce(batch, STATEFUL_BATCH_MS)
          : guard.runBatch(batch);
    if (json.bytes.length > KEPT_BYTES) json = new JsonWriter(FIRST_BYTES);
    // Filters may keep events; the default pipeline keeps nothing of a message.
    if (set === undefined) for (const { data } of items) freeBytes(data);
    const handedOver = results.flatMap((result) => ("output" in result ? transferList(result.output) : []));
    const response = { id, results, heldSequence: set?.heldSequence() };
    port.postMessage(response satisfies WorkResponse, handedOver);
  });
  if (set !== undefined) setInterval(() => tellFigures(port, set), STATISTICS_INTERVAL_MS).unref();
  new HeapKeeper(OWN_HEAP, false).start();
  port.postMessage({ id: READY, results: [] } satisfies WorkResponse);
}

function tellFigures(port: NonNullable<typeof parentPort>, set: PipelineSet): void {
  const statistics = set.takeStatistics();
  if (statistics.length > 0)
    port.postMessage({ id: STATISTICS, results: [], statistics } satisfies WorkResponse);
}

/** The language and the filters are loaded only where a pipeline is configured: they take longer than all the rest. */
async function configured(
  { pipelines, variables }: WorkerSettings,
  fallback: MessageProcessor,
  guard: RegexpGuard,
): Promise<PipelineSet | undefined> {
  if (pipelines.length === 0) return undefined;
  const { PipelineSet } = await import("../program/pipeline-set.ts");
  return PipelineSet.make({ pipelines, fallback, variables, clock: systemClock, guard, isChecked: true });
}

/** `json`: where the documents are written before they are packed; the same memory for each message. */
function work(
  processor: MessageProcessor,
  { data, ranges, sequence }: WorkItem,
  json: JsonWriter,
): WorkResult {
  try {
    const message = decodeRawMessage(data, ranges, sequence);
    const out = new DocumentPacker(json);
    processor.process(message, out);
    return { output: out.pack() };
  } catch (error) {
    // The limit of the batch is the caller's.
    if (error instanceof RegexpTimeout) throw error;
    const isFaultOfMessage = error instanceof AppError && error.code === "data_corrupt";
    const reason = error instanceof Error ? error.message : String(error);
    return { failure: { reason, retryable: !isFaultOfMessage } };
  }
}

function flush(set: PipelineSet | undefined): WorkResult {
  const out = new DocumentPacker(4096);
  set?.flush(out);
  return { output: out.pack() };
}
