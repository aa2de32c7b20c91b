/** A chain of an analyzer: character filters, the tokenizer and token filters, run as one. */

import {
  type CharFilter,
  MAX_VALUE_TOKENS,
  type Token,
  type TokenFilter,
  type Tokenizer,
} from "./parts/token.ts";

/** Words of the shingles that a chain makes. */
export interface ShingleSizes {
  readonly min: number;
  readonly max: number;
  /** Single words are kept beside the shingles. */
  readonly hasUnigrams: boolean;
}

/** Makes terms of text. */
export interface Analyzer {
  readonly name: string;
  /** True for the standard tokenizer with lower case and nothing else: ASCII text may take the fast path. */
  readonly isStandard: boolean;
  /** What a request that uses it is warned of: names and settings that later versions refuse. */
  readonly warnings: readonly string[];
  /** Of its first filter `shingle`; absent without one. */
  readonly shingles?: ShingleSizes | undefined;
  tokens(text: string): Token[];
  /**
   * Like `tokens`, piece by piece where the chain takes each word by itself; else all at once. Parts that make many tokens of
   * a word stop after `most`.
   */
  pieces(text: string, most?: number): Iterable<Token[]>;
}

interface ChainKind {
  readonly isStandard?: boolean;
  /** Each token depends on its word alone, and no word holds a white space. */
  readonly isWordwise?: boolean;
  readonly warnings?: readonly string[];
  readonly shingles?: ShingleSizes | undefined;
}

/** Returns the analyzer that runs the parts one after the other. */
export function chainOf(
  name: string,
  charFilters: readonly CharFilter[],
  tokenizer: Tokenizer,
  filters: readonly TokenFilter[],
  { isStandard = false, isWordwise = false, warnings = [], shingles }: ChainKind = {},
): Analyzer {
  const filtered = (tokens: Token[], most: number): Token[] =>
    filters.reduce((each, filter) => filter(each, most), tokens);
  const tokens = (text: string, most = MAX_VALUE_TOKENS): Token[] => {
    let input: { text: string; offsets: Int32Array | null } = { text, offsets: null };
    for (const filter of charFilters) input = filter(input);
    const found = filtered(tokenizer(input.text, most), most);
    return input.offsets === null ? found : found.map(inText(text, input.offsets));
  };
  return {
    name,
    isStandard,
    warnings,
    shingles,
    tokens: (text) => tokens(text),
    *pieces(text, most = MAX_VALUE_TOKENS) {
      if (!isWordwise) {
        yield tokens(text, most);
        return;
      }
      let position = 0;
      for (let from = 0; from < text.length; ) {
        const to = pieceEnd(text, from);
        const words = tokenizer(text.slice(from, to), most).map((token) => moved(token, from, position));
        position = (words.at(-1)?.position ?? position - 1) + 1;
        yield filtered(words, most);
        from = to;
      }
    },
  };
}

/** Returns tokens of filtered characters with their offsets in `text`. */
function inText(text: string, offsets: Int32Array): (token: Token) => Token {
  return (token) => ({
    ...token,
    startOffset: offsets[token.startOffset] ?? text.length,
    endOffset: offsets[token.endOffset] ?? text.length,
  });
}

/** UTF-16 units of a piece of text, some milliseconds of work. */
const PIECE_LENGTH = 16_384;
/** Where a text may be cut whatever is around it: a mark that follows a space belongs to the space. */
const CUT = /[\t\n\r ](?=[0-9A-Za-z])/g;

function pieceEnd(text: string, from: number): number {
  if (text.length - from <= PIECE_LENGTH) return text.length;
  CUT.lastIndex = from + PIECE_LENGTH;
  return CUT.test(text) ? CUT.lastIndex : text.length;
}

function moved(token: Token, offset: number, position: number): Token {
  return {
    ...token,
    startOffset: token.startOffset + offset,
    endOffset: token.endOffset + offset,
    position: token.position + position,
  };
}
