/**
 * Calls to the hubs that have the other copies of this hub's shards, by links or core NATS: subject `hub.<id>.copies`. Request and
 * answer are JSON: a request is a CopyCall; an answer is empty if the call succeeded, else `{"error": text, "code": code}`,
 * without the code from hubs of earlier versions.
 */

import type { HubTransport } from "#hub/cluster/links/hub-transport.ts";
import { AppError, isErrorCode, toAppError } from "#proto/kit/errors.ts";
import type { Logger } from "#proto/kit/log.ts";
import type { Counter, Metrics } from "#proto/kit/metrics.ts";
import type { Position } from "#proto/position.ts";

/** Operations of other hubs on their copies. */
export type CopyOperation = "refresh" | "nextRefresh" | "flush" | "forceMerge";

export interface CopyCall {
  readonly operation: CopyOperation;
  /** Indices by uuid. */
  readonly indices: readonly string[];
  /** Everything of DOC up to here is applied first. */
  readonly after: Position;
  readonly maxSegments?: number;
}

interface Failure {
  readonly error: string;
  readonly code?: string;
}

export interface OtherHub {
  readonly id: string;
  /** Changes each time the hub renews its membership. */
  readonly revision: number;
}

export interface CopyCallsOptions {
  readonly transport: HubTransport;
  /** Id of this hub. */
  readonly node: string;
  /** The other live hubs. */
  readonly others: () => readonly OtherHub[];
  readonly log: Logger;
  readonly metrics: Metrics;
}

export class CopyCalls {
  readonly #options: CopyCallsOptions;
  readonly #missed: Counter<"operation">;
  /** Hubs that didn't refresh in time, with their revision then: they are called again only after their next renewal. */
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

  /** True if other hubs have copies. */
  get hasOthers(): boolean {
    return this.#options.others().length > 0;
  }

  /** Answers the others' calls by `run`, until `stop`. */
  serve(run: (call: CopyCall) => Promise<void>): void {
    const { transport, node } = this.#options;
    this.#unserve = transport.serve(subjectOf(node), async ({ data }) => {
      try {
        await run(JSON.parse(Buffer.from(data).toString()) as CopyCall);
        return new Uint8Array();
      } catch (error) {
        const { code, message } = toAppError(error);
        return Buffer.from(JSON.stringify({ error: message, code }));
      }
    });
  }

  stop(): void {
    this.#unserve?.();
    this.#unserve = undefined;
  }

  /**
   * Resolves when every other hub has executed the call, is gone, or has used up `timeoutMs`, or when `signal` is aborted.
   * Returns the number of hubs that didn't execute it: they are about to be marked as lost, or continue reading the log and
   * refresh later.
   */
  async everywhere(call: CopyCall, timeoutMs: number, signal?: AbortSignal): Promise<number> {
    const data = Buffer.from(JSON.stringify(call));
    const missed = await Promise.all(
      this.#options.others().map(async ({ id, revision }): Promise<number> => {
        if (this.#silent.get(id) === revision) return 1;
        let failure: AppError | null;
        try {
          failure = await this.#ask(id, data, timeoutMs, signal);
          this.#silent.delete(id);
        } catch (error) {
          failure = toAppError(error);
          if (failure.code === "unavailable" || signal?.aborted === true) return 0; // no responder: the hub doesn't serve calls
          // A merge or flush may exceed its time without a fault of the hub.
          if (failure.code === "timeout" && call.operation === "refresh") this.#silent.set(id, revision);
        }
        if (failure === null) return 0;
        this.#missed.inc({ operation: call.operation });
        this.#options.log.warn({ node: id, err: failure }, `another hub didn't do a ${call.operation}`);
        return 1;
      }),
    );
    return missed.reduce((sum, each) => sum + each, 0);
  }

  /** Returns why the other hub couldn't execute the call; null if it did. Throws if it doesn't answer. */
  async #ask(
    node: string,
    data: Uint8Array,
    timeoutMs: number,
    signal?: AbortSignal,
  ): Promise<AppError | null> {
    const options = { timeoutMs, repeatable: true, ...(signal !== undefined && { signal }) };
    const answer = await this.#options.transport.request(subjectOf(node), data, options);
    if (answer.length === 0) return null;
    const { error, code = "" } = JSON.parse(Buffer.from(answer).toString()) as Failure;
    return new AppError(isErrorCode(code) ? code : "internal", error);
  }
}

function subjectOf(node: string): string {
  return `hub.${node}.copies`;
}
