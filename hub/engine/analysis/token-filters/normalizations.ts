/** Filters that normalise the letters of a script. */

import { replaceCharacters } from "#hub/engine/analysis/stemmers/suffixes.ts";

const ARABIC_MARKS = /[\u0640\u064b-\u0652]/g;
const arabicLetters = replaceCharacters("آأإىة", "اااي\u0647");
/** Blocks of 128 code points by the letter that the table has for them; P is Gurmukhi, E Telugu. */
const BLOCKS: Readonly<Record<string, number>> = {
  D: 0x0900,
  B: 0x0980,
  P: 0x0a00,
  G: 0x0a80,
  O: 0x0b00,
  T: 0x0b80,
  E: 0x0c00,
  K: 0x0c80,
  M: 0x0d00,
};
/** Parts, `>` and the whole as offsets in a block, in hexadecimal; then the blocks. Z is the zero-width joiner. First match counts. */
const COMPOSITIONS = `
  053E45>11DG 053E46>12D 053E47>13DG 053E48>14DG 053E>06DBPGO 0545>72D 0545>0DG 0546>04D 0547>0FG 0548>10PG
  0549>11DG 054A>12D 054B>13DG 054C>14DPG 0645>11DG 0646>12D 0647>13DG 0648>14DG 0757>08M 0941>0AD 0957>0ATM
  0E46>10M 0F45>0DD 0F46>0ED 0F47>10D 0F57>10O 123E>13M 124C>14EK 1255>13E 1257>14TM 1357>14O 153C>58D 163C>59DP
  173C>5ADP 1C3C>5BDP 213C>5CDBO 223C>5DDBO 234DZ>7AM 244DZ>4EB 283C>29D 284DZ>7BM 2B3C>5EDP 2F3C>5FDB 2C4141>0BE
  303C>31D 304DZ>7CM 324DZ>7DM 333C>34D 334DZ>7EM 3541>2EE 3E45>49DG 3E46>4AD 3E47>4BDG 3E48>4CDG 3F55>40K
  4141>42P 463E>4ATM 464255>4BK 4642>4AK 4646>48M 4655>47EK 4656>48EK 4657>4CTM 473E>4BBOTM 4757>4CBO 4A55>4BK
  723F>07P 7240>08P 7247>0FP 7341>09P 7342>0AP 734B>13P`;

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

/** German: ß as ss, umlauts and their spellings with e as the plain vowel; ue only where no vowel or q is before. */
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

/** Writes the letter at an index again; returns by how much the index moves before the next. */
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

let made: { readonly pattern: RegExp; readonly whole: ReadonlyMap<string, string> } | undefined;

/** Returns the text with its letters composed. */
function indic(text: string): string {
  made ??= compile();
  const { pattern, whole } = made;
  return text.replace(pattern, (parts) => whole.get(parts)!);
}

function compile(): { readonly pattern: RegExp; readonly whole: ReadonlyMap<string, string> } {
  const whole = new Map<string, string>();
  for (const row of COMPOSITIONS.trim().split(/\s+/)) {
    const [parts, rest] = row.split(">") as [string, string];
    const offsets = parts.match(/Z|../g)!;
    for (const block of rest.slice(2)) {
      const base = BLOCKS[block]!;
      const letter = (offset: string): string =>
        offset === "Z" ? "\u200d" : String.fromCharCode(base + Number.parseInt(offset, 16));
      const key = offsets.map(letter).join("");
      if (!whole.has(key)) whole.set(key, letter(rest.slice(0, 2)));
    }
  }
  const longestFirst = [...whole.keys()].sort((a, b) => b.length - a.length);
  return { pattern: new RegExp(longestFirst.join("|"), "g"), whole };
}
