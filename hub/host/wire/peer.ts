/** One end of a channel: makes calls and answers those of the other end. */

import { gatherWarnings, requestVersion, warnDeprecated } from "#hub/search/options/request-version.ts";
import { decodeValue } from "#hub/search/wire/value-reader.ts";
import { encodeInSlices, encodeValue } from "#hub/search/wire/value-writer.ts";
import { type cluster, HostFrame } from "#proto/cluster-messages.ts";
import { AppError, toAppError } from "#proto/kit/errors.ts";
import type { Channel, Packet } from "./channel.ts";

/** The content of a call or an answer. */
export interface Message {
  /** Plain data, see `encodeValue`. */
  readonly value: unknown;
  readonly parts?: readonly Uint8Array[];
}

/** A call that arrived. */
export interface IncomingCall {
  readonly operation: string;
  readonly value: unknown;
  readonly parts: readonly Uint8Array[];
  /** Aborted when the caller is gone or its time is over. */
  readonly signal: AbortSignal;
}

export interface PeerHandlers {
  /** Answers a call. What it throws becomes the caller's error. */
  answer(call: IncomingCall): Promise<Message>;
  /** Takes an event; `parts` belong to it. Must not throw. */
  event(operation: string, value: unknown, parts: readonly Uint8Array[]): void;
}

export interface CallOptions {
  /** Cancels the call, which then fails with the other side's answer. */
  readonly signal?: AbortSignal | undefined;
  /** Time for the call, ms; no limit without it. */
  readonly timeoutMs?: number;
  readonly parts?: readonly Uint8Array[];
  /**
   * The value may be large: it is encoded in slices of time, and later calls and events may be sent before this call. Not for
   * values that change meanwhile.
   */
  readonly inSlices?: boolean;
}

/** The answer to a call, as it arrived. */
interface Settled {
  readonly failed: boolean;
  readonly value: unknown;
  readonly parts: readonly Uint8Array[];
  readonly warnings: readonly string[];
}

interface OpenCall {
  readonly operation: string;
  readonly resolve: (settled: Settled) => void;
  readonly reject: (error: unknown) => void;
  /** When it was cancelled, ms of performance.now(). */
  cancelledMs: number | undefined;
}

const { Kind } = HostFrame;
const NO_PARTS: readonly Uint8Array[] = [];

export class Peer {
  readonly #channel: Channel;
  readonly #handlers: PeerHandlers;
  readonly #calls = new Map<number, OpenCall>();
  /** Running calls of the other end. */
  readonly #answering = new Map<number, AbortController>();
  #lastId = 0;
  #gone: AppError | undefined;

  constructor(channel: Channel, handlers: PeerHandlers) {
    this.#channel = channel;
    this.#handlers = handlers;
    channel.receive((packet) => this.#take(packet));
  }

  /** Calls of this end that have no answer yet. */
  get pending(): number {
    return this.#calls.size;
  }

  /** Operation of the earliest cancelled call without an answer, and the time of its cancellation: monotonic ms. */
  get overdue(): { readonly operation: string; readonly cancelledMs: number } | undefined {
    let oldest: { readonly operation: string; readonly cancelledMs: number } | undefined;
    for (const { operation, cancelledMs } of this.#calls.values())
      if (cancelledMs !== undefined && cancelledMs < (oldest?.cancelledMs ?? Number.POSITIVE_INFINITY))
        oldest = { operation, cancelledMs };
    return oldest;
  }

  /** Resolves with the answer. Throws what the other side threw, timeout, and the error of `fail`. */
  async call(operation: string, value: unknown, options: CallOptions = {}): Promise<Required<Message>> {
    this.#throwIfGone();
    const { signal, parts = NO_PARTS, inSlices = false } = options;
    const startMs = performance.now();
    const encoded = inSlices ? await encodeInSlices(value, signal) : encodeValue(value);
    this.#throwIfGone();
    if (isAborted(signal)) throw new AppError("cancelled", "the request was cancelled");
    const timeoutMs = timeLeft(operation, options.timeoutMs ?? 0, performance.now() - startMs);
    const id = ++this.#lastId;
    const { promise, resolve, reject } = Promise.withResolvers<Settled>();
    const open: OpenCall = { operation, resolve, reject, cancelledMs: undefined };
    this.#calls.set(id, open);
    const cancel = (): void => this.#cancel(id, open);
    signal?.addEventListener("abort", cancel, { once: true });
    const timer = timeoutMs > 0 ? setTimeout(cancel, timeoutMs) : undefined;
    try {
      const frame = { id, kind: Kind.CALL, operation, version: requestVersion(), deadlineMs: timeoutMs };
      this.#sendEncoded(frame, encoded, parts);
      const { failed, warnings, ...message } = await promise;
      for (const warning of warnings) warnDeprecated(warning);
      if (!failed) return message;
      const error = toAppError(message.value);
      const isLate = open.cancelledMs !== undefined && !isAborted(signal) && error.code === "cancelled";
      if (!isLate) throw error;
      throw new AppError("timeout", `${operation} took longer than ${timeoutMs} ms`, { cause: error });
    } finally {
      this.#calls.delete(id);
      clearTimeout(timer);
      signal?.removeEventListener("abort", cancel);
    }
  }

  /** Sends an event; the memory of its parts is transferred. */
  notify(operation: string, value: unknown, parts: readonly Uint8Array[] = NO_PARTS): void {
    if (this.#gone === undefined) this.#send({ kind: Kind.EVENT, operation }, { value, parts }, true);
  }

  /** Ends the channel because the other side is gone. Waiting calls fail with `error`; calls running here are cancelled. */
  fail(error: AppError): void {
    this.#gone ??= error;
    for (const { reject } of this.#calls.values()) reject(error);
    this.#calls.clear();
    for (const controller of this.#answering.values()) controller.abort();
    this.#channel.close();
  }

  #cancel(id: number, open: OpenCall): void {
    if (open.cancelledMs !== undefined || !this.#calls.has(id)) return;
    open.cancelledMs = performance.now();
    this.#send({ id, kind: Kind.CANCEL }, { value: undefined });
  }

  #take({ frame, parts }: Packet): void {
    const { id, kind, operation, version, warnings, value } = HostFrame.decode(frame);
    if (kind === Kind.CALL) void this.#answer(id, version, { operation, value: decodeValue(value), parts });
    else if (kind === Kind.CANCEL) this.#answering.get(id)?.abort();
    else if (kind === Kind.EVENT) this.#handlers.event(operation, decodeValue(value), parts);
    else {
      const call = this.#calls.get(id);
      this.#calls.delete(id);
      call?.resolve({ failed: kind === Kind.FAILURE, value: decodeValue(value), parts, warnings });
    }
  }

  async #answer(id: number, version: number, call: Omit<IncomingCall, "signal">): Promise<void> {
    const controller = new AbortController();
    this.#answering.set(id, controller);
    const warnings = new Set<string>();
    try {
      const message = await gatherWarnings(warnings, version, async () =>
        this.#handlers.answer({ ...call, signal: controller.signal }),
      );
      this.#send({ id, kind: Kind.ANSWER, warnings: [...warnings] }, message);
    } catch (error) {
      this.#sendFailure({ id, kind: Kind.FAILURE, warnings: [...warnings] }, toAppError(error));
    } finally {
      this.#answering.delete(id);
    }
  }

  /** The data of an error may contain values that can't be sent. */
  #sendFailure(frame: cluster.HostFrame.$Properties, error: AppError): void {
    try {
      this.#send(frame, { value: error });
    } catch {
      this.#send(frame, { value: new AppError(error.code, error.message) });
    }
  }

  #send(frame: cluster.HostFrame.$Properties, { value, parts = NO_PARTS }: Message, handsOver = false): void {
    if (this.#gone === undefined) this.#sendEncoded(frame, encodeValue(value), parts, handsOver);
  }

  #sendEncoded(
    frame: cluster.HostFrame.$Properties,
    value: Uint8Array,
    parts: readonly Uint8Array[],
    handsOver = false,
  ): void {
    const partBytes = parts.map(({ length }) => length);
    const bytes = HostFrame.encode({ ...frame, value, partBytes }).finish();
    this.#channel.send({ frame: bytes, parts }, handsOver);
  }

  #throwIfGone(): void {
    if (this.#gone !== undefined) throw this.#gone;
  }
}

/** Returns what is left of a call's time, whole ms; 0: it has no limit. Throws timeout. */
function timeLeft(operation: string, timeoutMs: number, spentMs: number): number {
  if (timeoutMs <= 0) return 0;
  if (spentMs < timeoutMs) return Math.ceil(timeoutMs - spentMs);
  throw new AppError("timeout", `${operation} took longer than ${timeoutMs} ms`);
}

/** A function because the compiler assumes that a signal is unchanged after an await. */
function isAborted(signal: AbortSignal | undefined): boolean {
  return signal?.aborted ?? false;
}
