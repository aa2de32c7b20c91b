/**
 * Writes the lines or events of a batch as bulk bodies of bounded size, one after the other. Fast path: the kernel puts
 * the text between parts that are the same in all documents of the batch. Slow path, for events with their own time or
 * fields, for documents larger than a body, and for data outside the kernel's memory: one text per document.
 */

import { randomUUID } from "node:crypto";
import type { BlockMemory } from "#agent/contract/block-memory.ts";
import type { Batch } from "#agent/contract/output.ts";
import type { LineKernel } from "#agent/lines/kernel/line-kernel.ts";
import { type DocumentOptions, documentId, documentOf, documentsOf, sourceOf } from "./documents.ts";

const NEWLINE = 0x0a;
/** First byte after an event's tag. */
const EVENT_SIZE_AT = 1;
/** Bytes of the source that an id's constant letters hold; the rest of the source's bytes are in the letters that change. */
const ID_CONSTANT_BYTES = 6;
const ID_CONSTANT_LETTERS = 8;
/** A template takes at most this share of a body. */
const TEMPLATE_SHARE = 4;

/** Parts that the documents of a batch share. */
interface Template {
  readonly head: Buffer;
  readonly middle: Buffer;
  readonly tail: Buffer;
}

export class BulkWriter {
  readonly #batch: Pick<Batch, "body" | "block">;
  readonly #options: DocumentOptions;
  readonly #memory: BlockMemory;
  readonly #template: Template | null;
  /** Position in the batch's buffer; everything before it is in a body. */
  #at: number;
  /** Document that didn't fit into the last body. */
  #held: Buffer | null = null;

  constructor(batch: Pick<Batch, "body" | "block">, options: DocumentOptions, memory: BlockMemory) {
    this.#batch = batch;
    this.#options = options;
    this.#memory = memory;
    this.#template = templateOf(options, batch.block.readTimeMs);
    this.#at = batch.body.start;
  }

  /** Returns the next body, a part of `space` or, for a document that is larger, a buffer of its own; null after the last. */
  next(space: Buffer): Buffer | null {
    const kernel = this.#kernelFor(space);
    const start = kernel === null ? 0 : this.#putTemplate(kernel, space);
    let at = start;
    for (;;) {
      if (this.#held !== null) {
        if (at === start && this.#held.length > space.length - at) return this.#takeHeld();
        if (this.#held.length > space.length - at) return space.subarray(start, at);
        at += this.#takeHeld().copy(space, at);
      }
      if (this.#at >= this.#batch.body.end) return at === start ? null : space.subarray(start, at);
      const run = kernel === null ? null : this.#run(kernel, space, at);
      if (run !== null) {
        at = run.at;
        if (run.why === "end") continue;
        if (run.why === "full" && at > start) return space.subarray(start, at);
      }
      this.#held = this.#writeOne();
    }
  }

  #takeHeld(): Buffer {
    const held = this.#held!;
    this.#held = null;
    return held;
  }

  #kernelFor(space: Buffer): LineKernel | null {
    if (this.#template === null) return null;
    const { head, middle, tail } = this.#template;
    if (head.length + middle.length + tail.length > space.length / TEMPLATE_SHARE) return null;
    return this.#memory.kernelFor(this.#batch.body.buffer, space);
  }

  /** Returns where the template ends in `space`. */
  #putTemplate(kernel: LineKernel, space: Buffer): number {
    const { head, middle, tail } = this.#template!;
    let end = 0;
    for (const part of [head, middle, tail]) end += part.copy(space, end);
    const idSource = this.#options.idPrefix.readUInt16BE(ID_CONSTANT_BYTES);
    const sizes = { headBytes: head.length, middleBytes: middle.length, tailBytes: tail.length };
    kernel.setTemplate({ target: space, at: 0, ...sizes, idSource });
    return end;
  }

  #run(kernel: LineKernel, space: Buffer, from: number): ReturnType<LineKernel["documents"]> {
    const { body, block } = this.#batch;
    const run = kernel.documents({
      source: body.buffer,
      start: this.#at,
      end: body.end,
      events: body.events,
      offset: block.from + this.#at - body.start,
      target: space,
      from,
      limit: space.length,
    });
    this.#at = run.place;
    return run;
  }

  /** Writes the next line or event alone; null if it has no document. */
  #writeOne(): Buffer | null {
    const { body, block } = this.#batch;
    const start = this.#at;
    const end = body.events ? eventEnd(body.buffer, start) : lineEnd(body.buffer, start, body.end);
    this.#at = end;
    const one = {
      body: { ...body, start, end },
      block: { ...block, from: block.from + start - body.start },
    };
    const [text] = documentsOf(one, this.#options);
    return text === undefined ? null : Buffer.from(text);
  }
}

/** Yields the documents of a bulk body: each has two lines. */
export function* documentsIn(body: Buffer): Generator<Buffer> {
  for (let at = 0; at < body.length; ) {
    const end = body.indexOf(NEWLINE, body.indexOf(NEWLINE, at) + 1) + 1;
    yield body.subarray(at, end);
    at = end;
  }
}

/** Returns the parts between id, text and offset; null if fields of the input replace one of them. */
function templateOf(options: DocumentOptions, timeMs: number): Template | null {
  const mark = randomUUID();
  const document = documentOf(sourceOf(options.common, 0, timeMs, mark, {}), options);
  const id = documentId(options.idPrefix, 0);
  const actionEnd = document.indexOf("\n");
  const idAt = document.lastIndexOf(`"${id}"`, actionEnd) + 1;
  const text = document.indexOf(`"message":"${mark}"`);
  const textAt = document.indexOf(mark);
  const end = "0}}\n";
  if (idAt === 0 || text < 0 || textAt < text || !document.endsWith(`"offset":${end}`)) return null;
  return {
    head: Buffer.from(document.slice(0, idAt + ID_CONSTANT_LETTERS)),
    middle: Buffer.from(document.slice(idAt + id.length, textAt)),
    tail: Buffer.from(document.slice(textAt + mark.length, -end.length)),
  };
}

function lineEnd(buffer: Buffer, start: number, end: number): number {
  const newline = buffer.indexOf(NEWLINE, start);
  return newline < 0 || newline >= end ? end : newline + 1;
}

function eventEnd(buffer: Buffer, start: number): number {
  let length = 0;
  let at = start + EVENT_SIZE_AT;
  for (let unit = 1; ; unit *= 128) {
    const byte = buffer[at++]!;
    length += (byte & 0x7f) * unit;
    if (byte < 0x80) return at + length;
  }
}
