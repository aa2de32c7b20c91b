/** Filters that write the letters of a script one way. */

import { replaceCharacters } from "#hub/engine/analysis/stemmers/suffixes.ts";
import { indic } from "./indic-normalization.ts";

const ARABIC_MARKS = /[\u0640\u064b-\u0652]/g;
const arabicLetters = replaceCharacters("آأإىة", "اااي\u0647");

function arabic(text: string): string {
  return arabicLetters(text.replace(ARABIC_MARKS, ""));
}

const persianLetters = replaceCharacters("\u06cc\u06d2\u06a9\u06c0\u06c1", "\u064a\u064a\u0643\u0647\u0647");

function persian(text: string): string {
  return persianLetters(text.replaceAll("\u0654", ""));
}

const soraniLetters = replaceCharacters(
  "\u064a\u0649\u0643\u0629\u06be\u0692",
  "\u06cc\u06cc\u06a9\u06d5\u0647\u0695",
);

function sorani(text: string): string {
  return soraniLetters(
    text
      .replace(ARABIC_MARKS, "")
      .replace(/\u0647\u200c/g, "\u06d5")
      .replace(/\p{Cf}/gu, "")
      .replace(/\u0647$/, "\u06d5")
      .replace(/^\u0631/, "\u0695"),
  );
}

const hindiLetters = replaceCharacters(
  "\u0901\u0929\u0931\u0934\u0958\u0959\u095a\u095b\u095c\u095d\u095e\u095f\u0945\u0946\u0949\u094a\u090d\u090e\u0911\u0912\u0972\u0906\u0908\u090a\u0960\u0961\u0910\u0914\u0940\u0942\u0944\u0963\u0948\u094c",
  "\u0902\u0928\u0930\u0933\u0915\u0916\u0917\u091c\u0921\u0922\u092b\u092f\u0947\u0947\u094b\u094b\u090f\u090f\u0913\u0913\u0905\u0905\u0907\u0909\u090b\u090c\u090f\u0913\u093f\u0941\u0943\u0962\u0947\u094b",
);

function hindi(text: string): string {
  return hindiLetters(text.replace(/\u0928\u094d/g, "\u0902").replace(/\u093c|\u200c|\u200d|\u094d/g, ""));
}

/** German: ß as ss, umlauts and their spellings with e as the plain vowel; ue only where no vowel or q stands before. */
function german(text: string): string {
  return text
    .replace(/ß/g, "ss")
    .replace(/[ao]e|(?<![aeiouäöüqy])ue/g, (pair) => pair[0]!)
    .replace(/[äöü]/g, (letter) => ({ ä: "a", ö: "o", ü: "u" })[letter]!);
}

const SCANDINAVIAN: Readonly<Record<string, string>> = { ä: "æ", Ä: "Æ", ö: "ø", Ö: "Ø" };
/** Second letters of pairs in any case. */
const SCANDINAVIAN_PAIRS = /a[aoe]|o[oe]/gi;

/** å, æ and ø for the ways in which the Scandinavian languages write these letters. */
function scandinavian(text: string): string {
  const pairs: Readonly<Record<string, string>> = { aa: "å", ao: "å", ae: "æ", oo: "ø", oe: "ø" };
  return text
    .replace(/[äÄöÖ]/g, (letter) => SCANDINAVIAN[letter]!)
    .replace(SCANDINAVIAN_PAIRS, (pair) => {
      const letter = pairs[pair.toLowerCase()]!;
      return pair[0] === pair[0]!.toUpperCase() ? letter.toUpperCase() : letter;
    });
}

/** a and o for the Scandinavian letters and their spellings with two. */
function scandinavianFolding(text: string): string {
  return text
    .replace(/[åäæ]/g, "a")
    .replace(/[ÅÄÆ]/g, "A")
    .replace(/[öø]/g, "o")
    .replace(/[ÖØ]/g, "O")
    .replace(SCANDINAVIAN_PAIRS, (pair) => pair[0]!);
}

const SERBIAN: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    Array.from("абвгдежзијклмнопрстћцчуфхшčćžš", (letter, at) => [
      letter,
      "abvgdezzijklmnoprstcccufhscczs"[at]!,
    ]),
  ),
  ђ: "dj",
  đ: "dj",
  љ: "lj",
  њ: "nj",
  џ: "dz",
};

/** Serbian: Cyrillic as Latin without marks. */
function serbian(text: string): string {
  return text.replace(/[а-џčćžšđ]/g, (letter) => SERBIAN[letter] ?? letter);
}

/** Bengali (N. UzZaman, M. Khan, "A Double Metaphone encoding for Bangla"). */
function bengali(text: string): string {
  const letters = Array.from(text.replaceAll("\u0981", ""));
  for (let at = 0; at < letters.length; at++) at += bengaliLetter(letters, at);
  return letters.join("");
}

const BENGALI: Readonly<Record<string, string>> = {
  "\u09c0": "\u09bf",
  "\u09c2": "\u09c1",
  "\u0999": "\u0982",
  "\u09b6": "\u09b8",
  "\u09b7": "\u09b8",
  "\u09a3": "\u09a8",
  "\u09dc": "\u09b0",
  "\u09dd": "\u09b0",
  "\u09ce": "\u09a4",
};
const VIRAMA = "\u09cd";

/** Writes the letter at an index anew; returns by how much the index moves before the next. */
function bengaliLetter(letters: string[], at: number): number {
  const letter = letters[at]!;
  const simple = BENGALI[letter];
  if (simple !== undefined) letters[at] = simple;
  if (letter === "\u0995") return khio(letters, at);
  if (letter === "\u09af") return jaPhala(letters, at);
  if (letter === "\u09ac") return baPhala(letters, at);
  if (letter === "\u0983") return visarga(letters, at);
  return 0;
}

function khio(letters: string[], at: number): number {
  if (letters[at + 1] !== VIRAMA || letters[at + 2] !== "\u09bf") return 0;
  if (at === 0) letters.splice(0, 3, "\u0996");
  else letters.splice(at + 1, 2, "\u0996");
  return 0;
}

function jaPhala(letters: string[], at: number): number {
  if (at === 2 && letters[1] === VIRAMA) {
    letters[1] = "\u09c7";
    letters.splice(at, letters[at + 1] === "\u09be" ? 2 : 1);
    return -1;
  }
  if (at === 0 || letters[at - 1] !== VIRAMA) return 0;
  letters.splice(at - 1, 2);
  return -2;
}

function baPhala(letters: string[], at: number): number {
  if (at === 0 || letters[at - 1] !== VIRAMA) return 0;
  if (at === 2 || (at >= 5 && letters[at - 3] === VIRAMA)) {
    letters.splice(at - 1, 2);
    return -2;
  }
  letters[at - 1] = letters[at - 2]!;
  letters.splice(at, 1);
  return -1;
}

function visarga(letters: string[], at: number): number {
  if (at < letters.length - 1) letters[at] = letters[at + 1]!;
  else if (letters.length <= 3) letters[at] = "\u09b9";
  else letters.splice(at, 1);
  return 0;
}

/** The filters by name. */
export const NORMALIZATIONS: Readonly<Record<string, (text: string) => string>> = {
  arabic_normalization: arabic,
  persian_normalization: persian,
  sorani_normalization: sorani,
  hindi_normalization: hindi,
  indic_normalization: indic,
  bengali_normalization: bengali,
  german_normalization: german,
  scandinavian_normalization: scandinavian,
  scandinavian_folding: scandinavianFolding,
  serbian_normalization: serbian,
};
