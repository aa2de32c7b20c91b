/** Memory that the files of one input share in turn, for bytes that are cut into events. */

import type { BlockMemory } from "#agent/contract/block-memory.ts";

export class Scratch {
  readonly #sizeBytes: number;
  readonly #memory: BlockMemory;
  #buffer: Buffer | undefined;
  #grown: Buffer | undefined;

  constructor(sizeBytes: number, memory: BlockMemory) {
    this.#sizeBytes = sizeBytes;
    this.#memory = memory;
  }

  /** The buffer; made at the first use. */
  get buffer(): Buffer {
    this.#buffer ??= this.#memory.allocate(this.#sizeBytes);
    return this.#grown ?? this.#buffer;
  }

  /** Makes `buffer` larger for one long event; its content is lost. */
  grow(sizeBytes: number): void {
    if (this.buffer.length < sizeBytes) this.#grown = Buffer.allocUnsafeSlow(sizeBytes);
  }

  /** Gives back what a long event needed. */
  shrink(): void {
    this.#grown = undefined;
  }

  /** Gives everything back; nothing is read any more. */
  release(): void {
    this.shrink();
    if (this.#buffer !== undefined) this.#memory.giveBack(this.#buffer);
    this.#buffer = undefined;
  }
}
