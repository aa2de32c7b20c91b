/** Filters by labels: texts, numbers, durations and sizes. */

import { type Entry, labelOf, type Work } from "./entry.ts";
import { chargeWork, finds, wholeExpression } from "./expressions.ts";
import { byteCount, durationMs } from "./lexer.ts";
import type { LabelFilter, Matcher } from "./syntax.ts";

/** Compiles the comparison of a label's text. */
function compileMatcher({ label, operator, value }: Matcher): Work {
  if (operator === "=") return (entry) => labelOf(entry, label) === value;
  if (operator === "!=") return (entry) => labelOf(entry, label) !== value;
  const expression = wholeExpression(value);
  return (entry) => {
    const text = labelOf(entry, label);
    chargeWork(entry, expression, text);
    return finds(expression, text) === (operator === "=~");
  };
}

/** Compiles a filter. Throws request_invalid. */
export function compileFilter(filter: LabelFilter): Work {
  switch (filter.kind) {
    case "and":
    case "or": {
      const [left, right] = [compileFilter(filter.left), compileFilter(filter.right)];
      return filter.kind === "and"
        ? (entry) => left(entry) && right(entry)
        : (entry) => left(entry) || right(entry);
    }
    case "text":
      return compileMatcher(filter);
    case "number":
      return (entry) => comparesNumber(entry, filter);
  }
}

function comparesNumber(
  entry: Entry,
  { label, operator, value, unit }: Extract<LabelFilter, { kind: "number" }>,
): boolean {
  const text = labelOf(entry, label);
  const number = numberIn(text, unit);
  if (Number.isNaN(number)) {
    // As the real server does: the line stays and says what failed.
    if (text !== "") entry.labels.set("__error__", "LabelFilterErr");
    return text !== "";
  }
  switch (operator) {
    case "==":
      return number === value;
    case "!=":
      return number !== value;
    case ">":
      return number > value;
    case ">=":
      return number >= value;
    case "<":
      return number < value;
    case "<=":
      return number <= value;
  }
}

/** Returns the number in a text: durations in seconds, sizes in bytes; NaN where there is none. */
export function numberIn(text: string, unit: "number" | "duration" | "bytes"): number {
  if (text === "") return Number.NaN;
  if (unit === "duration") return durationMs(text) / 1000;
  return unit === "bytes" ? byteCount(text) : Number(text);
}
