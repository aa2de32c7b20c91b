/**
 * The Forward protocol, version 1 (github.com/fluent/fluentd/wiki/Forward-Protocol-Specification-v1): the modes of its
 * messages, and the handshake.
 */

import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";
import { createGunzip, createZstdDecompress } from "node:zlib";
import {
  EntryReader,
  FORWARD_DECODING,
  type ForwardEntry,
  isText,
  MAX_FORWARD_BYTES,
  noMessage,
  textOf,
  tooLong,
} from "#hub/pipeline/formats/forward-entries.ts";
import { ValueStream } from "#hub/pipeline/formats/message-pack.ts";
import { ZstdFrames } from "#hub/pipeline/formats/zstd-frames.ts";
import { isHash, valueText } from "#proto/event.ts";
import { AppError } from "#proto/kit/errors.ts";
import { unpackedBody } from "./http-body.ts";
import type { NoteHeld } from "./listener.ts";

/** How long entries are read at a time, ms, and entries between two looks at the clock. */
const SLICE_MS = 8;
const ENTRIES_A_LOOK = 64;

export interface ForwardMessage {
  readonly tag: string;
  readonly entries: readonly ForwardEntry[];
  /** Id that the acknowledgement repeats; undefined: none is wanted. */
  readonly chunk: string | Uint8Array | undefined;
}

/** Reads a message of any mode, decoded `withPackedBytes`; `held` gets what it unpacks to. Throws parsing for what is none, overloaded. */
export async function forwardMessage(value: unknown, held?: NoteHeld): Promise<ForwardMessage> {
  if (!Array.isArray(value) || !isText(value[0])) throw noMessage();
  const tag = textOf(value[0]);
  const second = value[1] as unknown;
  const reader = new EntryReader();
  if (Array.isArray(second)) {
    for (const each of second) reader.read(each);
    return { tag, entries: reader.entries, chunk: chunkOf(value[2]) };
  }
  if (second instanceof Uint8Array) {
    const option = isHash(value[2]) ? value[2] : {};
    await readPacked(await unpacked(second, option["compressed"], held), reader);
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
    if (error instanceof AppError && error.code === "request_too_large") throw tooLong();
    throw new AppError("parsing", `packed entries aren't ${compressed}`, { cause: error });
  }
}

function chunkOf(option: unknown): string | Uint8Array | undefined {
  const chunk = isHash(option) ? option["chunk"] : undefined;
  return isText(chunk) ? chunk : undefined;
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
      throw new AppError("parsing", "the sender has no shared_key, and this input requires one");
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
