/**
 * Finds loops and what ends them. A loop of the search interface either lets other work run and ends with its client, or
 * stands in a file whose loops are bounded, with the reason. Works on the text as biome formats it: a statement's body is
 * what is indented deeper.
 */

import { posix } from "node:path";

/** A loop of a file that has no check. */
export interface UncheckedLoop {
  readonly path: string;
  /** From 1. */
  readonly line: number;
  readonly text: string;
}

/** Begins a loop; comments and texts don't begin lines like that. */
const LOOP = /^(\s*)(?:for (?:await )?\(|while \(|do \{|(?:\w+: )?for \()/;
/**
 * What lets a loop end, or other work run: a wait, a step of a generator, a look at the signal or the time, a charge to a
 * budget that throws.
 */
const CHECK =
  /\bawait\b|\byield\b|\.isDue\b|\.aborted\b|throwIfAborted|\.timedOut\b|\.(?:spend|charge\w*|step)\(|[Bb]udget|isSpent\(/;

/** Returns the loops of a file without a check. */
export function uncheckedLoops(path: string, text: string): UncheckedLoop[] {
  const lines = text.split("\n");
  const found: UncheckedLoop[] = [];
  for (const [at, line] of lines.entries()) {
    const indent = LOOP.exec(line)?.[1];
    if (indent === undefined || CHECK.test(bodyOf(lines, at, indent.length))) continue;
    found.push({ path, line: at + 1, text: line.trim() });
  }
  return found;
}

/** The statement that begins in a line. */
function bodyOf(lines: readonly string[], start: number, indent: number): string {
  let end = start + 1;
  while (end < lines.length && (lines[end] === "" || indentOf(lines[end]!) > indent)) end++;
  const isClosed = lines[end]?.startsWith(`${" ".repeat(indent)}}`) === true;
  return lines.slice(start, isClosed ? end + 1 : end).join("\n");
}

function indentOf(line: string): number {
  return line.length - line.trimStart().length;
}

/** Returns the reason that bounds the loops of a file: of the longest path that it is below. */
export function reasonFor(path: string, reasons: ReadonlyMap<string, string>): string | undefined {
  for (let at = path; at !== "."; at = posix.dirname(at)) if (reasons.has(at)) return at;
  return undefined;
}
