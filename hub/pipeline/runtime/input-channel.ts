/**
 * Publishes the events of one input's source to the log RAW: gathered into messages, in order, each retried until it is
 * durable.
 */

import { createHash, randomUUID } from "node:crypto";
import type { InputChannel, InputEvent, InputSource } from "#hub/pipeline/plugins/input.ts";
import type { Event } from "#proto/event.ts";
import { isHash, Timestamp } from "#proto/event.ts";
import type { Clock } from "#proto/kit/clock.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { Logger } from "#proto/kit/log.ts";
import { Backoff } from "#proto/kit/retry.ts";
import { LogBatch } from "#proto/messages.ts";
import { partitionOf, rawSubject } from "#proto/subjects.ts";

/** Events and bytes of one message at most, unless a single event is longer. */
const MESSAGE_EVENTS = 2_000;
const MESSAGE_BYTES = 256 * 1024;

/** Longest event: a message of the log has 8 MiB at most, with the data about the source. Bytes. */
const MAX_EVENT_BYTES = 8 * 1024 * 1024 - 64 * 1024;

const RETRY = { firstMs: 50, capMs: 5_000 };

/** Keys that may be part of a source key unescaped. */
const PLAIN_KEY = /^[A-Za-z0-9_.-]{1,64}$/;

/** Puts a message into RAW. */
export type PublishRaw = (
  subject: string,
  data: Uint8Array,
  options: { readonly messageId: string; readonly signal: AbortSignal },
) => Promise<unknown>;

/** What the messages of one input have in common. */
export interface InputIdentity {
  readonly pipeline: string;
  readonly plugin: string;
  /** Kind of the input, e.g. "tcp". */
  readonly type: string;
  readonly hubName: string;
  /** Name that distinguishes its sources: the hub's, or one that all hubs share. */
  readonly sourceName: string;
  readonly hostName: string;
  readonly version: string;
}

export interface InputChannelOptions {
  readonly identity: InputIdentity;
  readonly source: InputSource;
  /** Applied to each event before it goes. */
  readonly decorate: (event: Event) => void;
  readonly publish: PublishRaw;
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
  /** Called with how many events are durable. */
  readonly sent: (events: number) => void;
}

interface Pending {
  readonly offset: number;
  readonly end: number;
  readonly timeMs: number;
  readonly message: Uint8Array;
  readonly fieldsJson: Uint8Array;
  /** Resolves the send that this event is the last of. */
  readonly done: (() => void) | undefined;
  /** Rejects the send that this event is of. */
  readonly refuse: (reason: AppError) => void;
}

/** See InputChannel. What is pending is bounded by the input, which must wait for its sends. */
export class RawChannel implements InputChannel {
  readonly #options: InputChannelOptions;
  readonly #agentId: string;
  readonly #fileKey: string;
  readonly #subject: string;
  readonly #session = randomUUID();
  readonly #pending: Pending[] = [];
  /** How the sends under way fail. */
  readonly #failures = new Set<(reason: AppError) => void>();
  /** The signal outlives its channels, of which some inputs open one for each request: it is listened to during sends only. */
  readonly #onAbort = (): void => {
    for (const fail of this.#failures) fail(cancelled());
  };
  #next = 0;
  #messages = 0;
  #isRunning = false;

  constructor(options: InputChannelOptions) {
    const { identity, source } = options;
    this.#options = options;
    this.#agentId = inputUuid(identity);
    this.#fileKey = PLAIN_KEY.test(source.key) ? source.key : hash(source.key).toString("base64url", 0, 24);
    this.#subject = rawSubject(partitionOf(this.#agentId, this.#fileKey), this.#agentId);
  }

  send(events: readonly InputEvent[]): Promise<void> {
    if (this.#options.signal.aborted) return Promise.reject(cancelled());
    if (events.length === 0) return Promise.resolve();
    const next = this.#next;
    let encoded: Omit<Pending, "done" | "refuse">[];
    try {
      encoded = events.map((event) => this.#encode(event));
    } catch (error) {
      this.#next = next;
      return Promise.reject(new AppError("parsing", "an event can't be written as JSON", { cause: error }));
    }
    for (const { message, fieldsJson } of encoded) {
      const bytes = message.length + fieldsJson.length;
      if (bytes <= MAX_EVENT_BYTES) continue;
      this.#next = next;
      return Promise.reject(tooLong(`${bytes} bytes, and ${MAX_EVENT_BYTES} are the most`));
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const end = (): void => {
      this.#failures.delete(reject);
      if (this.#failures.size === 0) this.#options.signal.removeEventListener("abort", this.#onAbort);
    };
    const done = (): void => {
      end();
      resolve();
    };
    const refuse = (reason: AppError): void => {
      end();
      reject(reason);
    };
    for (const [place, event] of encoded.entries())
      this.#pending.push({ ...event, done: place === encoded.length - 1 ? done : undefined, refuse });
    this.#failures.add(reject);
    this.#options.signal.addEventListener("abort", this.#onAbort, { once: true });
    if (!this.#isRunning) void this.#run();
    return promise;
  }

  close(): void {
    this.#pending.length = 0;
  }

  #encode({ event, offset = this.#next, length = 1 }: InputEvent): Omit<Pending, "done" | "refuse"> {
    this.#options.decorate(event);
    const { message, ...rest } = event.fields;
    const isPlain = typeof message === "string";
    const { "@timestamp": time, ...fields } = isPlain ? rest : event.fields;
    if (Object.keys(event.metadata).length > 0) fields["@metadata"] = event.metadata;
    const end = offset + Math.max(1, length);
    this.#next = Math.max(this.#next, end);
    return {
      offset,
      end,
      timeMs: time instanceof Timestamp ? time.ms : event.timeMs,
      message: isPlain ? Buffer.from(message) : NOTHING,
      fieldsJson:
        isHash(fields) && Object.keys(fields).length > 0 ? Buffer.from(JSON.stringify(fields)) : NOTHING,
    };
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    // One turn later: what is sent in a row goes together.
    await Promise.resolve();
    const { signal } = this.#options;
    while (this.#pending.length > 0 && !signal.aborted) {
      const taken = this.#take();
      const isStored = await this.#publish(taken);
      if (signal.aborted) return;
      if (isStored) this.#options.sent(taken.length);
      for (const { done } of taken) done?.();
    }
    this.#isRunning = false;
  }

  #take(): Pending[] {
    let bytes = 0;
    let count = 0;
    for (; count < this.#pending.length && count < MESSAGE_EVENTS; count++) {
      const { message, fieldsJson, offset } = this.#pending[count]!;
      bytes += message.length + fieldsJson.length + 32;
      // Events of one payload share an offset, and what is known of it is one range: they stay together.
      const isSamePayload = count > 0 && this.#pending[count - 1]!.offset === offset;
      if (count > 0 && bytes > MESSAGE_BYTES && !isSamePayload) break;
    }
    return this.#pending.splice(0, count);
  }

  /** Resolves with true when the log has the events, with false if it never will; then their sends were rejected. */
  async #publish(events: readonly Pending[]): Promise<boolean> {
    const { publish, clock, log, signal, identity } = this.#options;
    const data = this.#message(events);
    const messageId = `${this.#agentId}/${this.#session}/${this.#messages}`;
    const backoff = new Backoff(RETRY);
    while (!signal.aborted) {
      try {
        await publish(this.#subject, data, { messageId, signal });
        return true;
      } catch (error) {
        if (signal.aborted) return false;
        if (error instanceof AppError && error.code === "request_too_large") {
          // Retries would hold up everything after it.
          for (const { refuse } of events) refuse(tooLong(error.message));
          return false;
        }
        log.warn(
          { err: error, input: identity.plugin },
          "an input's events can't be stored and are tried again",
        );
        await clock.sleep(backoff.next(), signal);
      }
    }
    return false;
  }

  #message(events: readonly Pending[]): Uint8Array {
    const { identity, source, clock } = this.#options;
    return LogBatch.encode({
      agentId: this.#agentId,
      epoch: 1,
      number: ++this.#messages,
      agentName: identity.hubName,
      agentVersion: identity.version,
      hostName: identity.hostName,
      pipelineId: identity.pipeline,
      block: {
        source: {
          inputId: identity.plugin.slice(0, 64),
          inputType: identity.type,
          fileKey: this.#fileKey,
          generation: source.generation ?? 0,
          path: source.path ?? "",
        },
        from: events[0]!.offset,
        to: events.reduce((end, event) => Math.max(end, event.end), 0),
        readTimeMs: clock.now(),
        events: events.map(({ offset, end, timeMs, message, fieldsJson }) => ({
          offset,
          timeMs,
          message,
          fieldsJson,
          length: end - offset,
        })),
      },
    }).finish();
  }
}

const NOTHING = new Uint8Array();

/** Returns the permanent UUID of an input, by source name, pipeline and id: it stands for an agent's in the log. */
export function inputUuid({
  sourceName,
  pipeline,
  plugin,
}: Pick<InputIdentity, "sourceName" | "pipeline" | "plugin">): string {
  const hex = hash(JSON.stringify([sourceName, pipeline, plugin])).toString("hex");
  // Version 8 of RFC 9562: custom bits.
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

function hash(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

function tooLong(why: string): AppError {
  return new AppError("parsing", `an event is too long for the log: ${why}`);
}

function cancelled(): AppError {
  return new AppError("cancelled", "the input is stopped");
}
