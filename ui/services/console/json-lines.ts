/** An answer as lines that can be folded; numbers and texts stay as the hub wrote them. */

import { lex, type Token, type TokenKind } from "./loose-json.ts";

export interface Span {
  readonly kind: TokenKind;
  readonly text: string;
}

export interface JsonLine {
  readonly depth: number;
  readonly spans: readonly Span[];
  /** Number of the line that closes what this one opens; its own number where it opens nothing. */
  readonly end: number;
  /** Members of what it opens. */
  readonly members: number;
}

/** Returns the lines of a JSON text, empty objects and lists on one line. */
export function jsonLines(text: string): JsonLine[] {
  return new LineBuilder(text).build();
}

interface OpenLine {
  readonly line: number;
  members: number;
}

class LineBuilder {
  readonly #text: string;
  readonly #lines: { depth: number; spans: Span[]; end: number; members: number }[] = [];
  readonly #open: OpenLine[] = [];
  #isFresh = true;

  constructor(text: string) {
    this.#text = text;
  }

  build(): JsonLine[] {
    const tokens = lex(this.#text).filter(({ kind }) => kind !== "space" && kind !== "comment");
    for (let index = 0; index < tokens.length; index++) {
      const token = tokens[index]!;
      const sign = token.kind === "punctuation" ? this.#text[token.start]! : "";
      if (sign === "{" || sign === "[") {
        const next = tokens[index + 1];
        if (next !== undefined && "}]".includes(this.#text[next.start]!)) {
          this.#add("punctuation", sign + this.#text[next.start]!);
          index++;
        } else this.#begin(token);
      } else if (sign === "}" || sign === "]") this.#close(sign);
      else if (sign === ",") {
        this.#add("punctuation", ",");
        this.#isFresh = true;
      } else this.#add(token.kind, sign === ":" ? ": " : this.#text.slice(token.start, token.end));
    }
    return this.#lines;
  }

  #begin(token: Token): void {
    this.#add("punctuation", this.#text[token.start]!);
    this.#open.push({ line: this.#lines.length - 1, members: 0 });
    this.#isFresh = true;
  }

  #close(sign: string): void {
    const opened = this.#open.pop();
    this.#newLine();
    this.#lines.at(-1)!.spans.push({ kind: "punctuation", text: sign });
    if (opened === undefined) return;
    const first = this.#lines[opened.line]!;
    first.end = this.#lines.length - 1;
    first.members = opened.members;
  }

  #add(kind: Span["kind"], text: string): void {
    if (this.#isFresh && text !== ",") {
      const parent = this.#open.at(-1);
      if (parent !== undefined) parent.members++;
      this.#newLine();
    }
    this.#lines.at(-1)?.spans.push({ kind, text });
  }

  #newLine(): void {
    const number = this.#lines.length;
    this.#lines.push({ depth: this.#open.length, spans: [], end: number, members: 0 });
    this.#isFresh = false;
  }
}

/** Returns the numbers of the lines that are seen with some folded. */
export function seenLines(lines: readonly JsonLine[], folded: ReadonlySet<number>): number[] {
  const seen: number[] = [];
  for (let index = 0; index < lines.length; index++) {
    seen.push(index);
    if (folded.has(index)) index = lines[index]!.end;
  }
  return seen;
}

/** Returns the lines that open something at `depth`, to fold them all. */
export function linesAtDepth(lines: readonly JsonLine[], depth: number): number[] {
  return lines.flatMap((line, index) => (line.depth === depth && line.end > index ? [index] : []));
}
