/** The thread of one simulation: runs it and posts the result. */

import { parentPort, workerData } from "node:worker_threads";
import { toAppError } from "#proto/kit/errors.ts";
import type { GrokQuestion } from "./grok-debug.ts";
import type { SimulateOptions } from "./simulate.ts";

/** What the thread is started for. */
export type Task =
  | { readonly kind: "simulate"; readonly options: SimulateOptions }
  | { readonly kind: "grok"; readonly question: GrokQuestion };

/** A value, or the parts of an error. */
export type Outcome =
  | { readonly value: unknown }
  | { readonly code: string; readonly message: string; readonly data: Readonly<Record<string, unknown>> };

if (parentPort !== null) parentPort.postMessage(await attempt(workerData as Task));

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
