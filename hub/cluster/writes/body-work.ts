/**
 * The work on a body of new documents before it goes to the log: find its documents, compute their shapes, pack the
 * messages. The same functions run on the main thread for small bodies and on a thread of BodyThreads for large ones.
 */

import { type DocumentRun, documentShapes } from "#hub/engine/kernel/document-run.ts";
import { threadKernel } from "#hub/engine/kernel/kernel.ts";
import type { DocumentBatch } from "#proto/document-batch.ts";
import { MIB } from "#proto/kit/units.ts";
import { allowBlocks, encodeAppends, extentsOf } from "./append-encoder.ts";

const NEWLINE = 0x0a;

/** Bytes of a body that are scanned at a time: some 15 ms. */
const SCAN_BYTES = 8 * MIB;

/** Maximum bytes of a body's samples, plus one document. */
const SAMPLES_BYTES = MIB;

/** Consecutive documents with the same line before each. */
export interface ScannedLines {
  /** Offset of each document's end. */
  readonly ends: Uint32Array;
  /** Offset of the next line: the body's end, or where to continue. */
  readonly next: number;
}

/**
 * Finds the documents of the lines from offset `from` on, of at least `limitBytes` or up to the end. Null if one of them has
 * another line before it. The line is the one at the start of the body, `lineBytes` with its newline.
 */
export function scanLines(
  body: Buffer,
  lineBytes: number,
  from: number,
  limitBytes = Number.POSITIVE_INFINITY,
): ScannedLines | null {
  const line = body.subarray(0, lineBytes);
  const ends: number[] = [];
  let at = from;
  while (at < body.length && at - from < limitBytes) {
    if (!startsWith(body, at, line)) return null;
    const end = body.indexOf(NEWLINE, at + lineBytes);
    if (end < 0) return null;
    ends.push(end);
    at = end + 1;
  }
  return { ends: Uint32Array.from(ends), next: at };
}

function startsWith(body: Buffer, at: number, line: Buffer): boolean {
  if (at + line.length > body.length) return false;
  for (let index = 0; index < line.length; index++) if (body[at + index] !== line[index]) return false;
  return true;
}

/** See scanLines. */
interface ScanJob {
  readonly kind: "scan";
  readonly lineBytes: number;
  readonly from: number;
}

/** Documents with their ids, to be written after the heads of messages. */
interface PackJob extends Pick<DocumentBatch, "start" | "ends" | "gap" | "ids"> {
  readonly kind: "pack";
  readonly messages: readonly MessagePlan[];
  /** See allowBlocks. */
  readonly areBlocksKnown: boolean;
}

/** A message: its encoded head and the `count` documents from `first` on. */
export interface MessagePlan {
  readonly head: Uint8Array;
  readonly first: number;
  readonly count: number;
}

export interface ScanResult extends ScannedLines {
  /** Shape of each, by the kernels of this process. */
  readonly shapes: Float64Array;
  /**
   * The first document of each shape that no earlier job of the body found, by shape; if there are very many shapes, only of
   * some.
   */
  readonly samples: ReadonlyMap<number, Uint8Array>;
}

export type BodyJob = ScanJob | PackJob;

/** Results by kind of job. */
export interface BodyResults {
  /** Null: see scanLines. */
  readonly scan: ScanResult | null;
  /** The messages. */
  readonly pack: readonly Uint8Array[];
}

/** The work on one large body. */
export class BodyWork {
  readonly bytes: Uint8Array;
  /** Shapes with a sample. */
  readonly #sampled = new Set<number>();
  #sampleBytes = 0;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  run(job: BodyJob): BodyResults[BodyJob["kind"]] {
    return job.kind === "scan" ? this.#scan(job) : this.#pack(job);
  }

  /** Frees the memory of the body. */
  free(): void {
    (this.bytes.buffer as ArrayBuffer).transfer(0);
  }

  #scan({ lineBytes, from }: ScanJob): ScanResult | null {
    const { buffer, byteOffset, byteLength } = this.bytes;
    const found = scanLines(Buffer.from(buffer, byteOffset, byteLength), lineBytes, from, SCAN_BYTES);
    if (found === null) return null;
    const { ends } = found;
    const run = extentsOf({ bytes: this.bytes, start: from + lineBytes, ends, gap: 1 + lineBytes });
    const shapes = documentShapes(run, ends.length, threadKernel());
    return { ...found, shapes, samples: this.#samples(run, shapes) };
  }

  #samples(run: DocumentRun, shapes: Float64Array): Map<number, Uint8Array> {
    const samples = new Map<number, Uint8Array>();
    let last = Number.NaN;
    for (let nth = 0; nth < shapes.length && this.#sampleBytes < SAMPLES_BYTES; nth++) {
      const shape = shapes[nth]!;
      if (shape === last || this.#sampled.has(shape)) continue;
      last = shape;
      const sample = this.bytes.slice(run.sourceStart(nth), run.sourceStop(nth));
      this.#sampled.add(shape);
      this.#sampleBytes += sample.length;
      samples.set(shape, sample);
    }
    return samples;
  }

  #pack({ messages, areBlocksKnown, ...run }: PackJob): Uint8Array[] {
    allowBlocks(areBlocksKnown);
    const batch = { ...run, bytes: this.bytes, indexNames: [] };
    return messages.map(({ head, first, count }) => encodeAppends(head, batch, placesFrom(first, count)));
  }
}

function placesFrom(first: number, count: number): Uint32Array {
  const places = new Uint32Array(count);
  for (let nth = 0; nth < count; nth++) places[nth] = first + nth;
  return places;
}

/** Memory of a result that can be transferred. */
export function memoryOf(result: BodyResults[BodyJob["kind"]] | Uint8Array): ArrayBuffer[] {
  if (result === null) return [];
  const all = result instanceof Uint8Array ? [result] : "ends" in result ? columnsOf(result) : result;
  return all.map(({ buffer }) => buffer as ArrayBuffer);
}

function columnsOf({ ends, shapes, samples }: ScanResult): ArrayBufferView[] {
  return [ends, shapes, ...samples.values()];
}
