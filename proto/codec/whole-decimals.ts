/**
 * Finds the decimals without a fraction in a text of JSON, such as 30.0 or 3e1, by a walk over what is between its strings.
 * To parse a text with the sources of its numbers takes four times as long as to parse it.
 */

/** A decimal without a fraction, with the names and indices that lead to it from the outermost value. */
export interface WholeDecimal {
  readonly path: readonly (string | number)[];
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

/** Decimals of a text; for each its name is looked for in all of the text. */
const MAX_FOUND = 32;

/** Stands for the index of an object's member. */
const NO_INDEX = -1;

/**
 * Returns the decimals of a text that is JSON. Undefined where there are more than 32, or names that lead to one have escapes
 * or occur again where there is none.
 */
export function wholeDecimals(text: string): WholeDecimal[] | undefined {
  const found: WholeDecimal[] = [];
  const path: (string | number)[] = [];
  /** Of each open object and list. */
  const indices: number[] = [];
  // The last text, and the name of the last member.
  let [from, to, nameFrom, nameTo] = [0, 0, 0, 0];
  let index = NO_INDEX;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      from = at + 1;
      at = to = endOfText(text, from);
    } else if (code === COLON) [nameFrom, nameTo] = [from, to];
    else if (code === COMMA) {
      if (index !== NO_INDEX) index++;
    } else if (code === OBJECT || code === LIST) {
      path.push(index === NO_INDEX ? text.slice(nameFrom, nameTo) : index);
      indices.push(index);
      index = code === LIST ? 0 : NO_INDEX;
    } else if (code === OBJECT_END || code === LIST_END) {
      path.pop();
      index = indices.pop()!;
    } else if (code === MINUS || (code >= ZERO && code <= NINE)) {
      NUMBER.lastIndex = at;
      const [number, mark] = NUMBER.exec(text)!;
      at += number.length - 1;
      if (mark === "" || !Number.isInteger(Number(number))) continue;
      const names = [...path.slice(1), index === NO_INDEX ? text.slice(nameFrom, nameTo) : index];
      if (found.length === MAX_FOUND || names.some(isUnsafe)) return undefined;
      found.push({ path: names, value: Number(number) });
    }
  }
  return found.some(({ path: names }) => isRepeated(text, names, found)) ? undefined : found;
}

/**
 * Returns whether more members than the decimals have the name that leads to a decimal: one of the same object may be
 * the last of that name, whose value counts.
 */
function isRepeated(text: string, path: WholeDecimal["path"], found: readonly WholeDecimal[]): boolean {
  const name = path.findLast((each) => typeof each === "string");
  if (name === undefined) return false;
  const isMember = path.at(-1) === name;
  const allowed = isMember ? found.filter(({ path: other }) => other.at(-1) === name).length : 1;
  const quoted = `"${name}"`;
  let count = 0;
  for (let at = text.indexOf(quoted); at >= 0; at = text.indexOf(quoted, at + quoted.length))
    if (++count > allowed) return true;
  return false;
}

function isUnsafe(name: string | number): boolean {
  return typeof name === "string" && (name === "__proto__" || name.includes("\\"));
}

/** Returns the index of the quote that ends a text of JSON, which begins at `from`. */
function endOfText(text: string, from: number): number {
  for (let end = text.indexOf('"', from); ; end = text.indexOf('"', end + 1)) {
    let escapes = end;
    while (text.charCodeAt(escapes - 1) === BACKSLASH) escapes--;
    if ((end - escapes) % 2 === 0) return end;
  }
}
