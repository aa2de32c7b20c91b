/** The tokenizer `classic`: the grammar of Lucene's first StandardTokenizer, with types for hosts, acronyms and companies. */

import type { Token, Tokenizer } from "#hub/engine/analysis/parts/token.ts";

const CJ = "[\\u3040-\\u318f\\u3300-\\u337f\\u3400-\\u4dbf\\u4e00-\\u9fff\\uf900-\\ufaff\\uff65-\\uff9f]";
const LETTER = `(?!${CJ})\\p{L}`;
const PART = `(?:${LETTER}|\\p{Nd})`;
const WORD = `(?:${PART})+`;
const ALPHA = `(?:${LETTER})+`;
const HAS_DIGIT = `(?=(?:${LETTER})*\\p{Nd})${WORD}`;
const P = "[_\\-/.,]";

/** Kinds of tokens: the longest match counts, and of two the first. */
const KINDS: readonly (readonly [RegExp, string])[] = [
  [sticky(WORD), "<ALPHANUM>"],
  [sticky(`${ALPHA}(?:'${ALPHA})+`), "<APOSTROPHE>"],
  [sticky(`${LETTER}\\.(?:${LETTER}\\.)+`), "<ACRONYM>"],
  [sticky(`${ALPHA}[&@]${ALPHA}`), "<COMPANY>"],
  [sticky(`${WORD}(?:[.\\-_]${WORD})*@${WORD}(?:[.\\-]${WORD})+`), "<EMAIL>"],
  [sticky(`${WORD}(?:\\.${WORD})+`), "<HOST>"],
  [sticky(`${WORD}${P}${HAS_DIGIT}(?:${P}${WORD}${P}${HAS_DIGIT})*`), "<NUM>"],
  [sticky(`${HAS_DIGIT}${P}${WORD}(?:${P}${HAS_DIGIT}${P}${WORD})*`), "<NUM>"],
  [sticky(`${WORD}(?:${P}${HAS_DIGIT}${P}${WORD})+`), "<NUM>"],
  [sticky(`${HAS_DIGIT}(?:${P}${WORD}${P}${HAS_DIGIT})+`), "<NUM>"],
  [sticky(CJ), "<CJ>"],
];

const BEGINS = /[\p{L}\p{Nd}]/u;
/** UTF-16 units that a token is looked for in: longer ones are dropped anyway, and matching stays linear. */
const WINDOW = 1024;

function sticky(source: string): RegExp {
  return new RegExp(source, "uy");
}

/** Returns the tokenizer; words of more than `maxLength` UTF-16 units are dropped. */
export function classicTokenizer(maxLength: number): Tokenizer {
  return (text) => {
    const tokens: Token[] = [];
    let position = 0;
    for (let at = 0; at < text.length; ) {
      const width = text.codePointAt(at)! > 0xffff ? 2 : 1;
      if (!BEGINS.test(text.slice(at, at + width))) {
        at += width;
        continue;
      }
      const { length, type } = longest(text.slice(at, at + WINDOW));
      if (length === 0) {
        at += width;
        continue;
      }
      if (length <= maxLength)
        tokens.push({
          text: text.slice(at, at + length),
          startOffset: at,
          endOffset: at + length,
          type,
          position,
        });
      position++;
      at += length;
    }
    return tokens;
  };
}

function longest(text: string): { readonly length: number; readonly type: string } {
  let length = 0;
  let type = "";
  for (const [pattern, name] of KINDS) {
    pattern.lastIndex = 0;
    const found = pattern.exec(text)?.[0].length ?? 0;
    if (found > length) {
      length = found;
      type = name;
    }
  }
  return { length, type };
}
