/** Messages of GELF 1.1 (go2docs.graylog.org, "GELF via UDP", "GELF via TCP"): chunks put together, unpacked, named by ECS. */

import { gunzipSync, inflateSync } from "node:zlib";
import type { Codec } from "#hub/pipeline/plugins/codec.ts";
import { parseEventObject } from "#proto/codec/json.ts";
import { decodeText } from "#proto/codec/plain.ts";
import { SEVERITY_LEVELS } from "#proto/codec/syslog.ts";
import { Event, valueText } from "#proto/event.ts";
import { fieldReference } from "#proto/field-reference.ts";
import type { JsonObject } from "#proto/kit/json.ts";

const FAILURE_TAG = "_gelfparsefailure";

/** Longest message, unpacked. Bytes. */
const MAX_MESSAGE_BYTES = 4 * 1024 * 1024;

/** 2 bytes of magic, 8 of the message's id, the chunk's number, the count of chunks. */
const CHUNK_HEAD_BYTES = 12;
const MAX_CHUNKS = 128;

/** How long the chunks of a message are waited for, as the format says. */
const CHUNKS_KEPT_MS = 5_000;

/** Bytes of chunks that wait for others; beyond it the oldest messages are dropped. */
const MAX_WAITING_BYTES = 32 * 1024 * 1024;

/** Additional fields of container runtimes, by their ECS names. */
const ECS: Readonly<Record<string, string>> = {
  container_id: "[container][id]",
  container_name: "[container][name]",
  image_name: "[container][image][name]",
  facility: "[log][logger]",
  file: "[log][origin][file][name]",
  line: "[log][origin][file][line]",
};

/** What a message that waits takes besides its chunks, and each chunk that it may have. Bytes. */
const WAITING_BYTES = 512;
const PLACE_BYTES = 8;

interface Waiting {
  readonly sinceMs: number;
  readonly chunks: (Buffer | undefined)[];
  bytes: number;
  missing: number;
}

export class GelfCodec implements Codec {
  readonly #waiting = new Map<string, Waiting>();
  #waitingBytes = 0;
  readonly #dropped: (chunks: number) => void;

  /**
   * `dropped` is called with how many chunks of an incomplete message were dropped, or 1 for a chunk that can belong to
   * none.
   */
  constructor(dropped: (chunks: number) => void = () => undefined) {
    this.#dropped = dropped;
  }

  decode(payload: Uint8Array, timeMs: number): Event[] {
    const bytes = Buffer.from(payload.buffer, payload.byteOffset, payload.length);
    const isChunk = bytes[0] === 0x1e && bytes[1] === 0x0f;
    const whole = isChunk ? this.#gather(bytes, timeMs) : bytes;
    if (whole === undefined || whole.length === 0) return [];
    return [eventOf(whole, timeMs)];
  }

  encode(event: Event): Uint8Array {
    return Buffer.from(`${event.toJson()}\0`);
  }

  /** Returns the message that a chunk completes. */
  #gather(bytes: Buffer, nowMs: number): Buffer | undefined {
    this.#forgetOld(nowMs);
    const [number = 0, count = 0] = bytes.subarray(10, CHUNK_HEAD_BYTES);
    if (bytes.length <= CHUNK_HEAD_BYTES || count > MAX_CHUNKS || number >= count) return this.#drop(1);
    const id = bytes.toString("latin1", 2, 10);
    const found = this.#waiting.get(id) ?? this.#await(id, count, nowMs);
    if (found.chunks.length !== count) return this.#drop(1);
    if (found.chunks[number] !== undefined) return undefined;
    const chunk = Buffer.from(bytes.subarray(CHUNK_HEAD_BYTES));
    found.chunks[number] = chunk;
    found.bytes += chunk.length;
    found.missing--;
    this.#waitingBytes += chunk.length;
    if (found.missing > 0) return undefined;
    this.#forget(id, found);
    return Buffer.concat(found.chunks as Buffer[]);
  }

  #await(id: string, count: number, nowMs: number): Waiting {
    const bytes = WAITING_BYTES + count * PLACE_BYTES;
    const waiting = { sinceMs: nowMs, chunks: new Array<Buffer | undefined>(count), bytes, missing: count };
    this.#waitingBytes += bytes;
    this.#waiting.set(id, waiting);
    return waiting;
  }

  #forgetOld(nowMs: number): void {
    for (const [id, waiting] of this.#waiting) {
      if (nowMs - waiting.sinceMs <= CHUNKS_KEPT_MS && this.#waitingBytes <= MAX_WAITING_BYTES) return;
      this.#forget(id, waiting);
      this.#drop(waiting.chunks.length - waiting.missing);
    }
  }

  #drop(chunks: number): undefined {
    this.#dropped(chunks);
    return undefined;
  }

  #forget(id: string, { bytes }: Waiting): void {
    this.#waiting.delete(id);
    this.#waitingBytes -= bytes;
  }
}

function eventOf(bytes: Buffer, timeMs: number): Event {
  const whole = unpacked(bytes);
  const text = decodeText(typeof whole === "string" ? bytes : whole);
  const fields = parseEventObject(text);
  if (fields !== undefined) return named(fields, timeMs);
  const reason = typeof whole === "string" ? whole : "it isn't a JSON object";
  const event = new Event({ message: text, error: { message: `no message of GELF: ${reason}` } }, timeMs);
  event.tag(FAILURE_TAG);
  return event;
}

/** Returns a message packed by gzip or zlib unpacked, another as it is; a text: why it can't be. */
function unpacked(bytes: Buffer): Buffer | string {
  const limit = { maxOutputLength: MAX_MESSAGE_BYTES };
  try {
    if (bytes[0] === 0x1f && bytes[1] === 0x8b) return gunzipSync(bytes, limit);
    return bytes[0] === 0x78 ? inflateSync(bytes, limit) : bytes;
  } catch (error) {
    const isTooLong = (error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE";
    return isTooLong
      ? `unpacked it has more than ${MAX_MESSAGE_BYTES} bytes`
      : "what it is packed by is damaged";
  }
}

/** Names the members by ECS; additional fields lose their underscore. */
function named(gelf: JsonObject, nowMs: number): Event {
  const { short_message, message, full_message, timestamp, level, host, version: _version, ...more } = gelf;
  const seconds = Number(valueText(timestamp));
  const isTimed = timestamp !== undefined && timestamp !== null && Number.isFinite(seconds);
  const event = new Event(
    { message: valueText(short_message ?? message ?? full_message ?? "") },
    isTimed ? seconds * 1000 : nowMs,
  );
  const set = (field: string, value: unknown): void => {
    const reference = fieldReference(field);
    if (!event.has(reference)) event.set(reference, value);
  };
  if (host !== undefined) set("[host][name]", valueText(host));
  if (short_message !== undefined && message !== undefined) set("_message", message);
  if (full_message !== undefined && (short_message ?? message) !== undefined)
    set("full_message", full_message);
  const severity = Number(valueText(level));
  if (level !== undefined && SEVERITY_LEVELS[severity] !== undefined) {
    set("[log][level]", SEVERITY_LEVELS[severity]);
    set("[log][syslog][severity][code]", severity);
  }
  for (const [name, value] of Object.entries(more)) {
    const own = name.startsWith("_") ? name.slice(1) : name;
    const field = ECS[own] ?? (/^[\w.-]+$/.test(own) ? own : undefined);
    if (field === undefined || field === "id") continue;
    // Its name may be that of a member, or a plain value be where an object is needed.
    const isFree = !event.has(fieldReference(field)) && event.trySet(fieldReference(field), value);
    if (!isFree) set(`_${own}`, value);
  }
  return event;
}
