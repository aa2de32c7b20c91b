/** Runs ingest pipelines in a separate thread, so that a runaway regular expression delays nothing else. */

import { Worker } from "node:worker_threads";
import { AppError, type ErrorCode } from "#proto/kit/errors.ts";
import { FIRST_VERSION, type IngestLibrary, type IngestReply, type IngestRequest } from "./ingest-work.ts";

/** Maximum number of requests that wait for the thread; others are refused. */
const MAX_WAITING = 256;
/** The start of the thread and one request. */
const DEADLINE_MS = 60_000;
const HEAP_MB = 512;

export class IngestThread {
  #library: IngestLibrary = { pipelines: {}, scripts: {}, version: FIRST_VERSION };
  #worker: Worker | undefined;
  /** True: the thread doesn't know the newest definitions. */
  #isBehind = false;
  #waiting = 0;
  #last: Promise<unknown> = Promise.resolve();
  #stopped = false;

  /** What pipelines call by their ids from now on. */
  define(library: IngestLibrary): void {
    this.#library = library;
    this.#isBehind = true;
  }

  /** Throws what the request leads to, overloaded, timeout, closed. */
  ask(request: IngestRequest): Promise<unknown> {
    if (this.#stopped) return Promise.reject(new AppError("closed", "the hub is stopping"));
    if (this.#waiting >= MAX_WAITING)
      return Promise.reject(
        new AppError(
          "overloaded",
          `${MAX_WAITING} requests wait for the ingest pipelines: try again in a moment`,
        ),
      );
    this.#waiting++;
    const answer = this.#last.then(() => this.#do(request));
    this.#last = answer.catch(() => undefined);
    return answer.finally(() => {
      this.#waiting--;
    });
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#last;
    await this.#end();
  }

  async #do(request: IngestRequest): Promise<unknown> {
    if (this.#worker === undefined) {
      this.#worker = new Worker(new URL("./ingest-work.ts", import.meta.url), {
        resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
      });
      this.#worker.unref();
      this.#isBehind = true;
    }
    if (this.#isBehind) {
      this.#isBehind = false;
      await this.#exchange({ kind: "define", library: this.#library });
    }
    return this.#exchange(request);
  }

  async #exchange(request: IngestRequest): Promise<unknown> {
    const worker = this.#worker;
    if (worker === undefined) throw new AppError("unavailable", "the thread of the ingest pipelines ended");
    const { promise, resolve, reject } = Promise.withResolvers<IngestReply>();
    const timer = setTimeout(
      () => reject(new AppError("timeout", `the ingest pipelines took longer than ${DEADLINE_MS} ms`)),
      DEADLINE_MS,
    );
    const onError = (error: Error): void =>
      reject(new AppError("unavailable", `the ingest pipelines ended: ${error.message}`));
    const onExit = (): void =>
      reject(new AppError("unavailable", "the thread of the ingest pipelines ended"));
    worker.once("message", resolve).once("error", onError).once("exit", onExit);
    worker.postMessage(request);
    let reply: IngestReply;
    try {
      reply = await promise;
    } catch (error) {
      await this.#end();
      throw error;
    } finally {
      clearTimeout(timer);
      worker.off("message", resolve).off("error", onError).off("exit", onExit);
    }
    if ("value" in reply) return reply.value;
    throw new AppError(reply.code satisfies ErrorCode, reply.message, { data: reply.data });
  }

  async #end(): Promise<void> {
    const worker = this.#worker;
    this.#worker = undefined;
    // A late error of a thread that is being ended has no receiver any more.
    worker?.on("error", () => undefined);
    await worker?.terminate();
  }
}
