/**
 * Boundaries of sentences and words of a text, as Java's BreakIterator finds them, so that fragments end where those of
 * Lucene do. A line break ends no sentence; a period ends one only if a new one seems to begin after it.
 */

/** Ends the values of a field in the text that they form together. */
export const VALUE_END = "\u2029";

/** Where a text may be cut. */
export interface Boundaries {
  /** Returns the last boundary below `offset`, at least 0. */
  preceding(offset: number): number;
  /** Returns the first boundary above `offset`, at most the length of the text. */
  following(offset: number): number;
}

/** Boundaries that are known beforehand. */
class Offsets implements Boundaries {
  readonly #offsets: readonly number[];

  /** `offsets` ascend from 0 to the length of the text. */
  constructor(offsets: readonly number[]) {
    this.#offsets = offsets;
  }

  preceding(offset: number): number {
    const at = this.#firstFrom(offset);
    return at === 0 ? 0 : this.#offsets[at - 1]!;
  }

  following(offset: number): number {
    return this.#offsets[this.#firstFrom(offset + 1)] ?? this.#offsets.at(-1)!;
  }

  /** Returns the index of the first boundary that is `offset` or more. */
  #firstFrom(offset: number): number {
    let [low, high] = [0, this.#offsets.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#offsets[middle]! < offset) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** What may end a sentence: the end of a value; a mark that always does; a period with what belongs to it. */
const SENTENCE_END =
  /\u2029|[!?\u3002\uff01\uff1f][!?\u3002\uff01\uff1f.\uff0e\p{Pe}\p{Pf}"']*[[\s]--\u2029]*\u2029?|[.\uff0e][.\uff0e\p{Pe}\p{Pf}"']*/gv;

/** Returns the boundaries of sentences. */
export function sentences(text: string): Boundaries {
  const offsets = [0];
  SENTENCE_END.lastIndex = 0;
  for (let match = SENTENCE_END.exec(text); match !== null; match = SENTENCE_END.exec(text)) {
    const end = SENTENCE_END.lastIndex;
    const isPeriod = /[.\uff0e]/.test(match[0][0]!);
    const offset = isPeriod ? periodBreak(text, end) : end;
    if (offset === undefined) continue;
    offsets.push(offset);
    SENTENCE_END.lastIndex = offset;
  }
  return ended(offsets, text);
}

/** Spaces after a period, then what may precede the first letter of a sentence, then that letter. */
const NEXT_SENTENCE = /([[\s]--\u2029]*)([^\p{L}\p{N}\s.\uff0e!?\u3002\uff01\uff1f\p{Pe}\p{Pf}]*)(\p{L}?)/vy;

/**
 * Returns the boundary after a period and what belongs to it, which end at `end`; undefined if a sentence continues.
 */
function periodBreak(text: string, end: number): number | undefined {
  NEXT_SENTENCE.lastIndex = end;
  const [, spaces, before, letter] = NEXT_SENTENCE.exec(text)!;
  const offset = end + spaces!.length;
  if (text[offset] === VALUE_END) return offset + 1;
  if (letter === "") return undefined;
  const isLower = /\p{Ll}/u.test(letter!);
  const begins = before !== "" || spaces!.length > 1 || (spaces!.length === 1 && !isLower);
  const isQuoted = spaces === "" && !isLower && /["']/.test(text[end - 1]!);
  return begins || isQuoted ? offset : undefined;
}

/** What is before the first letter of a sentence, up to the end. */
const BEFORE_LETTER = /^[^\p{L}\p{N}\s.\uff0e!?\u3002\uff01\uff1f\p{Pe}\p{Pf}]*$/v;

/** What may belong to the end of a sentence. */
const MAY_END = /^[\s.\uff0e!?\u3002\uff01\uff1f\p{Pe}\p{Pf}"']*$/v;

/** Boundaries of sentences around an offset at which a text is cut in two, as if either part were a text by itself. */
export class SentencesNear {
  readonly #text: string;
  readonly #all: Boundaries;

  constructor(text: string) {
    this.#text = text;
    this.#all = sentences(text);
  }

  /** Returns the last boundary below `offset` of the text that ends there. */
  startBefore(offset: number): number {
    const last = this.#all.preceding(offset);
    // No sentence begins without a letter: what follows isn't known.
    if (!BEFORE_LETTER.test(this.#text.slice(last, offset))) return last;
    const start = this.#all.preceding(last);
    return start + sentences(this.#text.slice(start, offset)).preceding(offset - start);
  }

  /** Returns the first boundary above `offset` of the text that begins there. */
  endBehind(offset: number): number {
    const first = this.#all.following(offset);
    // What ends a sentence may be cut off.
    if (!MAY_END.test(this.#text.slice(offset, first))) return first;
    const rest = this.#text.slice(offset, this.#all.following(first));
    return offset + sentences(rest).following(0);
  }
}

const IDEOGRAPH = String.raw`[\p{Script=Han}\u3005]`;
const LETTER = String.raw`[[\p{L}\p{M}]--[\p{Script=Han}\p{Script=Hira}\p{Script=Kana}\u3005]]`;
const IN_WORD = String.raw`[\p{Pd}\p{Pc}\u00ad\u2027"'.]`;
const IN_NUMBER = String.raw`["',.\u066b]`;

/** Letters and digits with what joins them; spaces with the line's end; otherwise a single character. */
const WORD = new RegExp(
  [
    String.raw`(?:[\p{Sc}#.](?=\p{Nd}))?(?:${LETTER}|\p{N})+`,
    `(?:(?:(?<=${LETTER})${IN_WORD}(?=${LETTER})|(?<=\\p{N})${IN_NUMBER}(?=\\p{N}))(?:${LETTER}|\\p{N})+)*`,
    String.raw`(?:(?<=\p{N})[%&\u00a2\u2030\u2031])?`,
    String.raw`|${IDEOGRAPH}+|\p{Script=Hira}+|[\p{Script=Kana}\u30fc]+|\p{Zs}+(?:\r\n|[\n\r\t\f])?|\r\n|.`,
  ].join(""),
  "ysv",
);

/** Characters before an offset among which a space is looked for to start from; words are shorter. */
const LOOK_BACK = 256;

/** The boundaries of words, found when they are asked for. */
export class Words implements Boundaries {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  preceding(offset: number): number {
    let last = this.#start(offset);
    for (const end of this.#ends(last)) {
      if (end >= offset) break;
      last = end;
    }
    return last;
  }

  following(offset: number): number {
    for (const end of this.#ends(this.#start(offset))) if (end > offset) return end;
    return this.#text.length;
  }

  /** Returns a boundary below `offset`: the offset of a space after another character. */
  #start(offset: number): number {
    for (let at = offset - 1; at > 0 && at > offset - LOOK_BACK; at--)
      if (/^\S\s$/.test(this.#text.slice(at - 1, at + 1))) return at;
    return Math.max(0, offset - LOOK_BACK);
  }

  *#ends(start: number): Generator<number> {
    const word = new RegExp(WORD);
    for (word.lastIndex = start; word.lastIndex < this.#text.length; ) {
      if (word.exec(this.#text) === null) return;
      yield word.lastIndex;
    }
  }
}

/** Returns the boundaries between the values of a field. */
export function valuesOf(text: string): Boundaries {
  const offsets = [0];
  for (let at = text.indexOf(VALUE_END); at >= 0; at = text.indexOf(VALUE_END, at + 1)) offsets.push(at + 1);
  return ended(offsets, text);
}

function ended(offsets: number[], text: string): Boundaries {
  if (offsets.at(-1) !== text.length) offsets.push(text.length);
  return new Offsets(offsets);
}

/**
 * As many sentences as fit into `size` characters; longer ones are cut between words, around the requested offset.
 */
export class BoundedSentences implements Boundaries {
  readonly #text: string;
  readonly #sentences: Boundaries;
  readonly #words: Words;
  readonly #size: number;
  #window = { start: -1, end: -1 };
  #part = { start: -1, end: 0 };
  /** End of the value that was looked at last. */
  #valueEnd = 0;

  constructor(text: string, size: number) {
    this.#text = text;
    this.#sentences = sentences(text);
    this.#words = new Words(text);
    this.#size = size;
  }

  /** Must not be asked for less than before. */
  preceding(offset: number): number {
    const window = this.#window;
    if (offset > window.start && offset < window.end) this.#part = { start: this.#part.end, end: window.end };
    else {
      const start = this.#sentences.preceding(offset);
      this.#window = { start, end: this.#fitting(start, this.#sentences.following(offset - 1)) };
      this.#part = { ...this.#window };
    }
    if (this.#part.end - this.#part.start > this.#size) this.#cut(offset);
    return this.#part.start;
  }

  /** Returns the end of the part whose start was asked for last. */
  following(): number {
    return this.#part.end;
  }

  /** Returns the end of the last sentence of the value that fits with all from `start` on, at least `end`. */
  #fitting(start: number, end: number): number {
    if (start >= this.#valueEnd) {
      const valueEnd = this.#text.indexOf(VALUE_END, start);
      this.#valueEnd = valueEnd < 0 ? this.#text.length : valueEnd + 1;
    }
    let last = end;
    while (last - start < this.#size && last < this.#valueEnd) {
      const next = this.#sentences.following(last);
      if (next - start > this.#size) break;
      last = next;
    }
    return last;
  }

  /** As much as fits is taken before `offset`, the rest after it. */
  #cut(offset: number): void {
    const part = this.#part;
    if (offset - this.#size > part.start)
      part.start = Math.max(part.start, this.#words.preceding(offset - this.#size));
    const rest = Math.max(0, this.#size - (offset - part.start));
    if (offset + rest < this.#window.end)
      part.end = Math.min(this.#window.end, this.#words.following(offset + rest));
  }
}
