/**
 * Regular expressions of settings. V8's engine backtracks, which can double the time with each letter, so it runs only
 * expressions that leave no choice to backtrack to. All others run without backtracking.
 */

import { PatternMachine, type Spans } from "./pattern-machine.ts";
import { isBacktrackingLinear, type PatternNode, parsePattern } from "./pattern-syntax.ts";

/** A match of a pattern. */
interface PatternMatch {
  readonly index: number;
  /** The whole. */
  readonly 0: string;
  /** Offsets of the whole and the groups. */
  readonly spans: Spans;
}

/** A compiled pattern. */
export interface Pattern {
  /** Why its time may grow faster than the text; undefined if it doesn't. Only settings from before may have it. */
  readonly fault?: string;
  /** Yields the matches from the start of a text to its end. */
  matches(text: string): Iterable<PatternMatch>;
}

/** Compiles a pattern with Java's flag names (CASE_INSENSITIVE|MULTILINE|DOTALL). Throws where its syntax is wrong. */
export function compilePattern(source: string, flags = ""): Pattern {
  let letters = "u";
  if (flags.includes("CASE_INSENSITIVE")) letters += "i";
  if (flags.includes("MULTILINE")) letters += "m";
  if (flags.includes("DOTALL")) letters += "s";
  const compiled = compiledBy(source, letters);
  const node = parsePattern(source);
  if (isBacktrackingLinear(node)) return { matches: (text) => matchesOf(compiled, text) };
  return withoutBacktracking(node, compiled);
}

function compiledBy(source: string, letters: string): RegExp {
  try {
    return new RegExp(source, `gd${letters}`);
  } catch {
    // Escapes of other characters than the syntax's own are only allowed without the u flag.
    return new RegExp(source, `gd${letters.replace("u", "")}`);
  }
}

function withoutBacktracking(node: PatternNode, compiled: RegExp): Pattern {
  try {
    const machine = new PatternMachine(node, compiled.flags.replace(/[gd]/g, ""));
    return { matches: (text) => matchesBy(machine, text) };
  } catch (error) {
    return { fault: (error as Error).message, matches: (text) => matchesOf(compiled, text) };
  }
}

function* matchesOf(pattern: RegExp, text: string): Generator<PatternMatch> {
  for (const match of text.matchAll(pattern))
    yield { index: match.index, 0: match[0], spans: match.indices ?? [] };
}

function* matchesBy(machine: PatternMachine, text: string): Generator<PatternMatch> {
  machine.reset();
  for (let from = 0; from <= text.length; ) {
    const spans = machine.search(text, from);
    if (spans === undefined) return;
    const [start, end] = spans[0]!;
    yield { index: start, 0: text.slice(start, end), spans };
    // An empty match must not be found again.
    from = end > start ? end : end + (text.codePointAt(end)! > 0xffff ? 2 : 1);
  }
}

/** Replaces the matches, or the first; $1 stands for a group, $0 and $& for all, $$ for a dollar. */
export function replacePattern(pattern: Pattern, text: string, replacement: string, isAll = true): string {
  let result = "";
  let done = 0;
  for (const match of pattern.matches(text)) {
    result += text.slice(done, match.index) + expanded(match, text, replacement);
    done = match.index + match[0].length;
    if (!isAll) break;
  }
  return result + text.slice(done);
}

/** Returns the replacement of a match. */
export function expanded({ spans }: PatternMatch, text: string, replacement: string): string {
  return replacement.replace(/\$([\d&$])/g, (_, name: string) =>
    name === "$" ? "$" : text.slice(...(spans[name === "&" ? 0 : Number(name)] ?? [0, 0])),
  );
}

/**
 * Compiles a pattern of the syntax that `simple_pattern` has: that of queries (`@`, `#`, `~`, `&` and `<1-9>` except
 * for their literals aren't offered). Throws RangeError.
 */
export function compileSimplePattern(source: string): Pattern {
  let pattern = "";
  for (const [part] of source.matchAll(/\\.|"[^"]*"|\[(?:\\.|[^\]])*\]|./gs)) {
    if (/^[@#~&<]$/.test(part))
      throw new RangeError(
        `[pattern] must not have the operator [${part}]; write \\${part} for the character`,
      );
    if (part.length > 1 && part.startsWith('"')) pattern += RegExp.escape(part.slice(1, -1));
    else if (part.length === 2 && part.startsWith("\\")) pattern += RegExp.escape(part[1]!);
    else pattern += part === "^" || part === "$" ? `\\${part}` : part;
  }
  if (pattern === "") return { matches: () => [] };
  return compilePattern(`(?:${pattern})`, "DOTALL");
}
