/** Regular expressions of queries: those of RE2, which run in time linear in the text. */

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

/** Whether an expression finds something in a text. */
export function finds(expression: RegExp, text: string): boolean {
  expression.lastIndex = 0;
  return expression.test(text);
}
