/**
 * Runs the WebAssembly kernel that counts line ends, packs plain lines and writes documents, in memory that the blocks of
 * files share.
 */

import { AppError } from "#proto/kit/errors.ts";
import { MIB } from "#proto/kit/units.ts";
import { LINE_KERNEL } from "./module.ts";

/** Arguments of `pack`; positions count in the buffers. */
export interface PackTask {
  readonly source: Buffer;
  readonly start: number;
  readonly end: number;
  readonly target: Buffer;
  /** Events are written from here on, up to `limit`. */
  readonly from: number;
  readonly limit: number;
  /** Of `start` in the file. */
  readonly offset: number;
  /** True if a carriage return before the line feed belongs to the line's end. */
  readonly stripsReturn: boolean;
  /** Longest line with its end. */
  readonly maxBytes: number;
  /** Position of a byte whose line the caller must check itself; Infinity: none. */
  readonly suspect: number;
}

/** Result of `pack`. */
export interface PackedRun {
  /** Position in the source; everything before it is packed. */
  readonly place: number;
  /** End of the written bytes. */
  readonly at: number;
  readonly events: number;
  /** `stopped`: the next line is too long, begins with NUL or doesn't fit. `suspect`: the caller must check the next line. */
  readonly why: "end" | "stopped" | "suspect";
}

/** Texts that the documents of a batch share; they are in the target, one after the other, from `at` on. */
export interface TemplateTask {
  readonly target: Buffer;
  readonly at: number;
  /** Bytes up to the id's part that depends on the offset. */
  readonly headBytes: number;
  /** From there up to the text. */
  readonly middleBytes: number;
  /** From there up to the offset. */
  readonly tailBytes: number;
  /** Seventh and eighth byte of the ids of the source. */
  readonly idSource: number;
}

/** Arguments of `documents`; positions count in the buffers. */
export interface DocumentsTask {
  readonly source: Buffer;
  readonly start: number;
  readonly end: number;
  /** True if the source holds events, false if it holds lines. */
  readonly events: boolean;
  /** Offset of `start` in the file; not used with events. */
  readonly offset: number;
  readonly target: Buffer;
  /** Documents are written from here on, up to `limit`. */
  readonly from: number;
  readonly limit: number;
}

/** Result of `documents`. */
export interface DocumentRun {
  /** Position in the source; everything before it is written. */
  readonly place: number;
  /** End of the written bytes. */
  readonly at: number;
  /** `full`: the next document doesn't fit. `odd`: the caller must write the next one. */
  readonly why: "end" | "full" | "odd";
}

interface WasmGlobal {
  readonly value: number;
}

interface KernelExports {
  readonly place: WasmGlobal;
  readonly target: WasmGlobal;
  readonly events: WasmGlobal;
  readonly taken: WasmGlobal;
  readonly written: WasmGlobal;
  setTemplate(at: number, headBytes: number, middleBytes: number, tailBytes: number, idSource: number): void;
  lineDocuments(start: number, end: number, to: number, limit: number, offset: number): number;
  eventDocuments(start: number, end: number, to: number, limit: number): number;
  count(start: number, end: number): number;
  pack(
    start: number,
    end: number,
    to: number,
    limit: number,
    offset: number,
    stripsReturn: boolean,
    maxBytes: number,
    suspect: number,
  ): number;
}

/** The part of WebAssembly's interface that is used here: Node's types declare only its names. */
interface WebAssemblyInterface {
  readonly Memory: new (pages: {
    readonly initial: number;
    readonly maximum: number;
  }) => { readonly buffer: ArrayBuffer };
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object, imports: object) => { readonly exports: unknown };
}

const PAGE_BYTES = 65_536;
/** Addresses are unsigned numbers of 32 bits. */
const ADDRESS_MAX = 2 ** 32 - 1;
/** Reasons in the order of the kernel's numbers. */
const WHY = ["end", "stopped", "suspect"] as const;
const DOCUMENTS_WHY = ["end", "full", "odd"] as const;

/** Part of the memory after the blocks: bytes from elsewhere are copied there to be counted. */
const WINDOW_BYTES = PAGE_BYTES;

export class LineKernel {
  /** The memory of which buffers may be parts. The system provides only the part that is written. */
  readonly memory: ArrayBuffer;
  readonly #exports: KernelExports;
  readonly #window: Uint8Array;

  private constructor(memory: ArrayBuffer, exports: KernelExports) {
    this.memory = memory;
    this.#exports = exports;
    this.#window = new Uint8Array(memory, memory.byteLength - WINDOW_BYTES);
  }

  /**
   * Returns a kernel with `sizeBytes` of memory for blocks. Throws unavailable if the process may run no WebAssembly,
   * the processor lacks its vector instructions, or the system refuses the address space.
   */
  static create(sizeBytes: number): LineKernel {
    const { WebAssembly: wasm } = globalThis as unknown as { WebAssembly?: WebAssemblyInterface };
    if (wasm === undefined) throw unavailable("this process has no WebAssembly; start it without --jitless");
    const pages = Math.ceil((sizeBytes + WINDOW_BYTES) / PAGE_BYTES);
    try {
      const module = new wasm.Module(Buffer.from(LINE_KERNEL, "base64"));
      const memory = new wasm.Memory({ initial: pages, maximum: pages });
      const { exports } = new wasm.Instance(module, { env: { memory } });
      return new LineKernel(memory.buffer, exports as KernelExports);
    } catch (error) {
      const need = `${Math.ceil((pages * PAGE_BYTES) / MIB)} MB of memory`;
      throw unavailable(
        `${(error as Error).message}; it needs ${need}, address space without a limit (ulimit -v unlimited) and a processor with vector instructions (SSE4.1, NEON)`,
        error,
      );
    }
  }

  /** Returns true if `buffer` is a part of the kernel's memory. */
  holds(buffer: Buffer): boolean {
    return buffer.buffer === this.memory;
  }

  /** Returns the number of line feeds in bytes `start` to `end`. Slow path: bytes outside of its memory are copied. */
  count(buffer: Buffer, start: number, end: number): number {
    if (this.holds(buffer)) return this.#exports.count(buffer.byteOffset + start, buffer.byteOffset + end);
    const { byteOffset } = this.#window;
    let count = 0;
    for (let at = start; at < end; at += WINDOW_BYTES) {
      const part = buffer.subarray(at, Math.min(end, at + WINDOW_BYTES));
      this.#window.set(part);
      count += this.#exports.count(byteOffset, byteOffset + part.length);
    }
    return count;
  }

  /** Packs whole lines as events without time and fields, as many as fit. */
  pack(task: PackTask): PackedRun {
    const { source, target, offset, stripsReturn, maxBytes } = task;
    const { byteOffset } = source;
    const why = this.#exports.pack(
      byteOffset + task.start,
      byteOffset + task.end,
      target.byteOffset + task.from,
      target.byteOffset + task.limit,
      offset,
      stripsReturn,
      Math.min(maxBytes, ADDRESS_MAX),
      Math.min(byteOffset + task.suspect, ADDRESS_MAX),
    );
    const { place, target: written, events } = this.#exports;
    return {
      place: (place.value >>> 0) - byteOffset,
      at: (written.value >>> 0) - target.byteOffset,
      events: events.value,
      why: WHY[why]!,
    };
  }

  /** Takes the texts that the following documents share. */
  setTemplate({ target, at, headBytes, middleBytes, tailBytes, idSource }: TemplateTask): void {
    this.#exports.setTemplate(target.byteOffset + at, headBytes, middleBytes, tailBytes, idSource);
  }

  /** Writes documents after the last template, as many as fit. */
  documents({ source, start, end, events, offset, target, from, limit }: DocumentsTask): DocumentRun {
    const { byteOffset } = source;
    const [first, last, to] = [byteOffset + start, byteOffset + end, target.byteOffset + from];
    const why = events
      ? this.#exports.eventDocuments(first, last, to, target.byteOffset + limit)
      : this.#exports.lineDocuments(first, last, to, target.byteOffset + limit, offset);
    return {
      place: (this.#exports.taken.value >>> 0) - byteOffset,
      at: (this.#exports.written.value >>> 0) - target.byteOffset,
      why: DOCUMENTS_WHY[why]!,
    };
  }
}

function unavailable(reason: string, cause?: unknown): AppError {
  return new AppError("unavailable", `the agent's line kernel can't start: ${reason}`, { cause });
}
