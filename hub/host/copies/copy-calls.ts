/**
 * Calls to the hubs that have the other copies of this hub's shards, over core NATS: subject `hub.<id>.copies`. Question
 * and answer are JSON: a question is a CopyCall, an answer is empty where it was done, else `{"error": text}`.
 */

import { toAppError } from "#proto/kit/errors.ts";
import type { Logger } from "#proto/kit/log.ts";
import type { Counter, Metrics } from "#proto/kit/metrics.ts";
import type { Position } from "#proto/position.ts";

/** What other hubs do with their copies. */
export type CopyOperation = "refresh" | "nextRefresh" | "flush" | "forceMerge";

export interface CopyCall {
  readonly operation: CopyOperation;
  /** Indices by uuid. */
  readonly indices: readonly string[];
  /** Everything of DOC up to here is applied before. */
  readonly after: Position;
  readonly maxSegments?: number;
}

/** Core NATS, as far as calls need it. */
export interface CopyTransport {
  request(
    subject: string,
    data: Uint8Array,
    options: { readonly timeoutMs: number; readonly signal?: AbortSignal },
  ): Promise<Uint8Array>;
  serve(subject: string, answer: (message: { readonly data: Uint8Array }) => Promise<Uint8Array>): () => void;
}

export interface OtherHub {
  readonly id: string;
  /** Changes each time that the hub shows that it lives. */
  readonly revision: number;
}

export interface CopyCallsOptions {
  readonly transport: CopyTransport;
  /** Id of this hub. */
  readonly node: string;
  /** The other hubs that are alive. */
  readonly others: () => readonly OtherHub[];
  readonly log: Logger;
  readonly metrics: Metrics;
}

export class CopyCalls {
  readonly #options: CopyCallsOptions;
  readonly #missed: Counter<"operation">;
  /** Hubs that didn't refresh in time, with the revision then: they aren't asked again until they show that they live. */
  readonly #silent = new Map<string, number>();
  #unserve: (() => void) | undefined;

  constructor(options: CopyCallsOptions) {
    this.#options = options;
    this.#missed = options.metrics.counter(
      "tailrace_cluster_copy_calls_failed_total",
      "calls to the copies of another hub that it didn't answer in time or couldn't do",
      ["operation"],
    );
  }

  /** True where other hubs have copies. */
  get hasOthers(): boolean {
    return this.#options.others().length > 0;
  }

  /** Answers the others' calls with what `run` does, until `stop`. */
  serve(run: (call: CopyCall) => Promise<void>): void {
    const { transport, node } = this.#options;
    this.#unserve = transport.serve(subjectOf(node), async ({ data }) => {
      try {
        await run(JSON.parse(Buffer.from(data).toString()) as CopyCall);
        return new Uint8Array();
      } catch (error) {
        return Buffer.from(JSON.stringify({ error: toAppError(error).message }));
      }
    });
  }

  stop(): void {
    this.#unserve?.();
    this.#unserve = undefined;
  }

  /**
   * Resolves when every other hub has done it, has gone, or has had `timeoutMs`, or when `signal` is aborted. What isn't
   * done is counted: such a hub is about to be taken for dead, or reads the log on and refreshes later. Returns how many
   * hubs these are.
   */
  async everywhere(call: CopyCall, timeoutMs: number, signal?: AbortSignal): Promise<number> {
    const data = Buffer.from(JSON.stringify(call));
    const missed = await Promise.all(
      this.#options.others().map(async ({ id, revision }): Promise<number> => {
        if (this.#silent.get(id) === revision) return 1;
        try {
          await this.#ask(id, data, timeoutMs, signal);
          this.#silent.delete(id);
          return 0;
        } catch (error) {
          const failure = toAppError(error);
          if (failure.code === "unavailable" || signal?.aborted === true) return 0; // no responder: it doesn't serve
          // A merge or flush may take longer than the time it is given, and says nothing of the hub.
          if (failure.code === "timeout" && call.operation === "refresh") this.#silent.set(id, revision);
          this.#missed.inc({ operation: call.operation });
          this.#options.log.warn({ node: id, err: failure }, `another hub didn't do a ${call.operation}`);
          return 1;
        }
      }),
    );
    return missed.reduce((sum, each) => sum + each, 0);
  }

  async #ask(node: string, data: Uint8Array, timeoutMs: number, signal?: AbortSignal): Promise<void> {
    const options = { timeoutMs, ...(signal !== undefined && { signal }) };
    const answer = await this.#options.transport.request(subjectOf(node), data, options);
    if (answer.length === 0) return;
    const { error } = JSON.parse(Buffer.from(answer).toString()) as { readonly error: string };
    throw new Error(error);
  }
}

function subjectOf(node: string): string {
  return `hub.${node}.copies`;
}
