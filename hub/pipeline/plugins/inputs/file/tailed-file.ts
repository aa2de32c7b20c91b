/** One file that is followed as it grows: identified by its inode and first bytes, whatever its name. */

import { createHash } from "node:crypto";
import { createReadStream, type Stats } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { hostname } from "node:os";
import { createGunzip } from "node:zlib";
import type { Codec } from "#hub/pipeline/plugins/codec.ts";
import type { InputChannel, InputContext, InputEvent } from "#hub/pipeline/plugins/input.ts";
import { isHash } from "#proto/event.ts";

/** Bytes read and sent at a time. */
const CHUNK_BYTES = 256 * 1024;

/** First bytes, which distinguish a file from another one that got its inode. */
const HEAD_BYTES = 256;

const CR = 0x0d;

/** What is remembered of a file. */
export interface FilePosition {
  readonly path: string;
  /** Everything before is in the log. Bytes. */
  readonly offset: number;
  /** Counts the times it was rewritten. */
  readonly generation: number;
  /** How many first bytes `head` is of, and their hash. */
  readonly headBytes: number;
  readonly head: string;
  readonly seenMs: number;
}

export interface TailedFileOptions {
  readonly context: InputContext;
  readonly makeCodec: () => Codec;
  readonly delimiter: string;
  readonly signal: AbortSignal;
  /** Device and inode. */
  readonly key: string;
  readonly path: string;
  /** True: events have the file's path and the machine's name as path and host, otherwise as log.file.path. */
  readonly isLegacy: boolean;
}

/** Returns device and inode as text. */
export function fileKey({ dev, ino }: Stats): string {
  return `${dev}-${ino}`;
}

export class TailedFile {
  readonly #options: TailedFileOptions;
  #path: string;
  #handle: FileHandle | undefined;
  #channel: InputChannel | undefined;
  #codec: Codec;
  #cutter: LineCutter;
  #generation = 0;
  #head = { bytes: 0, hash: "" };
  /** Lines that the codec holds back. */
  #held: CutLine[] = [];
  #grewAtMs: number;

  constructor(options: TailedFileOptions) {
    this.#options = options;
    this.#path = options.path;
    this.#codec = options.makeCodec();
    this.#cutter = new LineCutter(options.delimiter, 0);
    this.#grewAtMs = options.context.clock.monotonic();
  }

  get path(): string {
    return this.#path;
  }

  /** It was renamed. */
  set path(path: string) {
    this.#path = path;
  }

  get isOpen(): boolean {
    return this.#handle !== undefined;
  }

  /** How long nothing was written, ms. */
  get quietMs(): number {
    return this.#options.context.clock.monotonic() - this.#grewAtMs;
  }

  /** Opens the file, and goes to where it was read up to; else to `fromEnd` or its beginning. Throws errors of the file system. */
  async open(fromEnd: boolean): Promise<void> {
    this.#handle = await open(this.#path, "r");
    try {
      if (fileKey(await this.#handle.stat()) === this.#options.key) await this.#goOn(fromEnd);
      else await this.close();
    } catch (error) {
      await this.close();
      throw error;
    }
  }

  async #goOn(fromEnd: boolean): Promise<void> {
    const { context, key } = this.#options;
    const known = readPosition(await context.state.get(key));
    if (known === undefined) {
      this.#begin(fromEnd ? (await this.#handle!.stat()).size : 0, 0);
      // At once: what is written while the hub is down must not be passed over at the next start.
      await this.#send([]);
      return;
    }
    const isSame = (await this.#hashHead(known.headBytes)) === known.head;
    this.#head = { bytes: known.headBytes, hash: known.head };
    if (isSame) this.#begin(known.offset, known.generation);
    else this.#beginAnew(known.generation);
  }

  /** Releases the file; what the codec holds is read again. */
  async close(): Promise<void> {
    const handle = this.#handle;
    this.#handle = undefined;
    this.#channel?.close();
    this.#channel = undefined;
    await handle?.close();
  }

  /** Sends what was written since the last time; `whole`: nothing more will be, so the last line counts as it is. */
  async read(whole: boolean): Promise<void> {
    const handle = this.#handle;
    if (handle === undefined) return;
    const { size } = await handle.stat();
    if (size < this.#cutter.end && !this.#path.endsWith(".gz")) this.#beginAnew(this.#generation);
    for await (const chunk of this.#chunks(handle, whole)) {
      this.#grewAtMs = this.#options.context.clock.monotonic();
      await this.#send([...this.#cutter.push(chunk)].flatMap((line) => this.#decode(line)));
    }
    const { flushAfterMs } = this.#codec;
    if (whole) await this.#send([...this.#cutter.flush()].flatMap((line) => this.#decode(line)));
    if (whole || (flushAfterMs !== undefined && this.#held.length > 0 && this.quietMs >= flushAfterMs))
      await this.#send(this.#flush());
  }

  async *#chunks(handle: FileHandle, whole: boolean): AsyncIterable<Buffer> {
    const { signal } = this.#options;
    if (whole && this.#path.endsWith(".gz")) {
      let skip = this.#cutter.end;
      const packed = createReadStream(this.#path, { signal });
      const unpacked = createGunzip();
      packed.on("error", (error) => unpacked.destroy(error));
      for await (const chunk of packed.pipe(unpacked) as AsyncIterable<Buffer>) {
        if (chunk.length > skip) yield chunk.subarray(skip);
        skip = Math.max(0, skip - chunk.length);
      }
      return;
    }
    const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
    while (!signal.aborted) {
      const { bytesRead } = await handle.read(buffer, 0, CHUNK_BYTES, this.#cutter.end);
      if (bytesRead === 0) return;
      yield buffer.subarray(0, bytesRead);
    }
  }

  #beginAnew(generation: number): void {
    this.#head = { bytes: 0, hash: "" };
    this.#begin(0, generation + 1);
  }

  #begin(offset: number, generation: number): void {
    const { context, key, delimiter, makeCodec } = this.#options;
    this.#generation = generation;
    this.#cutter = new LineCutter(delimiter, offset);
    this.#codec = makeCodec();
    this.#held = [];
    this.#channel?.close();
    this.#channel = context.open({ key, generation, path: this.#path });
  }

  #decode(line: CutLine): InputEvent[] {
    const { delimiter, context } = this.#options;
    const isCrLf = delimiter === "\n" && line.payload.at(-1) === CR;
    const payload = isCrLf ? line.payload.subarray(0, -1) : line.payload;
    if (payload.length === 0) return [];
    this.#held.push(line);
    const events = this.#codec.decode(payload, context.clock.now());
    return this.#placed(events, this.#held.length - (this.#codec.held ?? 0));
  }

  #flush(): InputEvent[] {
    return this.#placed(this.#codec.flush?.() ?? [], this.#held.length);
  }

  /** Gives events the offset of the first `count` lines held, which they were made of. */
  #placed(events: readonly InputEvent["event"][], count: number): InputEvent[] {
    const lines = this.#held.splice(0, count);
    const offset = lines[0]?.offset ?? this.#cutter.offset;
    const length = (lines.at(-1)?.end ?? offset) - offset;
    return events.map((event) => {
      this.#decorate(event);
      return { event, offset, length };
    });
  }

  #decorate({ fields }: InputEvent["event"]): void {
    if (this.#options.isLegacy) {
      fields["path"] ??= this.#path;
      fields["host"] ??= hostname();
    } else fields["log"] ??= { file: { path: this.#path } };
  }

  /** Sends events, then remembers that everything before what is held is in the log. */
  async #send(events: readonly InputEvent[]): Promise<void> {
    if (events.length > 0) await this.#channel!.send(events);
    const { context, key } = this.#options;
    if (this.#head.bytes < HEAD_BYTES) {
      const bytes = Math.min(HEAD_BYTES, this.#cutter.end);
      this.#head = { bytes, hash: await this.#hashHead(bytes) };
    }
    const position: FilePosition = {
      path: this.#path,
      offset: this.#held[0]?.offset ?? this.#cutter.offset,
      generation: this.#generation,
      headBytes: this.#head.bytes,
      head: this.#head.hash,
      seenMs: context.clock.now(),
    };
    await context.state.put(key, position);
  }

  async #hashHead(bytes: number): Promise<string> {
    const head = Buffer.alloc(bytes);
    const { bytesRead } = await this.#handle!.read(head, 0, bytes, 0);
    return createHash("sha256").update(head.subarray(0, bytesRead)).digest("base64url");
  }
}

/** Returns what is remembered; undefined for anything else. */
export function readPosition(value: unknown): FilePosition | undefined {
  return isHash(value) && typeof value["offset"] === "number"
    ? (value as unknown as FilePosition)
    : undefined;
}

/** A line that is longer is cut there, so that a file can't fill the memory. Bytes. */
const MAX_LINE_BYTES = 1024 * 1024;

/** A line without its delimiter; [offset, end) takes in the delimiter. */
interface CutLine {
  readonly payload: Buffer;
  readonly offset: number;
  readonly end: number;
}

class LineCutter {
  readonly #delimiter: Buffer;
  #rest: Buffer = Buffer.alloc(0);
  /** Where the rest begins in the file. */
  #offset: number;

  constructor(delimiter: string, offset: number) {
    this.#delimiter = Buffer.from(delimiter);
    this.#offset = offset;
  }

  /** Where the next byte that is pushed lies in the file. */
  get end(): number {
    return this.#offset + this.#rest.length;
  }

  /** Where the line that isn't complete yet begins. */
  get offset(): number {
    return this.#offset;
  }

  /** Yields the lines that `chunk` completes. */
  *push(chunk: Buffer): Iterable<CutLine> {
    this.#rest = this.#rest.length === 0 ? Buffer.from(chunk) : Buffer.concat([this.#rest, chunk]);
    let at = 0;
    const start = this.#offset;
    const bytes = this.#rest;
    for (let next = bytes.indexOf(this.#delimiter); next >= 0; next = bytes.indexOf(this.#delimiter, at)) {
      const offset = start + at;
      const payload = bytes.subarray(at, next);
      at = next + this.#delimiter.length;
      yield { payload, offset, end: start + at };
    }
    this.#rest = bytes.subarray(at);
    this.#offset = start + at;
    if (this.#rest.length >= MAX_LINE_BYTES) yield* this.flush();
  }

  /** Yields what is left as a line. */
  *flush(): Iterable<CutLine> {
    if (this.#rest.length === 0) return;
    const line = { payload: this.#rest, offset: this.#offset, end: this.end };
    this.#offset = this.end;
    this.#rest = Buffer.alloc(0);
    yield line;
  }
}
