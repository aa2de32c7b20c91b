/** Shared part of inputs without files: batching into the output, the spool, the input's state and receipts. */

import { EventBatcher, type StreamEvent } from "#agent/contract/batcher.ts";
import type { InputContext, InputState } from "#agent/contract/input.ts";
import { flagFields } from "#agent/lines/event-format.ts";
import { Spool } from "#agent/spool/spool.ts";
import { sizeSetting } from "#proto/kit/settings/kinds.ts";
import { parseSize } from "#proto/kit/units.ts";

/** The setting of inputs whose senders don't repeat their data. */
export const spoolProperties = {
  "spool.max_bytes": sizeSetting({
    default: "100mb",
    description:
      "Disk space for events while the output is unreachable; beyond it senders wait, and datagrams are counted and lost. 0: no spool; what an earlier one holds is sent at the start.",
  }),
};

/** Returns true if an input with these settings has a spool, which it sends itself. */
export function hasSpool(options: { readonly "spool.max_bytes"?: string | number }): boolean {
  const max = options["spool.max_bytes"];
  return max !== undefined && parseSize(max) > 0;
}

export interface StreamSinkOptions {
  /** 0: no spool. */
  readonly spoolBytes?: number;
  /** Called with the number below which all events are acknowledged; not with a spool. */
  readonly onAcknowledged?: (upTo: number) => void;
}

/** Bytes of an event in a message besides its text: numbers, the tags of its parts, the mark of a truncated one. */
const EVENT_OVERHEAD_BYTES = 256;

/** Messages of one stream input that go into batches. */
export class StreamSink {
  readonly #context: InputContext;
  readonly #batcher: EventBatcher;
  readonly #spool: Spool | null;
  #errors = 0;
  #lastError = "";

  constructor(inputType: string, context: InputContext, options: StreamSinkOptions = {}) {
    this.#context = context;
    const { spoolBytes = 0, onAcknowledged } = options;
    this.#batcher = new EventBatcher(inputType, context, onAcknowledged);
    this.#spool = spoolBytes === 0 ? null : new Spool({ inputType, maxBytes: spoolBytes, context });
  }

  get maxMessageBytes(): number {
    return this.#batcher.maxMessageBytes;
  }

  /** Messages taken since the start, without those of the spool. */
  get events(): number {
    return this.#batcher.events;
  }

  /** True while messages that did not go through the spool are sent and not acknowledged. */
  get hasUnacknowledged(): boolean {
    return this.#batcher.unackedBytes > 0;
  }

  /** True after `close`. */
  get closed(): boolean {
    return this.#batcher.stopped;
  }

  /** Takes a message, waiting for free space; for inputs that can hold up their sender. `timeMs` 0: now. */
  async put(message: Uint8Array, fieldsJson: Uint8Array, timeMs = 0): Promise<void> {
    const event = this.#bounded({
      message,
      timeMs: timeMs === 0 ? this.#context.clock.now() : timeMs,
      fieldsJson,
    });
    while (!this.#add(event)) {
      if (this.#batcher.stopped) {
        this.#context.metrics.dropped.inc({ input: this.#context.id });
        return;
      }
      // If the spool is full, the batcher doesn't use a slot: the spool needs it to become smaller.
      if (this.#spool === null || this.#spool.empty) await this.#batcher.whenReady();
      else await this.#spool.whenChanged();
    }
  }

  /** Takes a message or counts it as dropped; for inputs whose sender can't be held up. */
  offer(message: Uint8Array, fieldsJson: Uint8Array): boolean {
    const taken = this.#add(this.#bounded({ message, timeMs: this.#context.clock.now(), fieldsJson }));
    if (!taken) this.#context.metrics.dropped.inc({ input: this.#context.id });
    return taken;
  }

  /** Prepares for messages; a slot is awaited beside. Throws the system's error if the spool can't be used. */
  open(): void {
    this.#spool?.start();
    if (this.#spool === null) void this.#batcher.whenReady();
  }

  /** Sends the collected messages now. */
  flush(): void {
    this.#batcher.flush();
  }

  /** Resolves when all messages are acknowledged, also those of the spool, or when the sink is closed. */
  async drained(): Promise<void> {
    await this.#batcher.whenAcknowledged();
    while (this.#spool?.empty === false && !this.closed) await this.#spool.whenChanged();
  }

  /** Sends the collected messages; takes none any more. */
  close(): void {
    this.#batcher.stop();
    this.#spool?.wakeWaiting();
  }

  /** Ends the tasks that `close` leaves running. */
  async stop(): Promise<void> {
    this.close();
    await this.#spool?.stop();
  }

  /** Keeps unacknowledged messages in the spool for the next start, after `stop`; without one they are lost. */
  preserve(): void {
    const events = this.#batcher.unacknowledged();
    const lost = this.#spool === null ? [...events].length : this.#spool.keep(events);
    if (lost === 0) return;
    this.#context.metrics.dropped.inc({ input: this.#context.id }, lost);
    this.#context.log.warn({ messages: lost }, "messages are lost: the output did not take them in time");
  }

  /** Counts a failure and logs it. */
  fail(text: string, error: unknown): void {
    this.#errors++;
    this.#lastError = `${text}: ${(error as Error).message}`;
    this.#context.metrics.errors.inc({ input: this.#context.id });
    this.#context.log.warn({ error }, text);
  }

  state(): InputState {
    return {
      files: 0,
      linesRead: this.#batcher.events,
      bytesRead: this.#batcher.bytes,
      lagBytes: this.#batcher.unackedBytes + (this.#spool?.bytes ?? 0),
      openDeletedBytes: 0,
      errors: this.#errors,
      lastError: this.#lastError,
    };
  }

  /** Returns an event that a message can carry: a longer one loses its fields and, if need be, its end. */
  #bounded(event: StreamEvent): StreamEvent {
    const { message, fieldsJson } = event;
    const most = this.#context.output.maxBodyBytes - EVENT_OVERHEAD_BYTES;
    if (message.length + fieldsJson.length <= most) return event;
    const kept = message.subarray(0, most);
    const bytes = Math.max(fieldsJson.length, message.length - kept.length);
    this.#context.metrics.truncatedBytes.inc({ input: this.#context.id }, bytes);
    return { ...event, message: kept, fieldsJson: flagFields(["truncated"]) };
  }

  /** Messages in the spool come first. */
  #add(event: StreamEvent): boolean {
    if (this.#batcher.stopped) return false;
    if (this.#spool === null) return this.#batcher.add(event);
    if (this.#spool.empty && this.#batcher.add(event)) return true;
    return this.#spool.append(event);
  }
}

interface Receipt<T> {
  /** Sequence after its last event. */
  readonly upTo: number;
  readonly token: T;
}

export class Receipts<T> {
  readonly #waiting: Receipt<T>[] = [];

  /** Events of which nothing is confirmed yet. */
  get size(): number {
    return this.#waiting.length;
  }

  /** Records that `token` may be confirmed once all events below `upTo` are acknowledged. Ascending. */
  add(upTo: number, token: T): void {
    this.#waiting.push({ upTo, token });
  }

  /** Returns, in order, the tokens that may be confirmed now that all events below `acknowledged` are. */
  take(acknowledged: number): T[] {
    let count = 0;
    while ((this.#waiting[count]?.upTo ?? Number.POSITIVE_INFINITY) <= acknowledged) count++;
    if (count === 0) return [];
    return this.#waiting.splice(0, count).map(({ token }) => token);
  }

  /** Forgets all tokens because the origin sends everything again. */
  clear(): void {
    this.#waiting.length = 0;
  }
}
