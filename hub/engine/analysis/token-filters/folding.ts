/**
 * `lowercase` by code point and by the rules of some languages, `asciifolding`, `decimal_digit`: characters as their
 * ASCII equivalents.
 */

/** Removes marks from Latin letters and spells out what Unicode's decomposition doesn't (ß, æ, ø …). */
export function foldToAscii(text: string): string {
  let result = "";
  for (const character of text.normalize("NFKD").replace(/\p{M}+/gu, "")) {
    result += FOLDINGS[character] ?? character;
  }
  return result;
}

const FOLDINGS: Readonly<Record<string, string>> = {
  ß: "ss",
  ẞ: "SS",
  æ: "ae",
  Æ: "AE",
  œ: "oe",
  Œ: "OE",
  ø: "o",
  Ø: "O",
  đ: "d",
  Đ: "D",
  ð: "d",
  Ð: "D",
  þ: "th",
  Þ: "TH",
  ł: "l",
  Ł: "L",
  ħ: "h",
  Ħ: "H",
  ı: "i",
  ĸ: "q",
  ŋ: "n",
  Ŋ: "N",
  ŧ: "t",
  Ŧ: "T",
  ƒ: "f",
  "‘": "'",
  "’": "'",
  "“": '"',
  "”": '"',
  "–": "-",
  "—": "-",
  "‹": "'",
  "›": "'",
  "«": '"',
  "»": '"',
};

/** Returns the text with ASCII digits for the decimal digits of all scripts. */
export function asciiDigits(text: string): string {
  return text.replace(/\p{Nd}/gu, (digit) => {
    const point = digit.codePointAt(0)!;
    let zero = point;
    // Decimal digits come in runs of ten from zero upwards.
    while (point - zero < 9 && /\p{Nd}/u.test(String.fromCodePoint(zero - 1))) zero--;
    return String(point - zero);
  });
}

/** Lower case by code point, as Java does: no context, one code point for one. */
export function lowercase(text: string): string {
  const lower = text.toLowerCase();
  if (lower.length === text.length && !text.includes("\u03a3")) return lower;
  let result = "";
  for (const character of text) result += String.fromCodePoint(character.toLowerCase().codePointAt(0)!);
  return result;
}

/** Greek: accents and diaereses go, and the final sigma becomes σ. */
function greek(text: string): string {
  return lowercase(text)
    .normalize("NFD")
    .replace(/(?<=[αεηιουω])[\u0300\u0301\u0308\u0342]+/g, "")
    .normalize("NFC")
    .replaceAll("ς", "σ");
}

/** Irish: the prefixed n or t before a capital vowel is set off by a hyphen. */
function irish(text: string): string {
  return lowercase(text.replace(/^[nt](?=[AEIOUÁÉÍÓÚ])/, "$&-"));
}

/** Turkish: dotted and dotless i. */
function turkish(text: string): string {
  return lowercase(text.replace(/\u0130|I\u0307/g, "i").replaceAll("I", "ı"));
}

/** Returns the lower case of a language: greek, irish, turkish. Throws RangeError for another. */
export function lowercaseOf(language: string): (text: string) => string {
  if (language === "") return lowercase;
  const known: Readonly<Record<string, (text: string) => string>> = { greek, irish, turkish };
  if (!Object.hasOwn(known, language))
    throw new RangeError(`language [${language}] not support for lower case`);
  return known[language]!;
}
