/** Patterns with `*` and `?` over whole terms; a backslash makes the next character plain. */

import { caselessStart, foldCase } from "./ascii-case.ts";

/** A pattern ready to be matched. */
export interface WildcardPattern {
  /** Characters before the first `*` or `?`. */
  readonly prefix: string;
  /** True if there is no `*` or `?`: only `prefix` itself matches. */
  readonly literal: boolean;
  /** Longest run of plain characters: every text that matches holds it. */
  readonly longest: string;
  matches(text: string): boolean;
}

/** `*` and `?` of a pattern as numbers no code point has. */
const MANY = -1;
const ONE = -2;

/** Compiles a pattern that texts in any case match. */
export function compileCaselessWildcard(pattern: string): WildcardPattern {
  const folded = compileWildcard(foldCase(pattern));
  return {
    prefix: caselessStart(folded.prefix),
    literal: false,
    longest: "",
    matches: (text) => folded.matches(foldCase(text)),
  };
}

/** Compiles a pattern; matching takes at most pattern × text steps. */
export function compileWildcard(pattern: string): WildcardPattern {
  const parts: number[] = [];
  const characters = Array.from(pattern);
  for (let at = 0; at < characters.length; at++) {
    const character = characters[at]!;
    if (character === "\\" && at + 1 < characters.length) parts.push(characters[++at]!.codePointAt(0)!);
    else if (character === "*") parts.push(MANY);
    else if (character === "?") parts.push(ONE);
    else parts.push(character.codePointAt(0)!);
  }
  const special = parts.findIndex((part) => part < 0);
  const plain = special < 0 ? parts : parts.slice(0, special);
  return {
    prefix: plain.map((part) => String.fromCodePoint(part)).join(""),
    literal: special < 0,
    longest: longestRun(parts),
    matches: (text) => matches(parts, text),
  };
}

function longestRun(parts: readonly number[]): string {
  let longest = "";
  let run = "";
  for (const part of parts) {
    run = part < 0 ? "" : run + String.fromCodePoint(part);
    if (run.length > longest.length) longest = run;
  }
  return longest;
}

function matches(parts: readonly number[], text: string): boolean {
  const points = Array.from(text, (character) => character.codePointAt(0)!);
  let part = 0;
  let at = 0;
  let star = -1;
  let starAt = 0;
  while (at < points.length) {
    const wanted = parts[part];
    if (wanted === ONE || (wanted !== undefined && wanted === points[at])) {
      part++;
      at++;
    } else if (wanted === MANY) {
      star = part++;
      starAt = at;
    } else if (star >= 0) {
      part = star + 1;
      at = ++starAt;
    } else {
      return false;
    }
  }
  while (parts[part] === MANY) part++;
  return part === parts.length;
}
