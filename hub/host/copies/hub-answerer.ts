/** Answers the calls of other hubs to the threads of this one's shards; hub-caller.ts is the other end. */

import type { HubTransport } from "#hub/cluster/links/hub-transport.ts";
import type { CallableHost } from "#hub/host/client/shards-client.ts";
import { OPERATION_NAMES, type OperationName } from "#hub/host/contract/calls.ts";
import { gatherWarnings } from "#hub/search/options/request-version.ts";
import { encodeValue } from "#hub/search/wire/value-writer.ts";
import type { Clock } from "#proto/kit/clock.ts";
import { AppError, toAppError } from "#proto/kit/errors.ts";
import type { Component } from "#proto/kit/lifecycle.ts";
import type { Counter, Metrics } from "#proto/kit/metrics.ts";
import { MIB } from "#proto/kit/units.ts";
import type { CopiesBehind } from "./copy-age.ts";
import {
  decodeQuestion,
  encodeHubAnswer,
  type HubAnswer,
  type HubQuestion,
  type HubReply,
  hostsSubject,
  PIECE_BYTES,
  WAIT_MS,
} from "./hub-call-messages.ts";

/** Maximum of calls that are running or whose answers are kept. */
const MAX_CALLS = 256;
/** Maximum bytes of answers that wait to be fetched. A single answer may be larger: it could never be delivered otherwise. */
const MAX_KEPT_BYTES = 64 * MIB;
/** A call that isn't polled for this long is ended: its hub is gone. */
const IDLE_MS = 20_000;
const LOOK_MS = 2_000;
/** Maximum of remembered calls that ended before they arrived. */
const MAX_ENDED = 4_096;
/** How long a call waits for a thread that is restarting; short because the other hub may find a third copy. */
const READY_MS = 1_000;

/** Operations that other hubs may call. */
const ANSWERED: ReadonlySet<string> = new Set([...OPERATION_NAMES, "reach"]);

const FAILED = { failed: true, parts: [], warnings: [] } as const;

export interface HubAnswererOptions {
  readonly transport: HubTransport;
  /** Id of this hub. */
  readonly node: string;
  /** The threads of this hub's shards. */
  readonly hosts: readonly AnsweringHost[];
  /** Returns whether a hub is live: snapshots of other hubs are closed. */
  readonly isLive: (hub: string) => boolean;
  /** See CopyAge. */
  readonly behind: () => CopiesBehind | undefined;
  readonly clock: Clock;
  readonly metrics: Metrics;
  /** MAX_KEPT_BYTES without it. */
  readonly maxKeptBytes?: number;
}

/** A thread that can be called. */
export interface AnsweringHost extends Pick<CallableHost, "notify"> {
  call(
    operation: string,
    value: unknown,
    options: {
      readonly signal: AbortSignal;
      readonly parts: readonly Uint8Array[];
      readonly readyMs: number;
    },
  ): Promise<{ readonly value: unknown; readonly parts: readonly Uint8Array[] }>;
}

interface OpenCall {
  readonly abort: AbortController;
  /** Resolves with the encoded HubReply. */
  readonly reply: Promise<Uint8Array>;
  usedMs: number;
  /** Of the reply; 0 until there is one. */
  bytes: number;
}

type Begin = Extract<HubQuestion, { readonly kind: "call" }>;

export class HubAnswerer implements Component {
  readonly #options: HubAnswererOptions;
  readonly #answered: Counter;
  readonly #overloaded: Counter;
  readonly #calls = new Map<string, OpenCall>();
  /** Of all replies in #calls. */
  #keptBytes = 0;
  /** Snapshots kept for contexts of other hubs, by the contexts' ids. */
  readonly #snapshots = new Map<string, { readonly from: string; readonly threads: readonly number[] }>();
  /**
   * Calls that ended before they arrived, with when: one that waits on a link while this hub is paused arrives after
   * what its caller sends by NATS meanwhile.
   */
  readonly #ended = new Map<string, number>();
  #unserve: (() => void) | undefined;
  #looking: NodeJS.Timeout | undefined;

  constructor(options: HubAnswererOptions) {
    this.#options = options;
    options.metrics.gauge(
      "tailrace_cluster_calls_open",
      "Calls of other hubs to this hub's shards that are in progress or not yet fetched.",
      [],
      (gauge) => gauge.set(this.#calls.size),
    );
    options.metrics.gauge(
      "tailrace_cluster_calls_kept_bytes",
      "bytes of answers to other hubs that are not fetched yet",
      [],
      (gauge) => gauge.set(this.#keptBytes),
    );
    this.#overloaded = options.metrics.counter(
      "tailrace_cluster_calls_overloaded_total",
      "calls of other hubs refused, as too many are under way or too many bytes of answers are kept",
    );
    this.#answered = options.metrics.counter(
      "tailrace_cluster_calls_answered_total",
      "calls of other hubs to the shards of this one",
    );
  }

  start(): Promise<void> {
    const { transport, node } = this.#options;
    this.#unserve = transport.serve(hostsSubject(node), async ({ data }) => {
      const answer = await this.#answer(data);
      // A caller that has the whole answer doesn't fetch it again.
      return encodeHubAnswer(answer);
    });
    this.#looking = setInterval(() => this.#endIdle(), LOOK_MS).unref();
    return Promise.resolve();
  }

  stop(): Promise<void> {
    this.#unserve?.();
    clearInterval(this.#looking);
    for (const id of this.#calls.keys()) this.#end(id);
    return Promise.resolve();
  }

  async #answer(data: Uint8Array): Promise<HubAnswer> {
    try {
      const question = decodeQuestion(data);
      switch (question.kind) {
        case "call":
          this.#begin(question);
          return await this.#piece(question.id, 0);
        case "wait":
          return await this.#piece(question.id, 0);
        case "read":
          return await this.#piece(question.id, question.offset);
        case "cancel":
          if (this.#calls.has(question.id)) this.#end(question.id);
          else this.#noteEnded(question.id);
          return { state: "running" };
        case "notify":
          if (question.operation === "closeContexts")
            for (const id of question.value as readonly string[]) this.#snapshots.delete(id);
          this.#host(question.thread).notify(question.operation, question.value);
          return { state: "running" };
      }
    } catch (error) {
      return { state: "refused", error: toAppError(error) };
    }
  }

  /** Throws overloaded, not_found, unavailable. */
  #begin(question: Begin): void {
    if (this.#ended.delete(question.id)) throw stoppedWaiting();
    if (this.#calls.size >= MAX_CALLS)
      throw this.#refusal(`a hub answers ${MAX_CALLS} calls of others already; try again later`);
    if (this.#keptBytes >= this.#maxKeptBytes) throw this.#tooManyBytes();
    if (!ANSWERED.has(question.operation))
      throw new AppError("not_found", `a hub has no operation ${question.operation} for others`);
    this.#answered.inc();
    if (question.operation === "openSnapshot") this.#noteSnapshot(question);
    const abort = new AbortController();
    const reply = this.#run(question, abort.signal).then((done) => this.#keep(question.id, abort, done));
    this.#end(question.id);
    this.#calls.set(question.id, { abort, reply, usedMs: this.#options.clock.monotonic(), bytes: 0 });
  }

  /** Counts a reply that is kept until it is fetched. Returns a refusal if too many bytes are kept already. */
  #keep(id: string, abort: AbortController, reply: Uint8Array): Uint8Array {
    const call = this.#calls.get(id);
    if (call?.abort !== abort) return reply; // ended in the meantime
    const fits = this.#keptBytes === 0 || this.#keptBytes + reply.length <= this.#maxKeptBytes;
    const kept = fits ? reply : encodeReply({ ...FAILED, value: this.#tooManyBytes() });
    call.bytes = kept.length;
    this.#keptBytes += kept.length;
    return kept;
  }

  get #maxKeptBytes(): number {
    return this.#options.maxKeptBytes ?? MAX_KEPT_BYTES;
  }

  #tooManyBytes(): AppError {
    const limit = this.#maxKeptBytes / MIB;
    return this.#refusal(
      `a hub keeps ${limit} MiB of answers that others haven't fetched yet; try again later`,
    );
  }

  #refusal(reason: string): AppError {
    this.#overloaded.inc();
    return new AppError("overloaded", reason);
  }

  async #run(question: Begin, signal: AbortSignal): Promise<Uint8Array> {
    const { thread, operation, value, parts, version } = question;
    const warnings = new Set<string>();
    const behind = this.#options.behind()?.error;
    let reply: HubReply;
    try {
      const answer = await gatherWarnings(warnings, version, () =>
        this.#host(thread).call(operation as OperationName, value, { signal, parts, readyMs: READY_MS }),
      );
      const { value: found, parts: all } = answer;
      const lacks = behind === undefined ? {} : { behind };
      reply = { failed: false, value: found, parts: all, warnings: [...warnings], ...lacks };
    } catch (error) {
      reply = { ...FAILED, value: toAppError(error), warnings: [...warnings] };
    }
    return encodeReply(reply);
  }

  /** Returns a piece of an answer once there is one. Throws not_found. */
  async #piece(id: string, offset: number): Promise<HubAnswer> {
    const call = this.#calls.get(id);
    if (call === undefined) {
      this.#noteEnded(id);
      throw stoppedWaiting();
    }
    call.usedMs = this.#options.clock.monotonic();
    const reply = await beforeLate(call.reply);
    if (reply === undefined) return { state: "running" };
    const piece = reply.subarray(offset, offset + PIECE_BYTES);
    if (offset + piece.length >= reply.length) this.#forget(id);
    return { state: "done", bytes: reply.length, piece };
  }

  #noteSnapshot({ value, thread, from }: Begin): void {
    const { id } = value as { readonly id: string };
    const known = this.#snapshots.get(id);
    this.#snapshots.set(id, { from, threads: [...(known?.threads ?? []), thread] });
  }

  #host(thread: number): AnsweringHost {
    const host = this.#options.hosts[thread];
    if (host === undefined) throw new AppError("unavailable", `the hub has no thread ${thread}`);
    return host;
  }

  #end(id: string): void {
    this.#calls.get(id)?.abort.abort();
    this.#forget(id);
  }

  #forget(id: string): void {
    this.#keptBytes -= this.#calls.get(id)?.bytes ?? 0;
    this.#calls.delete(id);
  }

  #noteEnded(id: string): void {
    this.#ended.set(id, this.#options.clock.monotonic());
    const [oldest] = this.#ended.keys();
    if (this.#ended.size > MAX_ENDED) this.#ended.delete(oldest!);
  }

  #endIdle(): void {
    const oldestMs = this.#options.clock.monotonic() - IDLE_MS;
    for (const [id, endedMs] of this.#ended) if (endedMs < oldestMs) this.#ended.delete(id);
    for (const [id, { usedMs }] of this.#calls) if (usedMs < oldestMs) this.#end(id);
    for (const [id, { from, threads }] of this.#snapshots) {
      if (this.#options.isLive(from)) continue;
      this.#snapshots.delete(id);
      for (const thread of threads) this.#host(thread).notify("closeContexts", [id]);
    }
  }
}

/** Returns undefined if there is no reply in time. A timer of its own: a sleep that is aborted costs a tenth of a call. */
async function beforeLate(reply: Promise<Uint8Array>): Promise<Uint8Array | undefined> {
  const { promise: late, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(resolve, WAIT_MS, undefined);
  try {
    return await Promise.race([reply, late]);
  } finally {
    clearTimeout(timer);
  }
}

function stoppedWaiting(): AppError {
  return new AppError("unavailable", "the call was ended because its caller stopped waiting");
}

function encodeReply(reply: HubReply): Uint8Array {
  return encodeValue(reply);
}
