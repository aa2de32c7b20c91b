/** `asciifolding`, `decimal_digit`: characters as their ASCII kin. */

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
