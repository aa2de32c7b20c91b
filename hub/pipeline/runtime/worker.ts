/** A thread of the pipeline: takes RAW messages, gives documents back. */

import { parentPort, workerData } from "node:worker_threads";
import { systemClock } from "#proto/kit/clock.ts";
import { AppError } from "#proto/kit/errors.ts";
import { DefaultPipeline } from "../default/default-pipeline.ts";
import { DocumentPacker, transferList } from "./packed-documents.ts";
import { decodeRawMessage, type MessageProcessor } from "./raw-message.ts";
import type { WorkerSettings, WorkItem, WorkRequest, WorkResponse, WorkResult } from "./worker-protocol.ts";

/** Documents are about this many times as long as the lines they are made of. */
const GROWTH = 4;

if (parentPort !== null) serve(parentPort, workerData as WorkerSettings);

function serve(port: NonNullable<typeof parentPort>, settings: WorkerSettings): void {
  const processor = new DefaultPipeline(settings.pipelineId, systemClock);
  port.on("message", ({ id, items }: WorkRequest) => {
    const results = items.map((item) => work(processor, item));
    const handedOver = results.flatMap((result) =>
      "documents" in result ? transferList(result.documents) : [],
    );
    port.postMessage({ id, results } satisfies WorkResponse, handedOver);
  });
  port.postMessage({ id: 0, results: [] } satisfies WorkResponse);
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
