/** Makes events of MessagePack values: of a payload, or of a stream. */

import type { DecoderOptions } from "@msgpack/msgpack";
import { type FinishValue, ValueStream } from "#hub/pipeline/formats/message-pack.ts";
import type { CodecStream } from "#hub/pipeline/plugins/codec.ts";
import { Event } from "#proto/event.ts";

/** Longest value. Bytes. */
const MAX_VALUE_BYTES = 32 * 1024 * 1024;

export interface MessagePackReading {
  readonly decoding: DecoderOptions;
  readonly finish?: FinishValue;
  /** Returns the events of a value; what it throws is a value that can't be read. */
  readonly eventsOf: (value: unknown, timeMs: number) => Event[];
  readonly failureTag: string;
}

export class MessagePackReader implements CodecStream {
  readonly #reading: MessagePackReading;
  readonly #values: ValueStream;
  #isBroken = false;

  constructor(reading: MessagePackReading) {
    this.#reading = reading;
    this.#values = new ValueStream(reading.decoding, reading.finish);
  }

  get pendingBytes(): number {
    return this.#isBroken ? 0 : this.#values.pendingBytes;
  }

  get isBroken(): boolean {
    return this.#isBroken;
  }

  decode(bytes: Uint8Array, timeMs: number): Event[] {
    const events: Event[] = [];
    try {
      for (const value of this.#values.values(bytes)) {
        for (const event of this.#reading.eventsOf(value, timeMs)) events.push(event);
        this.#values.reset();
      }
      if (this.pendingBytes > MAX_VALUE_BYTES)
        throw new RangeError(`a value may have ${MAX_VALUE_BYTES} bytes at most`);
    } catch (error) {
      this.#isBroken = true;
      const message = Buffer.from(bytes).toString("latin1");
      events.push(this.#failure({ message, error: { message: (error as Error).message } }, timeMs));
    }
    return events;
  }

  end(timeMs: number): Event[] {
    const { pendingBytes } = this;
    if (pendingBytes === 0) return [];
    const message = `the input ends within a value, after ${pendingBytes} of its bytes`;
    return [this.#failure({ error: { message } }, timeMs)];
  }

  #failure(fields: Record<string, unknown>, timeMs: number): Event {
    const event = new Event(fields, timeMs);
    event.tag(this.#reading.failureTag);
    return event;
  }
}

/** Returns the events of a self-contained payload. */
export function decodeMessagePack(reading: MessagePackReading, payload: Uint8Array, timeMs: number): Event[] {
  const reader = new MessagePackReader(reading);
  return [...reader.decode(payload, timeMs), ...reader.end(timeMs)];
}
