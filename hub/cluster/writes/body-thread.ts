/** Entry point of a thread started by BodyThread: keeps bodies and does jobs with them. */

import { parentPort, workerData } from "node:worker_threads";
import { type KernelSeed, seedThreadKernel } from "#hub/engine/kernel/kernel.ts";
import { AppError, toAppError } from "#proto/kit/errors.ts";
import { lowerThreadPriority } from "#proto/kit/process/thread-priority.ts";
import type { BodyReply, BodyRequest } from "./body-thread-client.ts";
import { BodyWork, memoryOf } from "./body-work.ts";

const port = parentPort;
const bodies = new Map<number, BodyWork>();

if (port !== null) {
  lowerThreadPriority();
  // Shapes are compared with those that the main thread knows.
  seedThreadKernel(workerData as KernelSeed);
  port.on("message", (request: BodyRequest) => {
    const { body } = request;
    if (request.kind === "lend") bodies.set(body, new BodyWork(request.bytes));
    else {
      // A body that its client has left may be freed after it was given back: nobody waits for an answer.
      if (request.kind === "free" && !bodies.has(body)) return;
      const reply = replyTo(request);
      if (request.kind !== "job") bodies.delete(body);
      port.postMessage(reply, memoryOf(reply.result ?? reply.freed ?? null));
    }
  });
}

function replyTo(request: Exclude<BodyRequest, { kind: "lend" }>): BodyReply {
  try {
    const work = bodies.get(request.body);
    if (work === undefined) throw new AppError("internal", "the thread hasn't got this body");
    if (request.kind === "free") return { freed: new Uint8Array(work.bytes.buffer) };
    return { result: request.kind === "job" ? work.run(request.job) : work.bytes };
  } catch (error) {
    const { code, message, detail } = toAppError(error);
    return { error: { code, message, ...(detail !== undefined && { detail }) } };
  }
}
