/**
 * The Forward protocol, version 1 (github.com/fluent/fluentd/wiki/Forward-Protocol-Specification-v1): the modes of its
 * messages, and the handshake.
 */

import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";
import { createGunzip, createZstdDecompress } from "node:zlib";
import { ExtensionCodec } from "@msgpack/msgpack";
import { ValueStream } from "#hub/pipeline/formats/message-pack.ts";
import { ZstdFrames } from "#hub/pipeline/formats/zstd-frames.ts";
import { isHash, valueText } from "#proto/event.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { unpackedBody } from "./http-server.ts";
import type { NoteHeld } from "./listener.ts";

/** Longest message, packed or not. Bytes. */
export const MAX_FORWARD_BYTES = 32 * 1024 * 1024;

/** What the records of a message have of their groups, all together: each event has a copy. Bytes. */
const MAX_SHARED_BYTES = 128 * 1024 * 1024;

/** How long entries are read at a time, ms, and entries between two looks at the clock. */
const SLICE_MS = 8;
const ENTRIES_A_LOOK = 64;

/** Type of the extension EventTime. */
const EVENT_TIME = 0;

/** Seconds that Fluent Bit marks the ends of a group with: the record before it has what all records in it share. */
const GROUP_START = 0xffffffff;
const GROUP_END = 0xfffffffe;

/** A time with nanoseconds, as ms since 1970-01-01 UTC. */
class EventTime {
  readonly ms: number;
  /** Set: this is no time but one end of a group. */
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

/** An entry of a message. */
export interface ForwardEntry {
  readonly timeMs: number | undefined;
  readonly record: JsonObject;
  /** What Fluent Bit notes besides the record; undefined: nothing. */
  readonly metadata: JsonObject | undefined;
}

export interface ForwardMessage {
  readonly tag: string;
  readonly entries: readonly ForwardEntry[];
  /** Id that the acknowledgement repeats; undefined: none is wanted. */
  readonly chunk: string | Uint8Array | undefined;
}

/** Reads a decoded message of any mode; `held` gets what it unpacks to. Throws parsing for what is none, overloaded. */
export async function forwardMessage(value: unknown, held?: NoteHeld): Promise<ForwardMessage> {
  if (!Array.isArray(value) || !isText(value[0])) throw noMessage();
  const tag = textOf(value[0]);
  const second = value[1] as unknown;
  const reader = new EntryReader();
  if (Array.isArray(second)) {
    for (const each of second) reader.read(each);
    return { tag, entries: reader.entries, chunk: chunkOf(value[2]) };
  }
  if (isText(second)) {
    const bytes = typeof second === "string" ? Buffer.from(second, "latin1") : second;
    const option = isHash(value[2]) ? value[2] : {};
    await readPacked(await unpacked(bytes, option["compressed"], held), reader);
    return { tag, entries: reader.entries, chunk: chunkOf(option) };
  }
  reader.read([second, value[2]]);
  return { tag, entries: reader.entries, chunk: chunkOf(value[3]) };
}

/** Reads entries, one after the other; other work is done between them. */
async function readPacked(bytes: Uint8Array, reader: EntryReader): Promise<void> {
  const stream = new ValueStream(FORWARD_DECODING);
  let endMs = performance.now() + SLICE_MS;
  let count = 0;
  for (const value of stream.values(bytes)) {
    reader.read(value);
    if (++count % ENTRIES_A_LOOK > 0 || performance.now() < endMs) continue;
    await nextTurn();
    endMs = performance.now() + SLICE_MS;
  }
  if (stream.pendingBytes > 0) throw new AppError("parsing", "packed entries end within a value");
}

async function unpacked(bytes: Uint8Array, compressed: unknown, held?: NoteHeld): Promise<Uint8Array> {
  if (compressed === undefined || compressed === null || compressed === "text") return bytes;
  if (compressed !== "gzip" && compressed !== "zstd")
    throw new AppError("parsing", `entries packed by ${valueText(compressed).slice(0, 100)} aren't read`);
  const packed = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  let heldBytes = bytes.length;
  const take = (count: number): void => held?.((heldBytes += count));
  try {
    if (compressed === "gzip")
      return await unpackedBody([packed], createGunzip(), MAX_FORWARD_BYTES, { take });
    const frames = new ZstdFrames().cut(packed);
    return await unpackedBody(frames, createZstdDecompress(), MAX_FORWARD_BYTES, { take });
  } catch (error) {
    if (error instanceof AppError && error.code === "overloaded") throw error;
    throw new AppError("parsing", `packed entries are no ${compressed}, or too long`, { cause: error });
  }
}

/** Gathers the entries of a message. */
class EntryReader {
  readonly entries: ForwardEntry[] = [];
  /** What the records of the group under way share. */
  #group: JsonObject = {};
  #groupBytes = 0;
  /** What all records have of their groups. */
  #sharedBytes = 0;

  /** Throws parsing for what is no entry. */
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
        "records share too much with their group; let the sender make shorter messages",
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
function isText(value: unknown): value is string | Uint8Array {
  return typeof value === "string" || value instanceof Uint8Array;
}

function textOf(value: unknown): string {
  return value instanceof Uint8Array ? Buffer.from(value).toString() : String(value);
}

function timeOf(time: unknown): number | undefined {
  if (time instanceof EventTime) return time.ms;
  const seconds = Number(time);
  return time !== undefined && time !== null && Number.isFinite(seconds) ? seconds * 1000 : undefined;
}

function chunkOf(option: unknown): string | Uint8Array | undefined {
  const chunk = isHash(option) ? option["chunk"] : undefined;
  return isText(chunk) ? chunk : undefined;
}

/** Deepest nesting of values that is kept. */
const MAX_DEPTH = 64;

/** Returns a decoded value as a value of JSON. */
function jsonOf(value: unknown, depth: number): unknown {
  if (depth > MAX_DEPTH) throw new AppError("parsing", "values are nested too deep");
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

function noMessage(): AppError {
  return new AppError("parsing", "the connection doesn't speak the Forward protocol");
}

export interface ForwardSecrets {
  readonly sharedKey: string;
  /** Passwords by user; empty: no user is asked for. */
  readonly users: Readonly<Record<string, string>>;
  /** Name of this side. */
  readonly hostName: string;
}

/** The handshake of a connection whose sender knows a shared key: HELO, PING, PONG. */
export class ForwardHandshake {
  readonly #secrets: ForwardSecrets;
  readonly #nonce = randomBytes(16).toString("base64");
  readonly #salt: string;

  constructor(secrets: ForwardSecrets) {
    this.#secrets = secrets;
    this.#salt = Object.keys(secrets.users).length === 0 ? "" : randomBytes(16).toString("base64");
  }

  /** The first message of the connection. */
  get helo(): unknown[] {
    return ["HELO", { nonce: this.#nonce, auth: this.#salt, keepalive: true }];
  }

  /** Checks the sender's PING; returns the PONG, and why the sender is refused or undefined. */
  answer(ping: unknown): { readonly pong: unknown[]; readonly refused: string | undefined } {
    const { hostName } = this.#secrets;
    if (Array.isArray(ping) && typeof ping[0] === "string" && ping[0] !== "PING")
      throw new AppError("parsing", "the sender has no shared_key, and this input asks for one");
    if (!Array.isArray(ping) || ping[0] !== "PING" || ping.length < 6) throw noMessage();
    const [, host, salt, digest, user, password] = ping.map((each: unknown) =>
      each instanceof Uint8Array ? Buffer.from(each).toString("latin1") : String(each),
    );
    const refused = this.#fault(host!, salt!, digest!, user!, password!);
    const own = refused === undefined ? this.#digest(salt!, hostName) : "";
    return { pong: ["PONG", refused === undefined, refused ?? "", hostName, own], refused };
  }

  #fault(host: string, salt: string, digest: string, user: string, password: string): string | undefined {
    if (!isSame(digest, this.#digest(salt, host))) return "shared_key mismatch";
    if (this.#salt === "") return undefined;
    const { users } = this.#secrets;
    const known = Object.hasOwn(users, user) ? users[user]! : randomBytes(16).toString("base64");
    return isSame(password, sha512(this.#salt, user, known)) ? undefined : "username/password mismatch";
  }

  #digest(salt: string, host: string): string {
    return sha512(Buffer.from(salt, "latin1"), host, this.#nonce, this.#secrets.sharedKey);
  }
}

function sha512(...parts: (string | Buffer)[]): string {
  const hash = createHash("sha512");
  for (const part of parts) hash.update(part);
  return hash.digest("hex");
}

function isSame(given: string, expected: string): boolean {
  return given.length === expected.length && timingSafeEqual(Buffer.from(given), Buffer.from(expected));
}
