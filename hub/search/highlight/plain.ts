/** The `plain` highlighter: fragments of a size in characters, each value by itself. As Lucene's Highlighter does it. */

import type { Token } from "#hub/engine/analysis/analysis.ts";
import type { HighlightField } from "./highlight-request.ts";
import { encode, type MatchedValue, markUp, type Stretch } from "./markup.ts";

interface Fragment {
  readonly start: number;
  end: number;
  readonly marks: Stretch[];
  /** Different words of the query in it. */
  readonly words: Set<string>;
}

/** Tokens that overlap, with what of them is to be marked. */
interface TokenGroup {
  tokens: number;
  end: number;
  readonly found: Token[];
}

/** Tokens of a group; further ones that overlap are passed over. */
const MAX_GROUP = 50;

/** Returns the fragments: of each value those with most words of the query first. */
export function plainFragments(values: readonly MatchedValue[], options: HighlightField): string[] {
  const count = options.fragments === 0 ? 1 : options.fragments;
  const found: { readonly text: string; readonly fragment: Fragment }[] = [];
  for (const value of values) {
    const best = fragmentsOf(value, options)
      .filter(({ words }) => words.size > 0)
      .sort((a, b) => b.words.size - a.words.size)
      .slice(0, count);
    for (const fragment of best) found.push({ text: value.text, fragment });
  }
  if (options.byScore) found.sort((a, b) => b.fragment.words.size - a.fragment.words.size);
  const shown = options.fragments === 0 ? found : found.slice(0, count);
  if (shown.length === 0) return noMatch(values[0], options);
  return shown.map(({ text, fragment }) => markUp(text, fragment, fragment.marks, options));
}

/** Cuts a value before tokens; what lies between two tokens belongs to the fragment of the second. */
function fragmentsOf(value: MatchedValue, options: HighlightField): Fragment[] {
  const { text, tokens, matches } = value;
  const found = new Set(matches.flatMap((match) => match.tokens));
  const isNew = fragmenter(value, options);
  let fragment: Fragment = { start: 0, end: 0, marks: [], words: new Set() };
  const fragments = [fragment];
  let group: TokenGroup | undefined;
  for (const token of tokens) {
    if (group !== undefined && token.startOffset >= group.end) {
      fragment.end = closed(group, fragment);
      group = undefined;
      if (isNew(token)) {
        fragment = { start: fragment.end, end: fragment.end, marks: [], words: new Set() };
        fragments.push(fragment);
      }
    }
    group ??= { tokens: 0, end: token.endOffset, found: [] };
    if (found.has(token)) fragment.words.add(token.text);
    if (group.tokens++ >= MAX_GROUP) continue;
    group.end = Math.max(group.end, token.endOffset);
    if (found.has(token)) group.found.push(token);
  }
  if (group !== undefined) closed(group, fragment);
  fragment.end = text.length;
  return fragments;
}

/** Adds the mark of a group to its fragment; returns where the group ends. */
function closed({ found, end }: TokenGroup, fragment: Fragment): number {
  if (found.length === 0) return end;
  const mark = {
    start: Math.min(...found.map(({ startOffset }) => startOffset)),
    end: Math.max(...found.map(({ endOffset }) => endOffset)),
  };
  fragment.marks.push(mark);
  return mark.end;
}

/** Returns what says whether a fragment begins with a token; it is asked of all tokens but the first, in order. */
function fragmenter(value: MatchedValue, options: HighlightField): (token: Token) => boolean {
  const { fragmentSize: size, fragments } = options;
  if (fragments === 0) return () => false;
  let count = 1;
  const begins = (token: Token): boolean => {
    if (token.endOffset < size * count) return false;
    count++;
    return true;
  };
  if (options.fragmenter === "simple") return begins;
  const phrases = phrasesByOffset(value);
  const length = value.text.length;
  const first = value.tokens[0]?.position ?? 0;
  let waitFor = -1;
  return (token) => {
    // Lucene counts positions from the second token on: that of a phrase's first word is reached at its second.
    const offset = token.position - first - 1;
    if (waitFor > offset) return false;
    const phrase = phrases.get(offset);
    waitFor = phrase?.some(({ text }) => text === token.text) === true ? phrase.at(-1)!.position + 1 : -1;
    // No fragment begins within a phrase, nor near the end of the text.
    return length - token.endOffset >= size >>> 1 && begins(token);
  };
}

/** The tokens of phrases by the position of the first one. */
function phrasesByOffset({ matches }: MatchedValue): Map<number, readonly Token[]> {
  const phrases = new Map<number, readonly Token[]>();
  for (const { tokens } of matches) if (tokens.length > 1) phrases.set(tokens[0]!.position, tokens);
  return phrases;
}

/** The beginning of the first value, up to the last token that ends within `no_match_size`. */
function noMatch(value: MatchedValue | undefined, options: HighlightField): string[] {
  if (value === undefined || options.noMatchSize === 0) return [];
  let end = -1;
  for (const { endOffset } of value.tokens) {
    if (endOffset > options.noMatchSize) break;
    end = endOffset;
    if (endOffset === options.noMatchSize) break;
  }
  return end > 0 ? [encode(value.text.slice(0, end), options)] : [];
}
