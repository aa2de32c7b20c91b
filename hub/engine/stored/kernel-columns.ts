/** Columnar blocks that the kernel makes. The twin is test/oracles/engine/columnar/columnar-writer.ts. */

import { ByteBuffer } from "#hub/engine/bytes/byte-buffer.ts";
import * as at from "#hub/engine/kernel/assembly/layout-columnar.ts";
import type { Kernel } from "#hub/engine/kernel/kernel.ts";
import type { DocumentColumns } from "./columnar-packing.ts";

/** Growing buffers stand in front of the table of kinds. */
const BUFFER_STEP = at.COLUMNAR_ENDS - at.COLUMNAR_INPUT;

/** Makes block after block. `release` must be called. */
export class KernelColumns implements DocumentColumns {
  readonly #kernel: Kernel;
  readonly #stateAt: number;
  /** A block, outside of the kernel's memory: zlib takes no shared memory. */
  readonly #block = new ByteBuffer(64 * 1024);

  /** Throws memory_limit. */
  constructor(kernel: Kernel) {
    this.#kernel = kernel;
    this.#stateAt = kernel.allocateZeroed(at.COLUMNAR_BYTES);
  }

  /** Returns the block of documents; valid until the next call. Throws memory_limit. */
  write(documents: Uint8Array, ends: Uint32Array): Uint8Array {
    const kernel = this.#kernel;
    kernel.place(this.#stateAt + at.COLUMNAR_INPUT, documents);
    kernel.place(
      this.#stateAt + at.COLUMNAR_ENDS,
      new Uint8Array(ends.buffer, ends.byteOffset, ends.byteLength),
    );
    kernel.functions.writeColumnar(this.#stateAt, ends.length);
    this.#block.clear();
    this.#block.append(kernel.view(this.#stateAt + at.COLUMNAR_OUT));
    return this.#block.view();
  }

  /** Gives the memory back. */
  release(): void {
    for (let buffer = 0; buffer < at.COLUMNAR_KINDS; buffer += BUFFER_STEP)
      this.#kernel.free(this.#stateAt + buffer);
    this.#kernel.memory.release(this.#stateAt, at.COLUMNAR_BYTES);
  }
}
