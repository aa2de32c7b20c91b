/** Calls threads of other hubs; hub-answerer.ts is the other end. */

import { randomBytes } from "node:crypto";
import type { HubTransport } from "#hub/cluster/links/hub-transport.ts";
import { LinkLost } from "#hub/cluster/links/link.ts";
import type { CallableHost } from "#hub/host/client/shards-client.ts";
import type { HubThread } from "#hub/host/contract/calls.ts";
import type { CallOptions, Message } from "#hub/host/wire/peer.ts";
import { requestVersion, warnDeprecated } from "#hub/search/options/request-version.ts";
import { decodeValue } from "#hub/search/wire/value-reader.ts";
import { AppError, toAppError } from "#proto/kit/errors.ts";
import {
  decodeHubAnswer,
  encodeQuestion,
  type HubAnswer,
  type HubQuestion,
  type HubReply,
  hostsSubject,
  QUESTION_BYTES,
  WAIT_MS,
} from "./hub-call-messages.ts";

/**
 * Time for a message beyond the wait of the other hub, which then answers at once even while its threads are busy. Short, so
 * that another copy answers a search before its client gives up.
 */
const ANSWER_MS = WAIT_MS + 1_500;
/** How long a hub that didn't answer is ranked after all others. */
const SUSPECT_MS = 10_000;
/** Number of searches that are added to the load of a suspected hub. */
const SUSPECT_LOAD = 1_000;
/** Messages that are retried if one is lost. `call` isn't: the call may have begun. */
const TRIES = 2;

export interface HubCallerOptions {
  readonly transport: HubTransport;
  /** Id of this hub. */
  readonly node: string;
}

type Call = Pick<CallOptions, "signal" | "timeoutMs" | "parts">;

export class HubCaller {
  readonly #options: HubCallerOptions;
  /** Makes the ids of calls unique among those of all hubs and of their earlier runs. */
  readonly #run = randomBytes(12).toString("base64url");
  #calls = 0;
  /** Running calls, by hub. */
  readonly #load = new Map<string, number>();
  /** Time until which a hub that didn't answer is suspected, ms of performance.now(). */
  readonly #suspected = new Map<string, number>();
  /** The last answers of hubs whose copies may have lacked writes; ms of performance.now(). */
  readonly #behind = new Map<string, { readonly error: AppError; readonly atMs: number }>();

  constructor(options: HubCallerOptions) {
    this.#options = options;
  }

  /** Returns how many calls this hub has running at another one; far more if that one doesn't answer. */
  load(hub: string): number {
    const isSuspected = (this.#suspected.get(hub) ?? 0) > performance.now();
    return this.#underWay(hub) + (isSuspected ? SUSPECT_LOAD : 0);
  }

  /** Returns why an answer of a hub since `sinceMs`, of performance.now(), may lack writes; undefined if each is whole. */
  behind(hub: string, sinceMs: number): AppError | undefined {
    const known = this.#behind.get(hub);
    return known !== undefined && known.atMs >= sinceMs ? known.error : undefined;
  }

  /** Returns a thread of another hub that can be called. */
  thread(at: HubThread): CallableHost {
    return {
      call: (operation, value, options) => this.call(at, operation, value, options),
      notify: (operation, value) => this.#notify(at, operation, value),
    };
  }

  /**
   * Resolves with the answer. Throws what the other side threw; unavailable if the hub doesn't answer or the request is too
   * large for a message; timeout; cancelled as soon as `signal` is aborted, whereupon the other hub ends the call.
   */
  async call(
    at: HubThread,
    operation: string,
    value: unknown,
    { signal, timeoutMs = 0, parts = [] }: Call = {},
  ): Promise<Required<Message>> {
    const id = `${this.#run}.${(++this.#calls).toString(36)}`;
    const late = timeoutMs > 0 ? AbortSignal.timeout(timeoutMs) : undefined;
    const signals = [signal, late].filter((each) => each !== undefined);
    const ended = signals.length > 1 ? AbortSignal.any(signals) : signals[0];
    const from = this.#options.node;
    const question: HubQuestion = {
      kind: "call",
      id,
      thread: at.thread,
      operation,
      value,
      parts,
      version: requestVersion(),
      from,
    };
    this.#load.set(at.hub, this.#underWay(at.hub) + 1);
    try {
      const answer = await this.#answer(at, id, question, ended);
      this.#suspected.delete(at.hub);
      return this.#decode(at.hub, answer);
    } catch (error) {
      if (ended?.aborted !== true) throw this.#failed(at, id, error);
      this.#cancel(at, id);
      if (late?.aborted === true && signal?.aborted !== true)
        throw new AppError("timeout", `${operation} took longer than ${timeoutMs} ms`, { cause: error });
      throw new AppError("cancelled", "the request was cancelled", { cause: error });
    } finally {
      this.#load.set(at.hub, this.#underWay(at.hub) - 1);
    }
  }

  /** Records a call that failed before its time was over. Returns the error for the caller. */
  #failed(at: HubThread, id: string, error: unknown): unknown {
    if (!(error instanceof AnsweredError)) this.#suspected.set(at.hub, performance.now() + SUSPECT_MS);
    // A hub whose process was stopped would run the call when it continues.
    if (toAppError(error).code === "timeout") this.#cancel(at, id);
    return asUnavailable(at, error);
  }

  /** Returns the message of a reply. Throws the error that it contains. */
  #decode(hub: string, bytes: Uint8Array): Required<Message> {
    const { failed, value, parts, warnings, behind } = decodeValue(bytes) as HubReply;
    for (const warning of warnings) warnDeprecated(warning);
    if (behind !== undefined) this.#behind.set(hub, { error: toAppError(behind), atMs: performance.now() });
    if (failed) throw new AnsweredError(toAppError(value));
    return { value, parts };
  }

  #underWay(hub: string): number {
    return this.#load.get(hub) ?? 0;
  }

  #cancel(at: HubThread, id: string): void {
    void this.#send(at, { kind: "cancel", id }).catch(() => undefined);
  }

  #notify(at: HubThread, operation: string, value: unknown): void {
    void this.#send(at, { kind: "notify", thread: at.thread, operation, value }).catch(() => undefined);
  }

  /** Returns the bytes of the answer. */
  async #answer(
    at: HubThread,
    id: string,
    question: HubQuestion,
    signal: AbortSignal | undefined,
  ): Promise<Uint8Array> {
    let answer = await this.#begin(at, id, question, signal);
    while (answer.state === "running") answer = await this.#again(at, { kind: "wait", id }, signal);
    if (answer.state === "refused") throw answer.error;
    const { bytes } = answer;
    const pieces = [answer.piece];
    for (let offset = answer.piece.length; offset < bytes; offset += pieces.at(-1)!.length) {
      const next = await this.#again(at, { kind: "read", id, offset }, signal);
      if (next.state !== "done" || next.piece.length === 0) throw refusal(next);
      pieces.push(next.piece);
    }
    return pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces);
  }

  /** If the link breaks, the call may have begun: then its answer is asked for by another way, once, as the hub may be gone. */
  async #begin(
    at: HubThread,
    id: string,
    question: HubQuestion,
    signal: AbortSignal | undefined,
  ): Promise<HubAnswer> {
    try {
      return await this.#send(at, question, signal);
    } catch (error) {
      if (!(error instanceof LinkLost)) throw error;
      return this.#send(at, { kind: "wait", id }, signal);
    }
  }

  async #again(at: HubThread, question: HubQuestion, signal: AbortSignal | undefined): Promise<HubAnswer> {
    for (let left = TRIES; ; left--) {
      try {
        return await this.#send(at, question, signal);
      } catch (error) {
        if (left <= 1 || signal?.aborted === true || toAppError(error).code !== "timeout") throw error;
      }
    }
  }

  async #send({ hub }: HubThread, question: HubQuestion, signal?: AbortSignal): Promise<HubAnswer> {
    const data = encodeQuestion(question);
    if (data.length > QUESTION_BYTES)
      throw new AppError("unavailable", `a call of ${data.length} bytes is too large for another hub`);
    const repeatable = question.kind !== "call";
    const options = { timeoutMs: ANSWER_MS, repeatable, ...(signal !== undefined && { signal }) };
    return decodeHubAnswer(await this.#options.transport.request(hostsSubject(hub), data, options));
  }
}

/** An error that the other hub's thread threw, as opposed to a failure of the transport. */
class AnsweredError extends Error {
  readonly error: AppError;

  constructor(error: AppError) {
    super(error.message);
    this.error = error;
  }
}

function refusal(answer: HubAnswer): unknown {
  return answer.state === "refused"
    ? answer.error
    : new AppError("unavailable", "the other hub's answer ended early");
}

function asUnavailable({ hub }: HubThread, thrown: unknown): AppError {
  if (thrown instanceof AnsweredError) return thrown.error;
  const error = toAppError(thrown);
  return new AppError("unavailable", `hub ${hub} doesn't answer: ${error.message}`, { cause: error });
}
