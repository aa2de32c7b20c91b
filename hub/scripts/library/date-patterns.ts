/** Compiled patterns of dates. */

import { ScriptException } from "#hub/scripts/values/script-error.ts";
import { JODA } from "#proto/kit/dates/date-pattern.ts";
import { compilePrinter } from "#proto/kit/dates/date-printer.ts";

/** Compiled patterns; a script has few. */
const printers = new Map<string, (timeMs: number) => string>();
const MAX_PRINTERS = 100;
/** Longest pattern, characters. */
const MAX_PATTERN = 200;
/** Longest text of a date with its zone, characters. */
export const MAX_DATE = 100;

/** Returns the printer of a pattern of Joda's letters. Throws IllegalArgumentException. */
export function printerOf(pattern: string): (timeMs: number) => string {
  const known = printers.get(pattern);
  if (known !== undefined) return known;
  if (pattern.length > MAX_PATTERN)
    throw new ScriptException(
      "IllegalArgumentException",
      `a date's pattern has at most ${MAX_PATTERN} characters`,
    );
  if (printers.size >= MAX_PRINTERS) printers.clear();
  const printer = compilePrinter(pattern, JODA);
  printers.set(pattern, printer);
  return printer;
}
