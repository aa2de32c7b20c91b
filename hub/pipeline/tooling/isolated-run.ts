/** Simulations in a separate thread: a runaway test doesn't delay the hub. */

import { Worker } from "node:worker_threads";
import { AppError, isErrorCode } from "#proto/kit/errors.ts";
import type { GrokAnswer, GrokQuestion } from "./grok-debug.ts";
import type { Outcome, Task } from "./isolated-run-thread.ts";
import type { SimulateOptions, Simulation } from "./simulate.ts";

/** The start of the thread and the work. */
const DEADLINE_MS = 10_000;

const HEAP_MB = 256;

/** Maximum number of threads; further requests are refused with `overloaded`. */
const PARALLEL = 2;

let running = 0;

/** See `simulate`. Throws settings_invalid, timeout, overloaded. */
export function simulateApart(options: SimulateOptions): Promise<Simulation[]> {
  return apart({ kind: "simulate", options }) as Promise<Simulation[]>;
}

/** See `debugGrok`. Throws request_invalid, timeout, overloaded. */
export function debugGrokApart(question: GrokQuestion): Promise<GrokAnswer> {
  return apart({ kind: "grok", question }) as Promise<GrokAnswer>;
}

async function apart(task: Task): Promise<unknown> {
  if (running >= PARALLEL)
    throw new AppError("overloaded", "other simulations are running: try again in a moment");
  running++;
  const worker = new Worker(new URL("./isolated-run-thread.ts", import.meta.url), {
    workerData: task,
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
  });
  const { promise, resolve, reject } = Promise.withResolvers<Outcome>();
  const timer = setTimeout(
    () => reject(new AppError("timeout", `the simulation took longer than ${DEADLINE_MS} ms`)),
    DEADLINE_MS,
  );
  worker.once("message", resolve);
  worker.once("error", (error) =>
    reject(new AppError("request_invalid", `the simulation ended: ${error.message}`)),
  );
  worker.once("exit", () => reject(new AppError("request_invalid", "the simulation ended without a result")));
  try {
    const outcome = await promise;
    if ("value" in outcome) return outcome.value;
    const { code, message, data } = outcome;
    throw new AppError(isErrorCode(code) ? code : "internal", message, { data });
  } finally {
    clearTimeout(timer);
    running--;
    await worker.terminate();
  }
}
