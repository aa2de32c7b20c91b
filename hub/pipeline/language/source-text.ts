/** A pipeline file's text, and places in it as people count them. */

/** The text of one file. A byte order mark at the start is no part of it. */
export class SourceText {
  readonly file: string;
  readonly text: string;
  readonly #lineStarts: number[] = [0];

  /** `file`: the name that messages show. */
  constructor(file: string, text: string) {
    this.file = file;
    this.text = text.startsWith("\ufeff") ? text.slice(1) : text;
    for (let at = this.text.indexOf("\n"); at >= 0; at = this.text.indexOf("\n", at + 1)) {
      this.#lineStarts.push(at + 1);
    }
  }

  /** Returns line and column of an offset, both from 1; the column counts UTF-16 units. */
  place(offset: number): { line: number; column: number } {
    let low = 0;
    let high = this.#lineStarts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.#lineStarts[middle]! <= offset) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: offset - this.#lineStarts[low]! + 1 };
  }

  /** Returns a line's text without its end; `line` from 1. */
  line(line: number): string {
    const start = this.#lineStarts[line - 1] ?? this.text.length;
    return this.text.slice(start, this.#lineStarts[line] ?? this.text.length).replace(/\r?\n$/, "");
  }
}
