/** Simulations in a thread of their own: what somebody tries out may run wild without holding up the hub. */

import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import { AppError, isErrorCode, toAppError } from "#proto/kit/errors.ts";
import type { GrokAnswer, GrokQuestion } from "./grok-debug.ts";
import type { SimulateOptions, Simulation } from "./simulate.ts";

/** The start of the thread and the work. */
const DEADLINE_MS = 10_000;

const HEAP_MB = 256;

/** Threads at the same time; further askers are told to come again. */
const PARALLEL = 2;

type Task =
  | { readonly kind: "simulate"; readonly options: SimulateOptions }
  | { readonly kind: "grok"; readonly question: GrokQuestion };

type Outcome =
  | { readonly value: unknown }
  | { readonly code: string; readonly message: string; readonly data: Readonly<Record<string, unknown>> };

let running = 0;

if (!isMainThread && (workerData as { readonly task?: Task } | null)?.task !== undefined) {
  parentPort?.postMessage(await attempt((workerData as { readonly task: Task }).task));
}

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
  const worker = new Worker(new URL(import.meta.url), {
    workerData: { task },
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

async function attempt(task: Task): Promise<Outcome> {
  try {
    if (task.kind === "simulate") {
      const { simulate } = await import("./simulate.ts");
      return { value: await simulate(task.options) };
    }
    const { debugGrok } = await import("./grok-debug.ts");
    return { value: debugGrok(task.question) };
  } catch (error) {
    if (task.kind === "grok") return { code: "request_invalid", message: (error as Error).message, data: {} };
    const { code, message, data } = toAppError(error);
    return { code, message, data };
  }
}
