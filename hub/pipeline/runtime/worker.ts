/** A thread of the pipeline: takes RAW messages, gives documents back. */

import { parentPort, workerData } from "node:worker_threads";
import { systemClock } from "#proto/kit/clock.ts";
import { AppError } from "#proto/kit/errors.ts";
import { DefaultPipeline } from "../default/default-pipeline.ts";
import { SourceText } from "../language/source-text.ts";
import { RegexpGuard, RegexpTimeout } from "../program/regexp-guard.ts";
import { DocumentPacker, transferList } from "./packed-documents.ts";
import { decodeRawMessage, type MessageProcessor } from "./raw-message.ts";
import {
  READY,
  SLOW,
  type WorkerSettings,
  type WorkItem,
  type WorkRequest,
  type WorkResponse,
  type WorkResult,
} from "./worker-protocol.ts";

/** Documents are about this many times as long as the lines they are made of. */
const GROWTH = 4;

/** A batch is a matter of milliseconds; one that takes this long holds an expression that doesn't end. */
const BATCH_LIMIT_MS = 2_000;

if (parentPort !== null) await serve(parentPort, workerData as WorkerSettings);

async function serve(port: NonNullable<typeof parentPort>, settings: WorkerSettings): Promise<void> {
  const guard = new RegexpGuard(() => port.postMessage({ id: SLOW, results: [] } satisfies WorkResponse));
  const processor = await createProcessor(settings, guard);
  port.on("message", ({ id, items }: WorkRequest) => {
    const batch = (): WorkResult[] => items.map((item) => work(processor, item));
    // The default pipeline has no expressions that could run away.
    const results = settings.files.length === 0 ? batch() : guarded(guard, batch);
    const handedOver = results.flatMap((result) =>
      "documents" in result ? transferList(result.documents) : [],
    );
    port.postMessage({ id, results } satisfies WorkResponse, handedOver);
  });
  port.postMessage({ id: READY, results: [] } satisfies WorkResponse);
}

/** The language and the filters are loaded only where a pipeline is configured: they take longer than all the rest. */
async function createProcessor(
  { pipelineId, files }: WorkerSettings,
  guard: RegexpGuard,
): Promise<MessageProcessor> {
  if (files.length === 0) return new DefaultPipeline(pipelineId, systemClock);
  const { ConfiguredPipeline } = await import("../program/configured-pipeline.ts");
  const sources = files.map(({ path, text }) => new SourceText(path, text));
  return new ConfiguredPipeline({
    id: pipelineId,
    sources,
    variables: process.env,
    clock: systemClock,
    guard,
  });
}

/** Does a batch within one limit; a batch that takes longer is done again with a limit around each expression. */
function guarded(guard: RegexpGuard, batch: () => WorkResult[]): WorkResult[] {
  try {
    return guard.limited(batch, BATCH_LIMIT_MS);
  } catch (error) {
    if (!(error instanceof RegexpTimeout)) throw error;
    guard.careful = true;
    try {
      return batch();
    } finally {
      guard.careful = false;
    }
  }
}

function work(processor: MessageProcessor, { data, ranges }: WorkItem): WorkResult {
  try {
    const message = decodeRawMessage(data, ranges);
    const out = new DocumentPacker(message.data.length * GROWTH + 4096);
    processor.process(message, out);
    return { documents: out.pack() };
  } catch (error) {
    const isFaultOfMessage = error instanceof AppError && error.code === "data_corrupt";
    const reason = error instanceof Error ? error.message : String(error);
    return { failure: { reason, retryable: !isFaultOfMessage } };
  }
}
