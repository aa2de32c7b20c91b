/** Memory that the files of one input share in turn, for bytes that are cut into events. */

export class Scratch {
  readonly #sizeBytes: number;
  #buffer: Buffer | undefined;
  #grown: Buffer | undefined;

  constructor(sizeBytes: number) {
    this.#sizeBytes = sizeBytes;
  }

  /** The buffer; made at the first use. */
  get buffer(): Buffer {
    this.#buffer ??= Buffer.allocUnsafeSlow(this.#sizeBytes);
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
}
