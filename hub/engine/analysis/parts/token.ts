/** A term on its way from a text into the index. */

/** A term with its place in the text, as _analyze prints it. */
export interface Token {
  readonly text: string;
  /** UTF-16 units from the start of the text. */
  readonly startOffset: number;
  /** Exclusive. */
  readonly endOffset: number;
  /** Type such as <ALPHANUM>, <NUM>, word. */
  readonly type: string;
  /** Place in the token stream, from 0; tokens at one place share it. */
  readonly position: number;
}

/** Cuts a text into tokens. */
export type Tokenizer = (text: string) => Token[];

/** Changes, drops or adds tokens. */
export type TokenFilter = (tokens: Token[]) => Token[];

/** Changes the text before it is cut. */
export type CharFilter = (text: FilteredText) => FilteredText;

/** A text with the offset in the original text for each of its UTF-16 units and its end; null: not moved. */
export interface FilteredText {
  readonly text: string;
  readonly offsets: Int32Array | null;
}

/** Returns the token text[from..to). */
export function makeToken(text: string, from: number, to: number, position: number, type = "word"): Token {
  return { text: text.slice(from, to), startOffset: from, endOffset: to, type, position };
}
