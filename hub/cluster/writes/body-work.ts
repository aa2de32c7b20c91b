/**
 * The work on a body of documents before it goes to the log: find its documents, compute their shapes, pack the messages. The
 * same functions run on the main thread for small bodies and on a thread of BodyThreads for large ones.
 */

import { type DocumentRun, documentShapes } from "#hub/engine/kernel/document-run.ts";
import { threadKernel } from "#hub/engine/kernel/kernel.ts";
import type { DocumentBatch } from "#proto/document-batch.ts";
import { MIB } from "#proto/kit/units.ts";
import { allowBlocks, encodeAppends, extentsOf } from "./append-encoder.ts";
import type { PlannedBatch } from "./append-messages.ts";
import { type FirstLine, type ScannedLines, scanLines } from "./body-lines.ts";
import { encodeOperations, type KeyedBatch } from "./operation-encoder.ts";

/** Bytes of a body that are scanned at a time: some 15 ms. */
const SCAN_BYTES = 8 * MIB;

/** Maximum bytes of a body's samples, plus one document. */
const SAMPLES_BYTES = MIB;

/** See scanLines. */
interface ScanJob extends FirstLine {
  readonly kind: "scan";
  readonly from: number;
}

/** Documents with their ids, to be written after the heads of messages. */
export interface PackJob extends Pick<DocumentBatch, "start" | "ends" | "gap" | "ids"> {
  readonly kind: "pack";
  readonly messages: readonly MessagePlan[];
  /** See allowBlocks. */
  readonly areBlocksKnown: boolean;
}

/** Documents with chosen ids, to be written after the heads of messages. */
export interface EncodeJob extends Omit<KeyedBatch, "bytes"> {
  readonly kind: "encode";
  readonly messages: readonly Pick<PlannedBatch, "head" | "places">[];
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

export type BodyJob = ScanJob | PackJob | EncodeJob;

/** Results by kind of job. */
export interface BodyResults {
  /** Null: see scanLines. */
  readonly scan: ScanResult | null;
  /** The messages. */
  readonly pack: readonly Uint8Array[];
  readonly encode: readonly Uint8Array[];
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
    switch (job.kind) {
      case "scan":
        return this.#scan(job);
      case "pack":
        return this.#pack(job);
      case "encode":
        return this.#encode(job);
    }
  }

  #scan({ from, ...line }: ScanJob): ScanResult | null {
    const { buffer, byteOffset, byteLength } = this.bytes;
    const found = scanLines(Buffer.from(buffer, byteOffset, byteLength), line, from, SCAN_BYTES);
    if (found === null) return null;
    const { ends, keys } = found;
    const { lineBytes } = line;
    const start = from + lineBytes;
    const run = extentsOf({ bytes: this.bytes, start, ends, gap: 1 + lineBytes, ...keys });
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

  #encode({ messages, ...run }: EncodeJob): Uint8Array[] {
    const batch = { ...run, bytes: this.bytes };
    return messages.map(({ head, places }) => encodeOperations(head, batch, places));
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

function columnsOf({ ends, shapes, samples, keys }: ScanResult): ArrayBufferView[] {
  const more = keys === undefined ? [] : [keys.starts, keys.ids, keys.idEnds];
  return [ends, shapes, ...more, ...samples.values()];
}
