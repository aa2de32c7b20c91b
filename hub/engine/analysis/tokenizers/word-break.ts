/**
 * Word-break classes of code points (UAX #29), as far as the standard tokenizer distinguishes them. Derived from the
 * Unicode properties of JavaScript's regular expressions, once per code point.
 */

export const OTHER = 1;
export const LETTER = 2;
export const HEBREW = 3;
export const NUMERIC = 4;
export const KATAKANA = 5;
/** Joins everything: the underscore and its like. */
export const CONNECTOR = 6;
/** Joins letters: the colon and its like. */
export const MID_LETTER = 7;
/** Joins digits: comma, semicolon. */
export const MID_NUMBER = 8;
/** Joins letters or digits: the full stop, the apostrophe. */
export const MID_BOTH = 9;
export const SINGLE_QUOTE = 10;
export const DOUBLE_QUOTE = 11;
/** Combining marks and format characters: belong to what is before them. */
export const EXTEND = 12;
export const HAN = 13;
export const HIRAGANA = 14;
export const HANGUL = 15;
/** Scripts written without spaces (Thai, Lao, Khmer, Myanmar …): a run is one token. */
export const SOUTHEAST_ASIAN = 16;

const MID_LETTERS = new Set([0x3a, 0xb7, 0x2d7, 0x387, 0x5f4, 0x2027, 0xfe13, 0xfe55, 0xff1a]);
const MID_BOTHS = new Set([0x2e, 0x2018, 0x2019, 0x2024, 0xfe52, 0xff07, 0xff0e]);
const MID_NUMBERS = new Set([
  0x2c, 0x3b, 0x37e, 0x589, 0x60c, 0x60d, 0x66c, 0x7f8, 0x2044, 0xfe10, 0xfe14, 0xfe50, 0xfe54, 0xff0c,
  0xff1b,
]);

const RULES: readonly (readonly [RegExp, number])[] = [
  [/^\p{Script=Hebrew}$/u, HEBREW],
  [/^[\p{Grapheme_Extend}\p{M}\p{Cf}]$/u, EXTEND],
  [
    /^[\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\p{Script=Tai_Le}\p{Script=New_Tai_Lue}]$/u,
    SOUTHEAST_ASIAN,
  ],
  [/^\p{Nd}$/u, NUMERIC],
  [/^\p{Script=Hiragana}$/u, HIRAGANA],
  [/^[\p{Script=Katakana}\u3031-\u3035\u309b\u309c\u30a0\u30fc\uff70]$/u, KATAKANA],
  [/^\p{Ideographic}$/u, HAN],
  [/^\p{Pc}$/u, CONNECTOR],
  [/^\p{Script=Hangul}$/u, HANGUL],
  [/^\p{Alphabetic}$/u, LETTER],
];

/** One byte per code point, 0: not looked up yet. */
const CLASSES = new Uint8Array(0x11_0000);

/** Returns the class of a code point. */
export function wordBreakClass(codePoint: number): number {
  const known = CLASSES[codePoint]!;
  if (known !== 0) return known;
  const found = classify(codePoint);
  CLASSES[codePoint] = found;
  return found;
}

/**
 * Returns the classes of the code points 0..count-1, a byte each. Faster by far than asking for each: a text of all of
 * them is searched for runs, the rules that come first last.
 */
export function wordBreakClasses(count: number): Uint8Array {
  const classes = new Uint8Array(count).fill(OTHER);
  const text = allCharacters(count);
  for (const [pattern, type] of RULES.toReversed()) {
    const runs = new RegExp(`${pattern.source.slice(1, -1)}+`, "gu");
    for (const { 0: run, index } of text.matchAll(runs)) {
      for (let at = index; at < index + run.length; at++) {
        const point = text.codePointAt(at)!;
        if (point > 0xffff) at++;
        if (type !== HEBREW || /^\p{L}$/u.test(String.fromCodePoint(point))) classes[point] = type;
      }
    }
  }
  // Surrogates aren't in the text, punctuation has rules of its own.
  for (const points of [MID_LETTERS, MID_BOTHS, MID_NUMBERS])
    for (const point of points) if (point < count) classes[point] = classify(point);
  for (const point of [0x22, 0x27]) if (point < count) classes[point] = classify(point);
  return classes;
}

function allCharacters(count: number): string {
  const parts: string[] = [];
  for (let point = 0; point < count; point++)
    if (point < 0xd800 || point > 0xdfff) parts.push(String.fromCodePoint(point));
  return parts.join("");
}

function classify(codePoint: number): number {
  if (codePoint === 0x27) return SINGLE_QUOTE;
  if (codePoint === 0x22) return DOUBLE_QUOTE;
  if (MID_LETTERS.has(codePoint)) return MID_LETTER;
  if (MID_BOTHS.has(codePoint)) return MID_BOTH;
  if (MID_NUMBERS.has(codePoint)) return MID_NUMBER;
  const character = String.fromCodePoint(codePoint);
  for (const [pattern, type] of RULES) {
    if (pattern.test(character)) {
      // Hebrew punctuation and marks aren't letters.
      if (type === HEBREW && !/^\p{L}$/u.test(character)) continue;
      return type;
    }
  }
  return OTHER;
}
