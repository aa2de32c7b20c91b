/** Regular expressions of queries, in RE2 syntax: they run in time linear in the text. */

import { Pattern } from "#hub/scripts/library/patterns.ts";
import { AppError } from "#proto/kit/errors.ts";

/** Returns an expression that finds parts of a text. Throws request_invalid. */
export function partExpression(source: string): RegExp {
  return compiled(source).part;
}

/** Returns an expression that matches whole texts. Throws request_invalid. */
export function wholeExpression(source: string): RegExp {
  return compiled(source).whole;
}

function compiled(source: string): Pattern {
  const [, flags = "", rest = source] = /^\(\?([is]+)\)(.*)$/s.exec(source) ?? [];
  try {
    return new Pattern(rest.replaceAll("(?P<", "(?<"), flags);
  } catch (error) {
    throw new AppError("request_invalid", `error parsing regexp: ${(error as Error).message}`, {
      cause: error,
    });
  }
}

/**
 * Maximum work of one stage on one line, characters × weight: a few tenths of a second at worst, in which nothing else
 * runs.
 */
const MAX_WORK = 20_000_000;
/** Engine states that a character class takes. */
const CLASS_WEIGHT = 10;

const weights = new WeakMap<RegExp, number>();

/**
 * Charges the matching of a text in a stage to its line. Throws request_invalid if the line is too long for the
 * expressions.
 */
export function chargeWork(entry: { work: number }, expression: RegExp, text: string): void {
  let weight = weights.get(expression);
  if (weight === undefined) weights.set(expression, (weight = weightOf(expression.source)));
  charge(entry, weight * text.length, text.length);
}

/** Charges a pass over `length` characters in a stage to its line. Throws request_invalid as `chargeWork`. */
export function chargePass(entry: { work: number }, length: number): void {
  charge(entry, length, length);
}

function charge(entry: { work: number }, work: number, length: number): void {
  entry.work += work;
  if (entry.work > MAX_WORK)
    throw new AppError(
      "request_invalid",
      `a line of ${length} characters is too long for the expressions of a stage: shorten them, or leave the line out`,
    );
}

/** Estimates the engine's number of states for an expression; the engine refuses more than 16 copies of a part. */
function weightOf(source: string): number {
  const classes = source.match(/\\[sSwWdD]/g)?.length ?? 0;
  const counts = [...source.matchAll(/\{(\d+)(?:,(\d*))?\}/g)].map(([, least, most]) =>
    Number(most || least),
  );
  return (source.length + classes * CLASS_WEIGHT) * Math.max(1, ...counts);
}

/** Returns true if an expression matches somewhere in a text. */
export function finds(expression: RegExp, text: string): boolean {
  expression.lastIndex = 0;
  return expression.test(text);
}
