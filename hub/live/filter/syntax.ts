/** The syntax tree of a live filter. */

import { AppError } from "#proto/kit/errors.ts";

/** A pattern cut at its stars: ["a", "b"] is `a*b`, ["", "a"] is `*a`. Lower case; `?` is any one character. */
export type Pattern = readonly string[];

export type FilterNode =
  | { readonly type: "all" }
  | { readonly type: "and" | "or"; readonly children: readonly FilterNode[] }
  | { readonly type: "not"; readonly child: FilterNode }
  /** Text anywhere in the message. */
  | { readonly type: "text"; readonly pattern: Pattern }
  /** A field's value, or a run of words in it. */
  | { readonly type: "term"; readonly field: string; readonly pattern: Pattern }
  | { readonly type: "exists"; readonly field: string }
  | {
      readonly type: "range";
      readonly field: string;
      readonly low: Bound | undefined;
      readonly high: Bound | undefined;
    };

export interface Bound {
  /** Lower case. Compared as a number where both sides are numbers, else by code units. */
  readonly value: string;
  readonly inclusive: boolean;
}

/** Returns the error of a filter: `from` and `to` are the characters at fault. */
export function filterError(message: string, from: number, to: number, hint: string): AppError {
  return new AppError("parsing", `${message} at character ${from + 1} of the filter`, {
    data: { at: [from, to], hint },
  });
}
