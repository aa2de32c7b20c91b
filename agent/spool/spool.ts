/**
 * Stores events of inputs that don't read files on disk while the output has no free slot, up to a limit, and sends
 * them when it has one. Each segment is a separate source with offsets, like a file.
 */

import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import type { StreamEvent } from "#agent/contract/batcher.ts";
import type { InputContext } from "#agent/contract/input.ts";
import type { Channel } from "#agent/contract/output.ts";
import type { Slot } from "#agent/contract/slot-pool.ts";
import { systemCode } from "#proto/kit/errors.ts";
import { writeFileAtomic } from "#proto/kit/files/files.ts";
import { appendEvent, eventSize } from "#proto/raw-encoder.ts";
import { recordBytes, SEGMENT_MAGIC, SegmentReader, SegmentWriter } from "./segment.ts";

export interface SpoolOptions {
  /** Type of the input. */
  readonly inputType: string;
  readonly maxBytes: number;
  readonly context: Pick<
    InputContext,
    "id" | "output" | "fieldsJson" | "clock" | "log" | "metrics" | "dataFolder"
  >;
}

interface Segment {
  readonly path: string;
  /** UUID of its name. */
  readonly key: string;
  sizeBytes: number;
}

/**
 * Errors that say nothing about the contents of a segment: no descriptor is left, or the permissions were taken away.
 */
const REFUSALS: ReadonlySet<string> = new Set(["EMFILE", "ENFILE", "ENOMEM", "EACCES", "EPERM"]);
const REFUSED_WAIT_MS = 1_000;

const SEGMENT_BYTES = 8 * 1_024 * 1_024;
const NAME = /^(\d{12})-([0-9a-f-]{36})\.spool$/;
/** In the folder of a spool; see README.md. */
export const ORIGIN_FILE = "origin.json";

/** The input whose events a spool holds. */
export interface SpoolOrigin {
  readonly id: string;
  readonly inputType: string;
  /** {"fields": {}, "tags": []} as UTF-8; empty for none. */
  readonly fieldsJson: Uint8Array;
}

export class Spool {
  readonly #options: SpoolOptions;
  readonly #folder: string;
  readonly #segments: Segment[] = [];
  readonly #stop = new AbortController();
  #writer: SegmentWriter | undefined;
  #bytes = 0;
  #number = 0;
  #unacked = 0;
  #onChanged: (() => void)[] = [];
  #rouse: (() => void) | undefined;
  #task: Promise<void> | undefined;
  /** What fails, and is logged. */
  readonly #logged = new Set<"written" | "read">();

  constructor(options: SpoolOptions) {
    this.#options = options;
    this.#folder = spoolFolder(options.context.dataFolder, options.context.id);
  }

  /** Bytes on disk. */
  get bytes(): number {
    return this.#bytes;
  }

  /** True where nothing waits; else new events must wait for it. */
  get empty(): boolean {
    return this.#segments.length === 0;
  }

  /** Takes up what an earlier run left. Throws the system's error if the folder can't be used. */
  start(): void {
    this.#prepare();
    for (const name of readdirSync(this.#folder).sort()) {
      const match = NAME.exec(name);
      if (match === null) continue;
      const path = join(this.#folder, name);
      const sizeBytes = statSync(path).size;
      this.#segments.push({ path, key: match[2]!, sizeBytes });
      this.#bytes += sizeBytes;
      this.#number = Math.max(this.#number, Number(match[1]));
    }
    this.#task = this.#run();
  }

  /** Makes the folder, and stores from which input its events are. Throws the system's error if the folder can't be made. */
  #prepare(): void {
    const { inputType, context } = this.#options;
    mkdirSync(this.#folder, { recursive: true, mode: 0o750 });
    const fields = Buffer.from(context.fieldsJson).toString();
    const origin = JSON.stringify({ input: context.id, type: inputType, fields });
    const path = join(this.#folder, ORIGIN_FILE);
    try {
      if (!existsSync(path) || readFileSync(path, "utf8") !== origin) writeFileAtomic(path, origin);
    } catch (error) {
      this.#report(error);
    }
  }

  /** Keeps an event; returns false if the spool is stopped or full, or the disk refuses it. */
  append(event: StreamEvent): boolean {
    return !this.#stop.signal.aborted && this.#store(event);
  }

  /** Keeps events for the next start, after `stop`; returns how many there were no space for. */
  keep(events: Iterable<StreamEvent>): number {
    let lost = 0;
    for (const event of events) if (!this.#store(event)) lost++;
    this.#seal();
    return lost;
  }

  #store(event: StreamEvent): boolean {
    const size = recordBytes(event);
    if (this.#bytes + size + SEGMENT_MAGIC.length > this.#options.maxBytes) return false;
    try {
      const segment = this.#writable();
      this.#writer!.append(event);
      segment.sizeBytes += size;
      this.#bytes += size;
    } catch (error) {
      this.#report(error);
      return false;
    }
    this.#logged.delete("written");
    this.#rouse?.();
    return true;
  }

  /** Logs the first failure of a series. */
  #report(error: unknown, use: "written" | "read" = "written"): void {
    if (!this.#logged.has(use))
      this.#options.context.log.error({ error }, `the spool ${this.#folder} can't be ${use}`);
    this.#logged.add(use);
  }

  /** Resolves when a part of the spool was sent, or the caller must check whether it has ended. */
  async whenChanged(): Promise<void> {
    if (this.#stop.signal.aborted) return;
    await new Promise<void>((resolve) => this.#onChanged.push(resolve));
  }

  /** Resolves the promises of `whenChanged`. */
  wakeWaiting(): void {
    for (const resolve of this.#onChanged.splice(0)) resolve();
  }

  /** Ends sending; what is on disk is sent after the next start. */
  async stop(): Promise<void> {
    this.#stop.abort();
    this.#rouse?.();
    this.wakeWaiting();
    await this.#task;
    this.#seal();
  }

  #writable(): Segment {
    const last = this.#segments.at(-1);
    if (this.#writer !== undefined && last !== undefined && this.#writer.size < SEGMENT_BYTES) return last;
    this.#seal();
    // A reload may have removed the folder of an input that has ended since.
    if (!existsSync(join(this.#folder, ORIGIN_FILE))) this.#prepare();
    const key = randomUUID();
    const path = join(this.#folder, `${String(++this.#number).padStart(12, "0")}-${key}.spool`);
    this.#writer = new SegmentWriter(path);
    const segment = { path, key, sizeBytes: SEGMENT_MAGIC.length };
    this.#segments.push(segment);
    this.#bytes += segment.sizeBytes;
    return segment;
  }

  #seal(): void {
    const writer = this.#writer;
    this.#writer = undefined;
    try {
      writer?.close();
    } catch (error) {
      this.#report(error);
    }
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      const [segment] = this.#segments;
      if (segment === undefined) {
        await new Promise<void>((resolve) => (this.#rouse = resolve));
        continue;
      }
      // Events that arrive while it is sent go into the next one.
      if (this.#segments.length === 1) await this.#waitForSlot();
      if (this.#segments.length === 1) this.#seal();
      await this.#send(segment);
    }
  }

  /** As long as the output is unreachable the segment continues to grow. */
  async #waitForSlot(): Promise<void> {
    const slot = await this.#options.context.output.slots.acquire(this.#stop.signal);
    slot?.release();
  }

  async #send(segment: Segment): Promise<void> {
    const { context, inputType } = this.#options;
    const source = { inputId: context.id, inputType, fileKey: segment.key, generation: 0, path: "" };
    const channel = context.output.channel(source, context.fieldsJson);
    let reader: SegmentReader | undefined;
    let isRefused = false;
    try {
      reader = new SegmentReader(segment.path);
      this.#logged.delete("read");
      while (!this.#stop.signal.aborted) {
        const slot = await context.output.slots.acquire(this.#stop.signal);
        if (slot === null) return;
        if (!this.#sendBatch(reader, channel, slot)) break;
      }
    } catch (error) {
      isRefused = REFUSALS.has(systemCode(error));
      if (isRefused) this.#report(error, "read");
      else this.#lose(segment, reader, error);
    } finally {
      reader?.close();
    }
    while (this.#unacked > 0 && !this.#stop.signal.aborted) {
      await new Promise<void>((resolve) => (this.#rouse = resolve));
    }
    if (this.#stop.signal.aborted) return;
    if (isRefused) {
      await context.clock.sleep(REFUSED_WAIT_MS, this.#stop.signal);
      return; // it is sent again from its start, and the hub drops what it has
    }
    this.#segments.shift();
    this.#bytes -= segment.sizeBytes;
    this.#remove(segment);
    this.wakeWaiting();
  }

  /** Counts what follows the last event that could be read. */
  #lose({ sizeBytes }: Segment, reader: SegmentReader | undefined, error: unknown): void {
    const { metrics, id, log } = this.#options.context;
    const lostBytes = sizeBytes - (reader?.offset ?? 0);
    metrics.lostBytes.inc({ input: id }, Math.max(0, lostBytes));
    log.error({ error, bytes: lostBytes }, "a part of the spool can't be read");
  }

  /** A segment that stays is sent again at the next start, and the hub drops it. */
  #remove({ path }: Segment): void {
    try {
      rmSync(path, { force: true });
    } catch (error) {
      this.#report(error);
    }
  }

  /** Writes events into a slot; returns where they end, which is the channel's headroom if none is left. */
  #fill(reader: SegmentReader, { headroom, tailroom }: Channel, slot: Slot): number {
    const limit = slot.buffer.length - tailroom;
    let at = headroom;
    try {
      for (let event = reader.next(); event !== null; event = reader.next()) {
        const size = eventSize(event);
        if (at === headroom && headroom + size > limit) slot.grow(headroom + size + tailroom);
        else if (at + size > limit) {
          reader.seek(event.offset);
          break;
        }
        at = appendEvent(slot.buffer, at, event);
      }
    } catch (error) {
      // Events before the damage are sent; the next batch finds it again.
      if (at === headroom) throw error;
    }
    return at;
  }

  /** Fills a slot and sends it; returns false if nothing is left. */
  #sendBatch(reader: SegmentReader, channel: Channel, slot: Slot): boolean {
    const { headroom } = channel;
    const from = reader.offset;
    let end = headroom;
    try {
      end = this.#fill(reader, channel, slot);
    } finally {
      if (end === headroom) slot.release();
    }
    if (end === headroom) return false;
    this.#unacked++;
    channel.send({
      slot,
      body: { buffer: slot.buffer, start: headroom, end, events: true },
      block: {
        from,
        to: reader.offset,
        readTimeMs: this.#options.context.clock.now(),
        lastLineOpen: false,
        firstLineContinued: false,
        compression: 0,
        dataBytes: 0,
      },
      settle: () => {
        this.#unacked--;
        this.#rouse?.();
      },
    });
    return true;
  }
}

/** Returns the folder of an input's spool below `path.data`. */
export function spoolFolder(dataFolder: string, inputId: string): string {
  return join(dataFolder, "spool", inputId.replace(/[^\w.-]/g, "_"));
}

/** Returns true for the name of a segment. */
export function isSegment(name: string): boolean {
  return NAME.test(name);
}

/** Returns the origin of the spool in `folder`; null where an earlier version made it, or the file is damaged. */
export function readOrigin(folder: string): SpoolOrigin | null {
  try {
    const stored = JSON.parse(readFileSync(join(folder, ORIGIN_FILE), "utf8")) as Record<string, unknown>;
    const { input: id, type: inputType, fields } = stored;
    if (typeof id !== "string" || typeof inputType !== "string" || typeof fields !== "string") return null;
    return { id, inputType, fieldsJson: Buffer.from(fields) };
  } catch {
    return null;
  }
}
