/** Finds the ends of lines for each line terminator and encoding. */

import type { Encoding } from "./encoding.ts";

/** A place in a buffer: the text of a line, and where the next one begins. */
export interface Line {
  readonly start: number;
  /** Without the terminator. */
  readonly textEnd: number;
  readonly next: number;
  /** False where the bytes end before a terminator. */
  readonly closed: boolean;
}

const NAMED: Readonly<Record<string, string>> = {
  auto: "\n",
  line_feed: "\n",
  carriage_return: "\r",
  carriage_return_line_feed: "\r\n",
  vertical_tab: "\v",
  form_feed: "\f",
  null_terminator: "\0",
};

/** Finds line ends in the bytes of one encoding. */
export class Terminator {
  readonly #bytes: Buffer;
  readonly #carriageReturn: Buffer | null;
  readonly #unitBytes: number;

  /** `name`: one of the settings' names, or the terminator itself. */
  constructor(name: string, encoding: Encoding) {
    this.#bytes = encoding.encode(NAMED[name] ?? name);
    this.#carriageReturn = name === "auto" ? encoding.encode("\r") : null;
    this.#unitBytes = encoding.unitBytes;
  }

  /** Length in bytes. */
  get length(): number {
    return this.#bytes.length;
  }

  /** Returns the line that begins at `start`; the bytes end at `end`. */
  lineAt(buffer: Buffer, start: number, end: number): Line {
    const at = this.#find(buffer, start, end);
    if (at < 0) return { start, textEnd: end, next: end, closed: false };
    return { start, textEnd: this.#textEnd(buffer, start, at), next: at + this.#bytes.length, closed: true };
  }

  /** Returns true if a line ends right before `at`. */
  endsAt(buffer: Buffer, at: number): boolean {
    const from = at - this.#bytes.length;
    return from >= 0 && this.#bytes.compare(buffer, from, at) === 0;
  }

  #find(buffer: Buffer, start: number, end: number): number {
    let at = buffer.indexOf(this.#bytes, start);
    // Two-byte units: "\n" may also be the second half of one character and the first of the next.
    while (at >= 0 && (at - start) % this.#unitBytes !== 0) at = buffer.indexOf(this.#bytes, at + 1);
    return at >= 0 && at + this.#bytes.length <= end ? at : -1;
  }

  #textEnd(buffer: Buffer, start: number, at: number): number {
    const cr = this.#carriageReturn;
    if (cr === null) return at;
    const from = at - cr.length;
    return from >= start && cr.compare(buffer, from, at) === 0 ? from : at;
  }
}
