/** Lumberjack, versions 1 and 2 (github.com/elastic/go-lumber): frames gathered into windows, and their acknowledgement. */

import { createInflate } from "node:zlib";
import { addPart } from "#proto/kit/byte-parts.ts";
import { AppError } from "#proto/kit/errors.ts";
import { unpackedBody } from "./http-body.ts";
import type { NoteHeld } from "./listener.ts";

/** Longest frame of one event. Bytes. */
const MAX_FRAME_BYTES = 16 * 1024 * 1024;

/** Longest compressed frame, packed or not: it holds a whole window, 2,048 events of 32 KiB. Bytes. */
const MAX_COMPRESSED_BYTES = 64 * 1024 * 1024;

/** Events in one window; senders have 2,048 by default. */
const MAX_WINDOW = 100_000;

/** Bytes of the events in one window, which stay in memory until it is complete. */
const MAX_WINDOW_BYTES = 128 * 1024 * 1024;

/** Pairs of an event of version 1, whose senders know a handful of fields: they are read again when more came. */
const MAX_PAIRS = 1_000;

/** Digits of the versions that are spoken: 1, of the first forwarders, and 2. */
export const VERSION_2 = 0x32;
const VERSIONS = [0x31, VERSION_2];
const WINDOW = 0x57;
const JSON_FRAME = 0x4a;
const DATA_FRAME = 0x44;
const COMPRESSED = 0x43;

/** The events of one window, which are acknowledged together. */
interface LumberjackWindow {
  /** JSON objects, UTF-8. */
  readonly payloads: readonly Buffer[];
  /** Number of the last event; the acknowledgement names it. */
  readonly sequence: number;
}

/** Returns the frame that acknowledges all events up to `sequence`, in the sender's version. */
export function acknowledgement(version: number, sequence: number): Buffer {
  const frame = Buffer.from([version, 0x41, 0, 0, 0, 0]);
  frame.writeUInt32BE(sequence, 2);
  return frame;
}

/** Gathers frames into windows. */
export class LumberjackReader {
  /** Digit of the version that the sender spoke last. */
  version = VERSION_2;
  /** What came of the frame under way. */
  #pending: Uint8Array[] = [];
  #pendingBytes = 0;
  /** Bytes that it has at least: before these are there nothing is read. */
  #neededBytes = 0;
  #size = 0;
  #payloads: Buffer[] = [];
  #payloadBytes = 0;
  #sequence = 0;
  /** Events of the bytes that are being read. */
  #taken = 0;
  /** What can't be read after the windows that were returned. */
  #fault: unknown;
  readonly #maxWindowBytes: number;
  readonly #held: NoteHeld | undefined;

  /** `maxWindowBytes`: longest events of one window together; `held` also gets what a frame unpacks to, as it comes. */
  constructor({
    maxWindowBytes = MAX_WINDOW_BYTES,
    held,
  }: { maxWindowBytes?: number; held?: NoteHeld } = {}) {
    this.#maxWindowBytes = maxWindowBytes;
    this.#held = held;
  }

  /**
   * Takes a chunk; returns the windows that it completed. Throws parsing for what isn't lumberjack; where windows came before
   * it, `check` throws that.
   */
  async push(chunk: Buffer): Promise<LumberjackWindow[]> {
    addPart(this.#pending, chunk);
    this.#pendingBytes += chunk.length;
    if (this.#pendingBytes < this.#neededBytes) return [];
    const bytes = this.#pendingBytes === chunk.length ? chunk : Buffer.concat(this.#pending);
    const windows: LumberjackWindow[] = [];
    this.#taken = 0;
    let used = bytes.length;
    try {
      used = await this.#frames(bytes, windows);
    } catch (error) {
      if (windows.length === 0) throw error;
      this.#fault = error;
    }
    const rest = bytes.subarray(used);
    // A copy, as the few bytes that are left would keep all of a long frame.
    this.#pending = rest.length === 0 ? [] : [Buffer.from(rest)];
    this.#pendingBytes = rest.length;
    return windows;
  }

  /** To be called once the windows of a chunk are taken. Throws what couldn't be read after them. */
  check(): void {
    if (this.#fault !== undefined) throw this.#fault;
  }

  /** Bytes of the frame and the window that aren't whole. */
  get heldBytes(): number {
    return this.#pendingBytes + this.#payloadBytes;
  }

  /** Reads whole frames; returns how many bytes they took. `isInner`: they are those of a compressed frame. */
  async #frames(bytes: Buffer, windows: LumberjackWindow[], isInner = false): Promise<number> {
    let at = 0;
    this.#neededBytes = 0;
    while (bytes.length - at >= 6) {
      this.version = checkVersion(bytes[at]!);
      const kind = bytes[at + 1];
      const first = bytes.readUInt32BE(at + 2);
      if (kind === WINDOW) {
        if (first > MAX_WINDOW) throw new AppError("parsing", `a window of ${first} events is too large`);
        // What came of a window that its sender gave up is taken, as the next window counts from the start.
        if (this.#payloads.length > 0) this.#complete(windows);
        this.#size = first;
        at += 6;
      } else if (kind === COMPRESSED) {
        // Each level multiplies what a sender can make the hub unpack by a thousand.
        if (isInner) throw new AppError("parsing", "a compressed frame holds another one");
        checkLength(first, MAX_COMPRESSED_BYTES);
        if (this.#lacks(bytes, at, 6 + first)) return at;
        // Of a frame that can't be read whole, nothing is taken.
        const inner: LumberjackWindow[] = [];
        await this.#unpackFrames(bytes.subarray(at + 6, at + 6 + first), inner);
        for (const window of inner) windows.push(window);
        at += 6 + first;
      } else if (kind === JSON_FRAME) {
        if (this.#lacks(bytes, at, 10)) return at;
        const length = bytes.readUInt32BE(at + 6);
        checkLength(length);
        if (this.#lacks(bytes, at, 10 + length)) return at;
        const payload = bytes.subarray(at + 10, at + 10 + length);
        this.#take(first, isInner ? payload : Buffer.from(payload), windows);
        at += 10 + length;
      } else if (kind === DATA_FRAME) {
        const pairs = readPairs(bytes, at + 6);
        if (typeof pairs === "number") {
          this.#lacks(bytes, at, pairs - at);
          return at;
        }
        this.#take(first, Buffer.from(JSON.stringify(pairs.fields)), windows);
        at = pairs.end;
      } else {
        throw new AppError("parsing", `0x${(kind ?? 0).toString(16)} isn't a frame of lumberjack`);
      }
    }
    return at;
  }

  async #unpackFrames(packed: Buffer, windows: LumberjackWindow[]): Promise<void> {
    let unpackedBytes = 0;
    const take = (count: number): void => {
      unpackedBytes += count;
      this.#held?.(this.heldBytes + unpackedBytes);
    };
    const inner = await unpackedBody([packed], createInflate(), MAX_COMPRESSED_BYTES, { take });
    const window = this.#payloads;
    const known = window.length;
    if ((await this.#frames(inner, windows, true)) !== inner.length)
      throw new AppError("parsing", "a compressed frame ends in the middle of an event");
    // What waits for the rest of its window would keep all that was unpacked, and isn't counted as so much.
    for (let at = this.#payloads === window ? known : 0; at < this.#payloads.length; at++)
      this.#payloads[at] = Buffer.from(this.#payloads[at]!);
  }

  /** Whether bytes of the frame at `at` are still to come. */
  #lacks(bytes: Buffer, at: number, frameBytes: number): boolean {
    const lacks = bytes.length - at < frameBytes;
    this.#neededBytes = lacks ? frameBytes : 0;
    return lacks;
  }

  #take(sequence: number, payload: Buffer, windows: LumberjackWindow[]): void {
    // Of small ones a packed frame may hold a million, each a window.
    if (++this.#taken > MAX_WINDOW)
      throw new AppError("parsing", `a frame holds more than ${MAX_WINDOW} events`);
    this.#payloads.push(payload);
    this.#payloadBytes += payload.length;
    if (this.#payloadBytes > this.#maxWindowBytes)
      throw new AppError("parsing", `the events of a window are longer than ${this.#maxWindowBytes} bytes`);
    this.#sequence = sequence;
    if (this.#payloads.length >= this.#size) this.#complete(windows);
  }

  #complete(windows: LumberjackWindow[]): void {
    windows.push({ payloads: this.#payloads, sequence: this.#sequence });
    this.#payloads = [];
    this.#payloadBytes = 0;
  }
}

/**
 * Returns an event of version 1, pairs of texts; where more is to come, the offset that it goes to at least. Throws
 * parsing if it is too long.
 */
function readPairs(bytes: Buffer, start: number): { fields: Record<string, string>; end: number } | number {
  if (bytes.length - start < 4) return start + 4;
  const count = bytes.readUInt32BE(start);
  if (count > MAX_PAIRS) throw new AppError("parsing", `an event of ${count} pairs is too large`);
  let at = start + 4;
  const texts: string[] = [];
  for (let index = 0; index < count * 2; index++) {
    if (bytes.length - at < 4) return at + 4;
    const length = bytes.readUInt32BE(at);
    checkLength(at + length - start);
    if (bytes.length - at < 4 + length) return at + 4 + length;
    texts.push(bytes.toString("utf8", at + 4, at + 4 + length));
    at += 4 + length;
  }
  const entries = Array.from({ length: count }, (_, index): [string, string] => [
    texts[index * 2]!,
    texts[index * 2 + 1]!,
  ]);
  return { fields: Object.fromEntries(entries), end: at };
}

function checkVersion(version: number): number {
  if (VERSIONS.includes(version)) return version;
  throw new AppError(
    "parsing",
    `version 0x${version.toString(16)} of lumberjack isn't supported; versions 1 and 2 are`,
  );
}

function checkLength(length: number, maxBytes = MAX_FRAME_BYTES): void {
  if (length > maxBytes) throw new AppError("parsing", `a frame of ${length} bytes is too long`);
}
