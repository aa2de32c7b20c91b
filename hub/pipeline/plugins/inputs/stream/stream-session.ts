/** One stream of bytes (a connection, a pipe): cut at a delimiter, decoded, sent; reading continues when the log has taken it. */

import { randomUUID } from "node:crypto";
import type { Codec, CodecStream } from "#hub/pipeline/plugins/codec.ts";
import type { InputChannel, InputContext } from "#hub/pipeline/plugins/input.ts";
import { FrameEnds } from "#proto/codec/syslog-frames.ts";
import type { Event } from "#proto/event.ts";
import { KeptBytes } from "#proto/kit/byte-parts.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { NoteHeld, NoteSender } from "./listener.ts";

/** A line that is longer is cut there and tagged, so that a source can't fill the memory. Bytes. */
export const MAX_LINE_BYTES = 1024 * 1024;

const CUT_TAG = "line_cut";

const CR = 0x0d;
const LF = 0x0a;

/** The length of a message and the sign that its head begins with. */
const OCTET_COUNT = /^([1-9]\d{0,6}) </;
const MAX_HEAD_BYTES = 9;

export interface StreamSessionOptions {
  readonly context: InputContext;
  readonly codec: Codec;
  /** Sets what is known of the source. */
  readonly decorate?: (event: Event) => void;
  /** What ends a payload; undefined: each chunk is one. */
  readonly delimiter?: string;
  /** Payloads of syslog may begin with their length instead (RFC 6587 §3.4.1), and need no delimiter then. */
  readonly countsOctets?: boolean;
  readonly held?: NoteHeld;
}

export class StreamSession {
  readonly #options: StreamSessionOptions;
  readonly #channel: InputChannel;
  /** Of a codec that finds the ends of its values itself. */
  readonly #stream: CodecStream | undefined;
  /** What came after the last delimiter. */
  readonly #rest = new KeptBytes();
  /** Until the rest has so many bytes, or a line ends where that is awaited, it isn't parsed again. */
  #awaited = { bytes: 0, isLine: false };
  /** The current line is sent in parts. */
  #isCutting = false;
  #flushTimer: NodeJS.Timeout | undefined;
  #flushing: Promise<void> = Promise.resolve();

  constructor(options: StreamSessionOptions) {
    this.#options = options;
    // What a socket brought can't be read again: each session is a source of its own.
    this.#channel = options.context.open({ key: randomUUID() });
    this.#stream = options.codec.stream?.();
  }

  /**
   * Takes a chunk; resolves when what it completed is in the log. Throws overloaded if the rest may not be held, parsing where
   * a codec without a delimiter can't read on.
   */
  async push(chunk: Buffer): Promise<void> {
    if (this.#stream !== undefined) return await this.#pushValues(this.#stream, chunk);
    clearTimeout(this.#flushTimer);
    await this.#flushing;
    const payloads = this.#payloads(chunk);
    await this.#send(payloads.flatMap(({ payload, isCut }) => this.#decode(payload, isCut)));
    this.#hold();
    const { flushAfterMs, held = 0 } = this.#options.codec;
    if (flushAfterMs === undefined || held === 0) return;
    this.#flushTimer = setTimeout(() => {
      this.#flushing = this.#flush().catch(() => undefined);
    }, flushAfterMs);
  }

  async #pushValues(stream: CodecStream, chunk: Buffer): Promise<void> {
    await this.#send(stream.decode(chunk, this.#options.context.clock.now()));
    if (stream.isBroken) throw new AppError("parsing", "the sender sent data that the codec can't decode");
    this.#options.held?.(stream.pendingBytes);
  }

  /** Sends what the codec holds. */
  async #flush(): Promise<void> {
    await this.#send(this.#options.codec.flush?.() ?? []);
  }

  /** Sends what is left; to be called once, when the stream has ended. */
  async end(): Promise<void> {
    clearTimeout(this.#flushTimer);
    await this.#flushing;
    try {
      const rest = this.#rest.length === 0 ? [] : this.#decode(this.#rest.take(), this.#isCutting);
      const values = this.#stream?.end(this.#options.context.clock.now()) ?? [];
      await this.#send([...rest, ...values, ...(this.#options.codec.flush?.() ?? [])]);
    } finally {
      this.#channel.close();
    }
  }

  /** Records what is held of a line; a refusal cuts it. Throws overloaded. */
  #hold(): void {
    try {
      this.#options.held?.(this.#rest.length);
    } catch (error) {
      this.#beginCut();
      throw error;
    }
  }

  /** The current line is counted once, however many parts it has. */
  #beginCut(): void {
    if (!this.#isCutting) this.#options.context.cut(1);
    this.#isCutting = true;
  }

  #payloads(chunk: Buffer): { payload: Buffer; isCut: boolean }[] {
    const { delimiter, countsOctets = false } = this.#options;
    if (countsOctets) return this.#countedPayloads(chunk);
    if (delimiter === undefined) return [{ payload: chunk, isCut: false }];
    const found: { payload: Buffer; isCut: boolean }[] = [];
    const end = Buffer.from(delimiter);
    // A delimiter of several bytes may lie across two chunks.
    let bytes = this.#rest.length > 0 && end.length > 1 ? this.#rest.take(chunk) : chunk;
    let at = 0;
    for (;;) {
      const next = bytes.indexOf(end, at);
      if (next < 0) break;
      const line = bytes.subarray(at, next);
      found.push({ payload: this.#rest.take(line), isCut: this.#isCutting });
      this.#isCutting = false;
      at = next + end.length;
    }
    bytes = bytes.subarray(at);
    if (bytes.length > 0) {
      this.#rest.keep(bytes);
    }
    if (this.#rest.length >= MAX_LINE_BYTES) {
      this.#beginCut();
      found.push({ payload: this.#rest.take(), isCut: true });
    }
    return found;
  }

  /** Cuts payloads by the length before them, and at newlines or zero bytes where there is none. */
  #countedPayloads(chunk: Buffer): { payload: Buffer; isCut: boolean }[] {
    const awaited = this.#awaited;
    if (
      this.#rest.length + chunk.length < awaited.bytes &&
      !(awaited.isLine && new FrameEnds(chunk).next(0) >= 0)
    ) {
      this.#rest.keep(chunk);
      return [];
    }
    const found: { payload: Buffer; isCut: boolean }[] = [];
    const bytes = this.#rest.take(chunk);
    const ends = new FrameEnds(bytes);
    this.#awaited = { bytes: 0, isLine: false };
    let at = 0;
    while (at < bytes.length) {
      const head = OCTET_COUNT.exec(bytes.toString("latin1", at, at + MAX_HEAD_BYTES));
      const size = Number(head?.[1]);
      const isCounted = head !== null && size <= MAX_LINE_BYTES && !this.#isCutting;
      const start = isCounted ? at + head[0].length - 1 : at;
      const end = isCounted ? start + size : ends.next(at);
      if (end < 0 || end > bytes.length) {
        // A head may still become whole by the next bytes.
        if (isCounted) this.#awaited = { bytes: end - at, isLine: false };
        else if (bytes.length - at >= MAX_HEAD_BYTES) this.#awaited = { bytes: MAX_LINE_BYTES, isLine: true };
        break;
      }
      found.push({ payload: bytes.subarray(start, end), isCut: this.#isCutting });
      this.#isCutting = false;
      at = isCounted && bytes[end] !== LF ? end : end + 1;
    }
    const rest = bytes.subarray(at);
    if (rest.length >= MAX_LINE_BYTES + MAX_HEAD_BYTES) {
      this.#beginCut();
      found.push({ payload: rest, isCut: true });
    } else if (rest.length > 0) this.#rest.keep(rest);
    return found;
  }

  #decode(bytes: Buffer, isCut: boolean): Event[] {
    const { delimiter, countsOctets = false } = this.#options;
    const isCrLf = (delimiter === "\n" || countsOctets) && bytes.at(-1) === CR;
    const payload = isCrLf ? bytes.subarray(0, -1) : bytes;
    if (payload.length === 0) return [];
    const events = this.#options.codec.decode(payload, this.#options.context.clock.now());
    if (isCut) for (const event of events) event.tag(CUT_TAG);
    return events;
  }

  async #send(events: readonly Event[]): Promise<void> {
    if (events.length === 0) return;
    const { decorate } = this.#options;
    if (decorate !== undefined) for (const event of events) decorate(event);
    await this.#channel.send(events.map((event) => ({ event })));
  }
}

/** Longest line of the PROXY protocol (version 1), bytes. */
const MAX_PROXY_LINE_BYTES = 107;

/** The sender. */
export interface Sender {
  readonly ip: string;
  readonly port: number;
}

/** Takes the line off the beginning of a connection. */
export class ProxyLine {
  #head: Buffer = Buffer.alloc(0);
  #sender: Sender;
  #proxy: Sender | undefined;
  #isRead: boolean;
  readonly #sentBy: NoteSender | undefined;

  /** `peer`: who the connection is from; `isExpected` false: there is no line, and all bytes are the sender's. */
  constructor(peer: Sender, isExpected: boolean, sentBy?: NoteSender) {
    this.#sentBy = sentBy;
    this.#sender = peer;
    this.#isRead = !isExpected;
  }

  /** As the line says, or the peer. */
  get sender(): Sender {
    return this.#sender;
  }

  /** What the sender connected to, as the line says; undefined without one. */
  get proxy(): Sender | undefined {
    return this.#proxy;
  }

  /**
   * Returns what of `chunk` is after the line; undefined if the line continues. Throws parsing if there is none,
   * overloaded.
   */
  take(chunk: Buffer): Buffer | undefined {
    if (this.#isRead) return chunk;
    this.#head = Buffer.concat([this.#head, chunk]);
    const end = this.#head.indexOf("\r\n");
    if (end < 0 && this.#head.length < MAX_PROXY_LINE_BYTES) return undefined;
    this.#read(this.#head.toString("latin1", 0, Math.max(end, 0)));
    this.#isRead = true;
    return this.#head.subarray(end + 2);
  }

  /** `PROXY TCP4 192.0.2.1 198.51.100.1 5678 443` */
  #read(line: string): void {
    const [word, family, ip, proxyIp, port, proxyPort] = line.split(" ");
    if (word !== "PROXY")
      throw new AppError("parsing", "the connection doesn't begin with a line of the PROXY protocol");
    if (family === "UNKNOWN" || ip === undefined) return;
    this.#sender = { ip, port: Number(port ?? 0) };
    if (proxyIp !== undefined) this.#proxy = { ip: proxyIp, port: Number(proxyPort ?? 0) };
    this.#sentBy?.(ip);
  }
}
