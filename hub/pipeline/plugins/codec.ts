/**
 * The contract of codecs, which convert between the bytes of a source and events. One file per codec; `all.ts` lists
 * them.
 *
 * - `decode` must make an event with a tag of what it can't read. A readable payload may make no event: an empty list, a
 *   packet of templates, a line that is held back.
 * - `encode` must make bytes that `decode` reads back to the same fields, where the format can hold them.
 */

import type { Static, TObject } from "typebox";
import type { Event } from "#proto/event.ts";
import { Type } from "#proto/kit/schema.ts";

/** A running codec. */
export interface Codec {
  /**
   * Returns the events of one payload (a datagram, a message of a queue, a line); `timeMs` is their time where they
   * have none. `sender` is the address that a datagram came from.
   */
  decode(payload: Uint8Array, timeMs: number, sender?: string): Event[];
  /** Returns an event as bytes. Throws for an event that the format can't hold; the output refuses it with the message. */
  encode(event: Event): Uint8Array;
  /** Codecs whose values have no delimiter: begins to read a stream of them. */
  stream?(): CodecStream;
  /** Codecs that join payloads (multiline): makes an event of what is held back. */
  flush?(): Event[];
  /**
   * Codecs that join payloads: how many of the last payloads are held back, in no event yet. They must not be confirmed
   * to the source.
   */
  readonly held?: number;
  /** Codecs that join payloads: how long a further payload is waited for before `flush`. */
  readonly flushAfterMs?: number;
}

/** Makes codecs as an option says. */
export interface CodecMaker {
  (): Codec;
  /** Encoding of the bytes that the codecs read; undefined for formats that aren't text in an encoding of one's choice. */
  readonly charset?: string | undefined;
}

/** Reads a stream of values, each of which may continue in the next bytes. */
export interface CodecStream {
  /** Bytes held of a value that isn't whole. */
  readonly pendingBytes: number;
  /** True once something couldn't be read: what follows can't be, either. */
  readonly isBroken: boolean;
  /** Returns the events of the values that `bytes` complete; what can't be read is one with a tag. */
  decode(bytes: Uint8Array, timeMs: number): Event[];
  /** Returns an event with a tag where the stream ended within a value. */
  end(timeMs: number): Event[];
}

export interface CodecDefinition<O extends TObject = TObject, Values = NoInfer<Static<O>>> {
  readonly name: string;
  /** One sentence: what the bytes are. */
  readonly description: string;
  readonly options: O;
  create(options: Values): Codec;
}

/** Returns the definition; gives `create` the type of its options. */
export function defineCodec<O extends TObject>(definition: CodecDefinition<O>): CodecDefinition<O> {
  return definition;
}

/**
 * Returns the events of a self-contained payload (a message of a queue): what the codec still holds at its end belongs
 * to it.
 */
export function decodeWhole(codec: Codec, payload: Uint8Array, timeMs: number): Event[] {
  return [...codec.decode(payload, timeMs), ...(codec.flush?.() ?? [])];
}

/** A codec by its name, or with options of its own: `codec => json { … }`. The context's `codec` makes it. */
export function codecOption(description: string, fallback: string) {
  return Type.Unknown({ description, default: fallback });
}
