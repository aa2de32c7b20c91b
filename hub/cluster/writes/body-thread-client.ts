/** The main thread's side of one body thread: the thread's bodies, and its jobs one after another. */

import { isMarkedAsUntransferable, Worker } from "node:worker_threads";
import type { KernelSeed } from "#hub/engine/kernel/kernel.ts";
import { AppError, type ErrorCode } from "#proto/kit/errors.ts";
import { recycleBytes } from "#proto/kit/large-bytes.ts";
import type { LentBody } from "./append-run.ts";
import type { BodyJob, BodyResults } from "./body-work.ts";

/** A job takes some 20 ms. */
const JOB_LIMIT_MS = 60_000;

/** What is sent to a thread: a body (no answer), a job with one, a request to give it back, or one to give back its memory. */
export type BodyRequest =
  | { readonly kind: "lend"; readonly body: number; readonly bytes: Uint8Array }
  | { readonly kind: "job"; readonly body: number; readonly job: BodyJob }
  | { readonly kind: "reclaim"; readonly body: number }
  | { readonly kind: "free"; readonly body: number };

/** What a thread answers: the result of a job, the bytes that it gives back, or memory that isn't read again. */
export interface BodyReply {
  readonly result?: BodyResults[BodyJob["kind"]] | Uint8Array;
  readonly freed?: Uint8Array;
  readonly error?: { readonly code: ErrorCode; readonly message: string; readonly detail?: string };
}

export interface BodyThreadOptions {
  readonly script: URL;
  readonly seed: KernelSeed;
  /** Time without bodies after which it ends, ms. */
  readonly idleMs: number;
  /** Called when it has ended, with the number of lost bodies. */
  readonly onEnd: (lostBodies: number, cause: unknown) => void;
}

type Result = NonNullable<BodyReply["result"]> | null;

/** A request that waits or is running. */
interface Task {
  readonly request: BodyRequest;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: AppError) => void;
}

export class BodyThread {
  readonly #options: BodyThreadOptions;
  readonly #worker: Worker;
  readonly #bodies = new Set<number>();
  readonly #waiting: Task[] = [];
  #current: Task | undefined;
  #timer: NodeJS.Timeout | undefined;
  #lastBody = 0;
  #cause: unknown;
  /** Why no further work is accepted. */
  #gone: AppError | undefined;

  constructor(options: BodyThreadOptions) {
    this.#options = options;
    this.#worker = new Worker(options.script, { workerData: options.seed });
    // The requests keep the process alive, not their thread.
    this.#worker.unref();
    this.#worker.on("message", (reply: BodyReply) => {
      if (reply.freed === undefined) this.#done(reply);
      else recycleBytes(reply.freed);
    });
    this.#worker.on("error", (error) => {
      this.#cause = error;
    });
    this.#worker.on("exit", () => this.#ended(lost(this.#cause)));
  }

  /** Bodies that it has. */
  get bodies(): number {
    return this.#bodies.size;
  }

  /** See BodyThreads.lend. */
  lend(bytes: Buffer): LentBody {
    const body = ++this.#lastBody;
    // Small buffers share memory that stays here.
    const own = isMarkedAsUntransferable(bytes.buffer) ? new Uint8Array(bytes) : bytes;
    const request = { kind: "lend", body, bytes: own } satisfies BodyRequest;
    this.#worker.postMessage(request, [own.buffer as ArrayBuffer]);
    this.#bodies.add(body);
    // It is no longer idle.
    if (this.#current === undefined) clearTimeout(this.#timer);
    return {
      run: async <J extends BodyJob>(job: J, signal: AbortSignal) =>
        (await this.#ask({ kind: "job", body, job }, signal)) as BodyResults[J["kind"]],
      reclaim: async (signal) => {
        const { buffer, byteOffset, length } = (await this.#ask(
          { kind: "reclaim", body },
          signal,
        )) as Uint8Array;
        this.#forget(body);
        return Buffer.from(buffer, byteOffset, length);
      },
      free: () => {
        if (this.#gone !== undefined || !this.#bodies.has(body)) return;
        this.#worker.postMessage({ kind: "free", body } satisfies BodyRequest);
        this.#forget(body);
      },
    };
  }

  /** Ends it; waiting and running requests fail with closed. */
  async end(): Promise<void> {
    this.#ended(new AppError("closed", "the hub is stopping"));
    await this.#worker.terminate();
  }

  async #ask(request: BodyRequest, signal: AbortSignal): Promise<Result> {
    if (this.#gone !== undefined) throw this.#gone;
    if (signal.aborted) throw givenUp(signal);
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    const task = { request, resolve, reject };
    const leave = (): void => {
      const place = this.#waiting.indexOf(task);
      if (place < 0) return;
      this.#waiting.splice(place, 1);
      reject(givenUp(signal));
    };
    signal.addEventListener("abort", leave, { once: true });
    this.#waiting.push(task);
    this.#next();
    try {
      const result = await promise;
      if (isAborted(signal)) throw givenUp(signal);
      return result;
    } finally {
      signal.removeEventListener("abort", leave);
    }
  }

  #next(): void {
    if (this.#current !== undefined) return;
    this.#current = this.#waiting.shift();
    if (this.#current === undefined) return;
    this.#limit();
    this.#worker.postMessage(this.#current.request);
  }

  #done({ result = null, error }: BodyReply): void {
    const task = this.#current;
    this.#current = undefined;
    clearTimeout(this.#timer);
    if (error === undefined) task?.resolve(result);
    else task?.reject(new AppError(error.code, error.message, error));
    this.#next();
  }

  #forget(body: number): void {
    this.#bodies.delete(body);
    if (this.#bodies.size > 0) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.end(), this.#options.idleMs).unref();
  }

  /** Ends a thread that is stuck. */
  #limit(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#cause = new Error(`a job took longer than ${JOB_LIMIT_MS} ms`);
      void this.#worker.terminate();
    }, JOB_LIMIT_MS).unref();
  }

  #ended(error: AppError): void {
    if (this.#gone !== undefined) return;
    this.#gone = error;
    clearTimeout(this.#timer);
    const tasks = this.#waiting.splice(0);
    if (this.#current !== undefined) tasks.unshift(this.#current);
    for (const { reject } of tasks) reject(error);
    this.#options.onEnd(this.#bodies.size, this.#cause);
  }
}

function lost(cause: unknown): AppError {
  const why = cause instanceof Error ? cause.message : "it ended";
  const text = `the thread that worked on the request's body was lost: ${why}; send the request again`;
  return new AppError("unavailable", text, { cause });
}

/** Why a job is refused whose signal is aborted. */
function givenUp({ reason }: AbortSignal): AppError {
  const cause: unknown = reason;
  if (cause instanceof Error && cause.name === "TimeoutError")
    return new AppError("timeout", "the body wasn't read in time", { cause });
  return new AppError("cancelled", "the client disconnected before its body was read", { cause });
}

/** A function because the compiler assumes that a signal is unchanged after an await. */
function isAborted(signal: AbortSignal): boolean {
  return signal.aborted;
}
