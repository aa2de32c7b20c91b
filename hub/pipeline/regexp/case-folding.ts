/**
 * Writes out the cases of letters where an expression ignores case. V8's groups `(?i:…)` ignore it only while V8
 * optimizes expressions, which it stops doing in a thread that has compiled many; its flag `i` holds always, except for
 * whole expressions: `RubyRegexp` has it for those.
 */

/** Above this there are no letters with cases. */
const LAST_CASED = 0x1ffff;

/** Cases of letters of ASCII that aren't in ASCII. */
const FURTHER: Readonly<Record<string, string>> = { s: "\u017f", k: "\u212a" };

/** Letters that another one is a case of, by whether the flag `u` is set; made when the first is needed. */
const cased = new Map<boolean, readonly string[]>();

/**
 * Returns JavaScript source that matches what `source` matches where case is ignored: one character, an escape or a class.
 * `unicode`: for expressions with the flag `u`, by which the long s and the sign of kelvin are cases of s and k. What matches
 * something else, such as an assertion, is returned as it is.
 */
export function foldCase(source: string, unicode: boolean): string {
  if (/^[a-zA-Z]$/.test(source)) return asciiCases(source.toLowerCase(), unicode);
  if (/^(?:[^\\[\x80-\uffff]|\\[^a-zA-Z])$/.test(source)) return source;
  const flags = unicode ? "su" : "s";
  const exact = new RegExp(`^(?:${source})$`, flags);
  const folded = new RegExp(exact, `${flags}i`);
  let added = "";
  let removed = "";
  for (const letter of casedLetters(unicode)) {
    const isMember = exact.test(letter);
    if (folded.test(letter) === isMember) continue;
    if (isMember) removed += letter;
    else added += letter;
  }
  return added + removed === "" ? source : changed(source, added, removed);
}

function asciiCases(letter: string, unicode: boolean): string {
  const further = unicode ? (FURTHER[letter] ?? "") : "";
  return `[${letter}${letter.toUpperCase()}${further}]`;
}

/** `removed`: letters that a negated set has alone, such as the long s in \W. */
function changed(source: string, added: string, removed: string): string {
  const body = source.startsWith("[") ? source.slice(0, -1) : `[${source}`;
  if (!body.startsWith("[^")) {
    const folded = `${body}${added}]`;
    return removed === "" ? folded : `(?:(?![${removed}])${folded})`;
  }
  const folded = `${body}${removed}]`;
  return added === "" ? folded : `(?:${folded}|[${added}])`;
}

function casedLetters(unicode: boolean): readonly string[] {
  const known = cased.get(unicode);
  if (known !== undefined) return known;
  const found: string[] = [];
  for (let code = 0; code <= (unicode ? LAST_CASED : 0xffff); code++) {
    const letter = String.fromCodePoint(code);
    if (letter.toLowerCase() !== letter || letter.toUpperCase() !== letter) found.push(letter);
  }
  cased.set(unicode, found);
  return found;
}
