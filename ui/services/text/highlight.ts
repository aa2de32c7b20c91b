/** Finds the parts of a line that match a query, to mark them. */

export interface Part {
  readonly text: string;
  readonly isMatch: boolean;
}

/** More words would mark everything. */
const MAX_WORDS = 20;
const TOKEN = /(-|!|\bNOT\s+)?(?:([\w@.-]+):)?(?:"((?:[^"\\]|\\.)*)"|([^\s()"]+))/g;

/** Returns the words of a query that lines may hold: no operators, no excluded ones, no other fields' values. */
export function highlightWords(query: string): string[] {
  const words = new Set<string>();
  for (const [, not, field, phrase, word] of query.matchAll(TOKEN)) {
    if (not !== undefined || (field !== undefined && field !== "message")) continue;
    if (word === "AND" || word === "OR" || word === "NOT" || word === "TO") continue;
    const text = phrase?.replaceAll(/\\(.)/g, "$1") ?? word ?? "";
    for (const piece of phrase === undefined ? text.split(/[*?+&|![\]{}^~]+/) : [text])
      if (piece.length > 1) words.add(piece.toLowerCase());
  }
  return [...words].slice(0, MAX_WORDS);
}

/** Returns whether words differ: the same ones in another list aren't a reason to write every row again. */
export function hasOtherWords(words: readonly string[], before: readonly string[] | undefined): boolean {
  return words.length !== before?.length || words.some((word, at) => word !== before[at]);
}

/** Compiles words to one expression that finds any of them; undefined without words. */
export function compileHighlight(words: readonly string[]): RegExp | undefined {
  if (words.length === 0) return undefined;
  const longestFirst = words.toSorted((a, b) => b.length - a.length);
  return new RegExp(
    longestFirst.map((word) => word.replaceAll(/[.*+?^${}()|[\]\\/-]/g, "\\$&")).join("|"),
    "gi",
  );
}

/** Parts of a cell: the line's start, and the text before a match after that. */
const BEGIN_PART = 1 / 3;
const LEAD_PART = 1 / 6;
const LEFT_OUT = " … ";

/**
 * Returns the text as a cell of `letters` should show it: where the first hit would be cut off, its start and what is
 * around the hit. The first expression that hits counts.
 */
export function pieceAround(text: string, expressions: readonly RegExp[], letters: number): string {
  for (const expression of expressions) {
    const at = text.search(expression);
    if (at < 0) continue;
    const [hit = ""] = text.slice(at).match(new RegExp(expression.source, "i")) ?? [];
    if (at + hit.length < letters) return text;
    const begin = Math.floor(letters * BEGIN_PART);
    // No further than to where the text's end fills the cell.
    const latest = text.length - (letters - begin - LEFT_OUT.length);
    const from = Math.max(begin, Math.min(latest, at - Math.floor(letters * LEAD_PART)));
    return `${text.slice(0, begin)}${LEFT_OUT}${text.slice(from)}`;
  }
  return text;
}

/** Cuts a text into parts; one part where nothing matches. */
export function splitMatches(text: string, expression: RegExp | undefined): Part[] {
  if (expression === undefined) return [{ text, isMatch: false }];
  const parts: Part[] = [];
  let at = 0;
  for (const match of text.matchAll(expression)) {
    if (match.index > at) parts.push({ text: text.slice(at, match.index), isMatch: false });
    parts.push({ text: match[0], isMatch: true });
    at = match.index + match[0].length;
  }
  if (at < text.length || parts.length === 0) parts.push({ text: text.slice(at), isMatch: false });
  return parts;
}

const WORD = /[\p{L}\p{N}_]/u;

/** Returns a part of a text with the words it cuts whole, as searches find words; "" if it isn't of that text. */
export function wholeWords(text: string, part: string): string {
  const at = part === "" ? -1 : text.indexOf(part);
  if (at < 0) return "";
  let [from, to] = [at, at + part.length];
  while (from > 0 && WORD.test(text[from]!) && WORD.test(text[from - 1]!)) from--;
  while (to < text.length && WORD.test(text[to - 1]!) && WORD.test(text[to]!)) to++;
  return text.slice(from, to);
}
