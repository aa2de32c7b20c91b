/** Entries of the Forward protocol (github.com/fluent/fluentd/wiki/Forward-Protocol-Specification-v1), as decoded MessagePack. */

import { ExtensionCodec } from "@msgpack/msgpack";
import { isRawJson } from "#proto/codec/json.ts";
import { isHash, valueText } from "#proto/event.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";

/** Longest message, packed or not. Bytes. */
export const MAX_FORWARD_BYTES = 32 * 1024 * 1024;

/** What the records of a message have of their groups, all together: each event has a copy. Bytes. */
const MAX_SHARED_BYTES = 128 * 1024 * 1024;

/** Type of the extension EventTime. */
const EVENT_TIME = 0;

/** Seconds that Fluent Bit marks the ends of a group with: the record before it has what all records in it share. */
const GROUP_START = 0xffffffff;
const GROUP_END = 0xfffffffe;

/** A time with nanoseconds, as ms since 1970-01-01 UTC. */
class EventTime {
  readonly ms: number;
  /** Set: this isn't a time but one end of a group. */
  readonly groupEnd: "start" | "end" | undefined;

  constructor(data: Uint8Array) {
    if (data.length !== 8) throw new AppError("parsing", "an EventTime has 8 bytes");
    const bytes = Buffer.from(data.buffer, data.byteOffset, data.length);
    const [seconds, nanos] = [bytes.readUInt32BE(0), bytes.readUInt32BE(4)];
    this.ms = seconds * 1000 + Math.floor(nanos / 1e6);
    if (nanos === 0 && seconds >= GROUP_END) this.groupEnd = seconds === GROUP_START ? "start" : "end";
  }
}

const extensions = new ExtensionCodec();
extensions.register({
  type: EVENT_TIME,
  encode: () => null,
  decode: (data) => new EventTime(data),
});

/** How values are decoded, with the limits of one message. */
export const FORWARD_DECODING = {
  extensionCodec: extensions,
  useBigInt64: true,
  mapKeyConverter: textOf,
  maxStrLength: MAX_FORWARD_BYTES,
  maxBinLength: MAX_FORWARD_BYTES,
  maxArrayLength: 1_000_000,
  maxMapLength: 100_000,
} as const;

/** Most members of a message: tag, entries, options. Those of a handshake have more. */
const MAX_PACKED_MEMBERS = 3;

/** Returns a message with the bytes of its packed entries where the sender wrote them as a text, although they aren't UTF-8. */
export function withPackedBytes(value: unknown, bytes: Uint8Array): unknown {
  if (!Array.isArray(value) || value.length > MAX_PACKED_MEMBERS) return value;
  if (!isText(value[0]) || typeof value[1] !== "string") return value;
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  // The list's head has a byte, as it has few members; senders may still write a longer one.
  const head = view[0] === 0xdc ? 3 : view[0] === 0xdd ? 5 : 1;
  const [, tagEnd] = textAt(view, head);
  const [from, end] = textAt(view, tagEnd);
  return [value[0], view.subarray(from, end), ...value.slice(2)];
}

/** Returns where the letters of the text or bytes at `at` begin and end. */
function textAt(view: Buffer, at: number): [from: number, end: number] {
  const code = view.readUInt8(at);
  if (code >= 0xa0 && code <= 0xbf) return [at + 1, at + 1 + (code & 0x1f)];
  const size = code === 0xd9 || code === 0xc4 ? 1 : code === 0xda || code === 0xc5 ? 2 : 4;
  const from = at + 1 + size;
  return [from, from + view.readUIntBE(at + 1, size)];
}

/** An entry of a message. */
export interface ForwardEntry {
  readonly timeMs: number | undefined;
  readonly record: JsonObject;
  /** What Fluent Bit sends besides the record; undefined: nothing. */
  readonly metadata: JsonObject | undefined;
}

/** Gathers the entries of a message. */
export class EntryReader {
  readonly entries: ForwardEntry[] = [];
  /** What the records of the group under way share. */
  #group: JsonObject = {};
  #groupBytes = 0;
  /** What all records have of their groups. */
  #sharedBytes = 0;

  /** Throws parsing for what isn't an entry. */
  read(value: unknown): void {
    if (!Array.isArray(value)) throw noMessage();
    const [time, record] = value as unknown[];
    // Fluent Bit 2 adds metadata: [[time, metadata], record].
    const [plain, metadata] = Array.isArray(time) ? (time as unknown[]) : [time, undefined];
    if (!isHash(record)) throw noMessage();
    const own = jsonOf(record, 0) as JsonObject;
    const groupEnd = plain instanceof EventTime ? plain.groupEnd : undefined;
    if (groupEnd !== undefined) {
      this.#group = groupEnd === "start" ? own : {};
      this.#groupBytes = groupEnd === "start" ? Buffer.byteLength(JSON.stringify(own)) : 0;
      return;
    }
    this.#sharedBytes += this.#groupBytes;
    if (this.#sharedBytes > MAX_SHARED_BYTES)
      throw new AppError(
        "parsing",
        "records share too much with their group; configure the sender to send shorter messages",
      );
    const noted = isHash(metadata) && Object.keys(metadata).length > 0 ? jsonOf(metadata, 0) : undefined;
    this.entries.push({
      timeMs: timeOf(plain),
      record: { ...this.#group, ...own },
      metadata: noted as JsonObject | undefined,
    });
  }
}

/** Old senders write texts as bytes. */
export function isText(value: unknown): value is string | Uint8Array {
  return typeof value === "string" || value instanceof Uint8Array;
}

export function textOf(value: unknown): string {
  return value instanceof Uint8Array
    ? Buffer.from(value).toString()
    : value === null
      ? "null"
      : valueText(value);
}

function timeOf(time: unknown): number | undefined {
  if (time instanceof EventTime) return time.ms;
  const seconds = Number(valueText(time));
  return time !== undefined && time !== null && Number.isFinite(seconds) ? seconds * 1000 : undefined;
}

/** Deepest nesting of values that is kept. */
const MAX_DEPTH = 64;

/** Returns a decoded value as a value of JSON. */
function jsonOf(value: unknown, depth: number): unknown {
  if (depth > MAX_DEPTH) throw new AppError("parsing", "values are nested too deeply");
  if (isRawJson(value)) return value;
  if (value instanceof EventTime) return new Date(value.ms).toISOString();
  if (value instanceof Uint8Array) return Buffer.from(value).toString();
  if (typeof value === "bigint") {
    const number = Number(value);
    return Number.isSafeInteger(number) ? number : value.toString();
  }
  if (Array.isArray(value)) return value.map((item: unknown) => jsonOf(item, depth + 1));
  if (!isHash(value)) return typeof value === "object" && value !== null ? valueText(value) : value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, jsonOf(item, depth + 1)]));
}

/** Returns the error for a message that is too long, packed or not: a sender repeats it until its chunks are shorter. */
export function tooLong(): AppError {
  const sizes = "chunk_limit_size 16m of Fluentd's buffer, or a shorter flush_interval";
  return new AppError(
    "parsing",
    `a message may have ${MAX_FORWARD_BYTES} bytes at most, unpacked too; configure the sender to send shorter ones: ${sizes}`,
  );
}

/** Returns the error for what isn't a message. */
export function noMessage(): AppError {
  return new AppError("parsing", "the connection doesn't speak the Forward protocol");
}
