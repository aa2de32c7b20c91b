/** Filters for Chinese, Japanese and Korean. */

import { type Options, readBoolean, readList } from "#hub/engine/analysis/parts/options.ts";
import type { Token, TokenFilter } from "#hub/engine/analysis/parts/token.ts";

/** Full-width ASCII becomes ASCII, half-width katakana full-width; a mark of voice that follows joins its letter. */
export function cjkWidth(text: string): string {
  return text
    .replace(/[\uff01-\uff5e]/g, (character) => String.fromCharCode(character.charCodeAt(0) - 0xfee0))
    .replace(/[\uff65-\uff9f]+/g, (kana) => kana.normalize("NFKC"));
}

/** Types of the standard tokenizer by the name of their script in settings. */
const SCRIPTS: Readonly<Record<string, string>> = {
  han: "<IDEOGRAPHIC>",
  hiragana: "<HIRAGANA>",
  katakana: "<KATAKANA>",
  hangul: "<HANGUL>",
};

/** `cjk_bigram`: pairs of neighbouring characters; a character without a neighbour is a token alone. */
export function cjkBigram(options: Options): TokenFilter {
  const ignored = readList(options, "ignored_scripts", []);
  const unigrams = readBoolean(options, "output_unigrams", false);
  const types = new Set(
    Object.entries(SCRIPTS)
      .filter(([script]) => !ignored.includes(script))
      .map(([, type]) => type),
  );
  return (tokens) => {
    const found: Token[] = [];
    let shift = 0;
    let run: Token[] = [];
    const flush = (): void => {
      if (run.length === 0) return;
      found.push(...(unigrams ? withUnigrams(run) : bigrams(run)));
      if (!unigrams && run.length > 1) shift--;
      run = [];
    };
    for (const token of tokens) {
      if (!types.has(token.type)) {
        flush();
        found.push({ ...token, position: token.position + shift });
        continue;
      }
      const characters = charactersOf(token, token.position + shift);
      if (run.length > 0 && run.at(-1)!.endOffset !== token.startOffset) {
        const before = shift;
        flush();
        for (const character of characters)
          run.push({ ...character, position: character.position + shift - before });
      } else
        run.push(
          ...characters.map((character) => ({ ...character, position: nextPosition(run, character) })),
        );
      shift += characters.length - 1;
    }
    flush();
    return found;
  };
}

function nextPosition(run: readonly Token[], { position }: Token): number {
  return Math.max(position, run.length === 0 ? position : run.at(-1)!.position + 1);
}

function charactersOf(token: Token, position: number): Token[] {
  // A filter before may have changed the word's length: then all characters have the whole word's offsets.
  const hasOffsets = token.endOffset - token.startOffset === token.text.length;
  let offset = token.startOffset;
  return Array.from(token.text, (text, at) => {
    const from = offset;
    offset += text.length;
    const offsets = hasOffsets ? { startOffset: from, endOffset: offset } : {};
    return { ...token, ...offsets, text, type: "<SINGLE>", position: position + at };
  });
}

function bigrams(run: readonly Token[]): Token[] {
  if (run.length === 1) return [run[0]!];
  return run.slice(1).map((second, at) => pair(run[at]!, second));
}

function withUnigrams(run: readonly Token[]): Token[] {
  return run.flatMap((token, at) => {
    const second = run[at + 1];
    return second === undefined ? [token] : [token, { ...pair(token, second), positionLength: 2 }];
  });
}

function pair(first: Token, second: Token): Token {
  return { ...first, text: first.text + second.text, endOffset: second.endOffset, type: "<DOUBLE>" };
}
