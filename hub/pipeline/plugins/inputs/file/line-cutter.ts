/** Cuts the bytes of a file at a delimiter, with the place of each line in the file. */

/** A line that is longer is cut there, so that a file can't fill the memory. Bytes. */
const MAX_LINE_BYTES = 1024 * 1024;

/** A line without its delimiter; [offset, end) takes in the delimiter. */
export interface CutLine {
  readonly payload: Buffer;
  readonly offset: number;
  readonly end: number;
}

export class LineCutter {
  readonly #delimiter: Buffer;
  #rest: Buffer = Buffer.alloc(0);
  /** Where the rest begins in the file. */
  #offset: number;

  constructor(delimiter: string, offset: number) {
    this.#delimiter = Buffer.from(delimiter);
    this.#offset = offset;
  }

  /** Where the next byte that is pushed lies in the file. */
  get end(): number {
    return this.#offset + this.#rest.length;
  }

  /** Where the line that isn't complete yet begins. */
  get offset(): number {
    return this.#offset;
  }

  /** Yields the lines that `chunk` completes. */
  *push(chunk: Buffer): Iterable<CutLine> {
    this.#rest = this.#rest.length === 0 ? Buffer.from(chunk) : Buffer.concat([this.#rest, chunk]);
    let at = 0;
    const start = this.#offset;
    const bytes = this.#rest;
    for (let next = bytes.indexOf(this.#delimiter); next >= 0; next = bytes.indexOf(this.#delimiter, at)) {
      const offset = start + at;
      const payload = bytes.subarray(at, next);
      at = next + this.#delimiter.length;
      yield { payload, offset, end: start + at };
    }
    this.#rest = bytes.subarray(at);
    this.#offset = start + at;
    if (this.#rest.length >= MAX_LINE_BYTES) yield* this.flush();
  }

  /** Yields what is left as a line. */
  *flush(): Iterable<CutLine> {
    if (this.#rest.length === 0) return;
    const line = { payload: this.#rest, offset: this.#offset, end: this.end };
    this.#offset = this.end;
    this.#rest = Buffer.alloc(0);
    yield line;
  }
}
