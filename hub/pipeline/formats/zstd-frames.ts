/**
 * Cuts zstd's data (RFC 8878 §3) after each frame. Senders put several in a row, as gzip's members, but Node's unpacker
 * silently drops what follows the first one, unless each is written to it by itself.
 */

/** First four bytes of a frame; and of those that hold no data, except for the last four bits. */
const FRAME = 0xfd2fb528;
const SKIPPABLE = 0x184d2a5;

/** Bytes of the number of a dictionary, and of the length of the content, by the bits that encode them. */
const DICTIONARY_BYTES = [0, 1, 2, 4];
const LENGTH_BYTES = [0, 2, 4, 8];

/** Kind of a block that has one byte to be repeated. */
const REPEATED = 1;

export class ZstdFrames {
  /** What came of the head of a frame or block. */
  #head: number[] = [];
  /** Bytes up to the next head. */
  #skip = 0;
  #isInFrame = false;
  /** The frame ends after what is skipped. */
  #isEnding = false;
  #checksumBytes = 0;

  /** Yields all of `bytes`, in parts of which none goes beyond the end of a frame. */
  *cut(bytes: Buffer): Generator<Buffer> {
    for (let from = 0; from < bytes.length; ) {
      const end = this.#end(bytes, from);
      yield bytes.subarray(from, end);
      from = end;
    }
  }

  /** Returns the offset after the current frame, or that of the last byte. */
  #end(bytes: Buffer, from: number): number {
    for (let at = from; at < bytes.length; ) {
      if (this.#skip > 0) {
        const skipped = Math.min(this.#skip, bytes.length - at);
        at += skipped;
        this.#skip -= skipped;
      } else {
        this.#head.push(bytes[at++]!);
        if (this.#isInFrame) this.#readBlock();
        else this.#readFrame();
      }
      if (!this.#isEnding || this.#skip > 0) continue;
      this.#isEnding = false;
      return at;
    }
    return bytes.length;
  }

  #readFrame(): void {
    const head = Buffer.from(this.#head);
    if (head.length < 5) return;
    const magic = head.readUInt32LE();
    if (magic >>> 4 === SKIPPABLE) {
      if (head.length < 8) return;
      this.#skip = head.readUInt32LE(4);
      this.#isEnding = true;
    } else if (magic === FRAME) {
      const flags = head[4]!;
      const isSingle = (flags & 0x20) > 0;
      const lengthBytes = isSingle ? Math.max(1, LENGTH_BYTES[flags >> 6]!) : LENGTH_BYTES[flags >> 6]!;
      this.#skip = (isSingle ? 0 : 1) + DICTIONARY_BYTES[flags & 3]! + lengthBytes;
      this.#checksumBytes = flags & 4;
      this.#isInFrame = true;
    } else this.#skip = Number.POSITIVE_INFINITY; // The decompressor will report it.
    this.#head = [];
  }

  #readBlock(): void {
    const [first = 0, second = 0, third] = this.#head;
    if (third === undefined) return;
    const block = first + second * 2 ** 8 + third * 2 ** 16;
    this.#skip = ((block >> 1) & 3) === REPEATED ? 1 : block >> 3;
    this.#head = [];
    if ((block & 1) === 0) return;
    this.#skip += this.#checksumBytes;
    this.#isInFrame = false;
    this.#isEnding = true;
  }
}

/** Returns `chunks`, cut after each frame. */
export async function* zstdFrames(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const frames = new ZstdFrames();
  for await (const chunk of chunks) yield* frames.cut(chunk);
}
