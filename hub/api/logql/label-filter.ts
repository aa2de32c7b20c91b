/** Filters by labels: texts, numbers, durations and sizes. */

import { compileAddressFilter } from "./address-filter.ts";
import { type Entry, labelTexts, type Work } from "./entry.ts";
import { chargeWork, finds, wholeExpression } from "./expressions.ts";
import { byteCount, durationMs } from "./lexer.ts";
import type { LabelFilter, Matcher } from "./syntax.ts";

/** Compiles the comparison of a label's text. If one of several values fits, the label does, as in the index. */
function compileMatcher({ label, operator, value }: Matcher): Work {
  if (operator === "=") return (entry) => labelTexts(entry, label).includes(value);
  if (operator === "!=") return (entry) => !labelTexts(entry, label).includes(value);
  const expression = wholeExpression(value);
  return (entry) => {
    const isFound = labelTexts(entry, label).some((text) => {
      chargeWork(entry, expression, text);
      return finds(expression, text);
    });
    return isFound === (operator === "=~");
  };
}

/** A line whose labels couldn't be read is kept; one without the label isn't. */
function compileAddress({ label, isWanted, pattern }: Extract<LabelFilter, { kind: "address" }>): Work {
  const has = compileAddressFilter(pattern);
  return (entry) => {
    if (entry.labels.has("__error__")) return true;
    const texts = labelTexts(entry, label).filter((text) => text !== "");
    return texts.length > 0 && texts.some(has) === isWanted;
  };
}

type NumberFilter = Extract<LabelFilter, { kind: "number" }>;

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
    case "address":
      return compileAddress(filter);
    case "number":
      return (entry) => comparesNumber(entry, filter);
  }
}

function comparesNumber(entry: Entry, filter: NumberFilter): boolean {
  const texts = labelTexts(entry, filter.label);
  const numbers = texts.map((text) => numberIn(text, filter.unit)).filter((number) => !Number.isNaN(number));
  if (numbers.length > 0) return numbers.some((number) => compares(number, filter));
  // As in Loki: the line is kept, with a label that names the error.
  const isPresent = texts.some((text) => text !== "");
  if (isPresent) entry.labels.set("__error__", "LabelFilterErr");
  return isPresent;
}

function compares(number: number, { operator, value }: NumberFilter): boolean {
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

/** Returns the number in a text: durations in seconds, sizes in bytes; NaN if there is none. */
export function numberIn(text: string, unit: "number" | "duration" | "bytes"): number {
  if (text === "") return Number.NaN;
  if (unit === "duration") return durationMs(text) / 1000;
  return unit === "bytes" ? byteCount(text) : Number(text);
}
