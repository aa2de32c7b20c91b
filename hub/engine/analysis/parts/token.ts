/** A term of a text, before it is indexed. */

import type { Options } from "./options.ts";

/** A term with its position in the text, as _analyze prints it. */
export interface Token {
  readonly text: string;
  /** UTF-16 units from the start of the text. */
  readonly startOffset: number;
  /** Exclusive. */
  readonly endOffset: number;
  /** Type such as <ALPHANUM>, <NUM>, word. */
  readonly type: string;
  /** Position in the token stream, from 0; tokens at one position share it. */
  readonly position: number;
  /** Positions that the token spans; 1 where it isn't given. */
  readonly positionLength?: number;
  /** True for a token that stemmers leave as it is. */
  readonly isKeyword?: boolean;
}

/** Most tokens that a part may make of one value where nothing says otherwise. */
export const MAX_VALUE_TOKENS = 1_000_000;

/** Cuts a text into tokens; parts that make many of each word stop after `most`. */
export type Tokenizer = (text: string, most?: number) => Token[];

/** Changes, drops or adds tokens; parts that make many of each word stop after `most`. */
export type TokenFilter = (tokens: Token[], most?: number) => Token[];

/** Changes the text before it is cut. */
export type CharFilter = (text: FilteredText) => FilteredText;

/** A text with the offset in the original text for each of its UTF-16 units and its end; null: not moved. */
export interface FilteredText {
  readonly text: string;
  readonly offsets: Int32Array | null;
}

/** What a filter may use of the chain that it is made for. */
export interface ChainSoFar {
  /** Returns the tokens of a text by the tokenizer and the filters before. */
  tokens(text: string): Token[];
  /** Makes a filter by its name. Throws RangeError if there is none. */
  filter(name: string): TokenFilter;
}

/** Makes a token filter of its settings. Throws settings_invalid or RangeError. */
export type FilterMaker = (options: Options, chain: ChainSoFar) => TokenFilter;

/** Returns the token text[from..to). */
export function makeToken(text: string, from: number, to: number, position: number, type = "word"): Token {
  return { text: text.slice(from, to), startOffset: from, endOffset: to, type, position };
}

/** Returns a filter that changes the text of each token. */
export function mapText(change: (text: string) => string): TokenFilter {
  return (tokens) => tokens.map((token) => ({ ...token, text: change(token.text) }));
}

/** Returns a filter that changes the text of each token but of those that are marked as keywords. */
export function mapWords(change: (text: string) => string): TokenFilter {
  return (tokens) =>
    tokens.map((token) => (token.isKeyword === true ? token : { ...token, text: change(token.text) }));
}
