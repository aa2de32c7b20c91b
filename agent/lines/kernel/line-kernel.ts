/** Calls the kernel that finds line ends and packs plain lines, in memory of its own that buffers are parts of. */

import { LINE_KERNEL } from "./module.ts";

/** What `pack` is told; places count in the buffers. */
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
  /** True where a carriage return before the line feed belongs to the line's end. */
  readonly stripsReturn: boolean;
  /** Longest line with its end. */
  readonly maxBytes: number;
  /** The line that holds this place must be looked at; Infinity: none. */
  readonly suspect: number;
}

/** What `pack` did. */
export interface PackedRun {
  /** Everything of the source before it is packed. */
  readonly place: number;
  /** End of what was written. */
  readonly at: number;
  readonly events: number;
  /** `stopped`: the next line is long, begins with NUL or has no room. `suspect`: it must be looked at. */
  readonly why: "end" | "stopped" | "suspect";
}

interface WasmGlobal {
  readonly value: number;
}

interface KernelExports {
  readonly place: WasmGlobal;
  readonly target: WasmGlobal;
  readonly events: WasmGlobal;
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

/** The part of WebAssembly's interface that is used here; the types of Node have its names only. */
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
/** Numbers of the kernel, in their order. */
const WHY = ["end", "stopped", "suspect"] as const;

export class LineKernel {
  /** All that buffers may be parts of. The system gives memory to what is written only. */
  readonly memory: ArrayBuffer;
  readonly #exports: KernelExports;

  private constructor(memory: ArrayBuffer, exports: KernelExports) {
    this.memory = memory;
    this.#exports = exports;
  }

  /** Returns a kernel with `sizeBytes` of memory; null where the processor lacks its instructions or the system the space. */
  static create(sizeBytes: number): LineKernel | null {
    const { WebAssembly: wasm } = globalThis as unknown as { WebAssembly: WebAssemblyInterface };
    const pages = Math.ceil(sizeBytes / PAGE_BYTES);
    try {
      const module = new wasm.Module(Buffer.from(LINE_KERNEL, "base64"));
      const memory = new wasm.Memory({ initial: pages, maximum: pages });
      const { exports } = new wasm.Instance(module, { env: { memory } });
      return new LineKernel(memory.buffer, exports as KernelExports);
    } catch {
      return null;
    }
  }

  /** Returns true where `buffer` is a part of the kernel's memory. */
  holds(buffer: Buffer): boolean {
    return buffer.buffer === this.memory;
  }

  /** Returns the number of line feeds in bytes `start` to `end`. */
  count(buffer: Buffer, start: number, end: number): number {
    return this.#exports.count(buffer.byteOffset + start, buffer.byteOffset + end);
  }

  /** Packs whole lines as events without time and fields, as many as have room. */
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
}
