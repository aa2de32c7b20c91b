/**
 * Finds the decimals without a fraction in a text of JSON, such as 30.0 or 3e1, by a walk over what is between its strings.
 * To parse a text with the sources of its numbers takes four times as long as to parse it.
 */

/** A decimal without a fraction, with the names that lead to it from the outermost object. */
export interface WholeDecimal {
  readonly path: readonly string[];
  readonly value: number;
}

const QUOTE = '"'.charCodeAt(0);
const BACKSLASH = "\\".charCodeAt(0);
const COLON = ":".charCodeAt(0);
const COMMA = ",".charCodeAt(0);
const OBJECT = "{".charCodeAt(0);
const OBJECT_END = "}".charCodeAt(0);
const LIST = "[".charCodeAt(0);
const LIST_END = "]".charCodeAt(0);
const MINUS = "-".charCodeAt(0);
const ZERO = "0".charCodeAt(0);
const NINE = "9".charCodeAt(0);

/** A number, of which the first group is its fraction or exponent. */
const NUMBER = /-?[0-9]+((?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?)/y;

/**
 * Returns the decimals of a text that is JSON. Undefined where one is an item of a list, or names that lead to it have
 * escapes or occur again.
 */
export function wholeDecimals(text: string): WholeDecimal[] | undefined {
  const found: WholeDecimal[] = [];
  const path: string[] = [];
  let lists = 0;
  // The last text, and the name of the last member.
  let [from, to, nameFrom, nameTo] = [0, 0, 0, 0];
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      from = at + 1;
      at = to = endOfText(text, from);
    } else if (code === COLON) [nameFrom, nameTo] = [from, to];
    else if (code === COMMA) continue;
    else if (code === OBJECT) path.push(text.slice(nameFrom, nameTo));
    else if (code === OBJECT_END) path.pop();
    else if (code === LIST) lists++;
    else if (code === LIST_END) lists--;
    else if (code === MINUS || (code >= ZERO && code <= NINE)) {
      NUMBER.lastIndex = at;
      const [number, mark] = NUMBER.exec(text)!;
      at += number.length - 1;
      if (mark === "" || !Number.isInteger(Number(number))) continue;
      const name = text.slice(nameFrom, nameTo);
      const names = [...path.slice(1), name];
      if (lists > 0 || isRepeated(text, name) || names.some(isUnsafe)) return undefined;
      found.push({ path: names, value: Number(number) });
    }
  }
  return found;
}

function isRepeated(text: string, name: string): boolean {
  const quoted = `"${name}"`;
  return text.includes(quoted, text.indexOf(quoted) + quoted.length);
}

function isUnsafe(name: string): boolean {
  return name === "__proto__" || name.includes("\\");
}

/** Returns the index of the quote that ends a text of JSON, which begins at `from`. */
function endOfText(text: string, from: number): number {
  for (let end = text.indexOf('"', from); ; end = text.indexOf('"', end + 1)) {
    let escapes = end;
    while (text.charCodeAt(escapes - 1) === BACKSLASH) escapes--;
    if ((end - escapes) % 2 === 0) return end;
  }
}
