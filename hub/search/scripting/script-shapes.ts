/** Forms of expressions in scripts over columns: fields, parameters, functions of numbers. */

import { EXPRESSION_CLASS } from "#hub/scripts/library/expression-functions.ts";
import type { Expression } from "#hub/scripts/painless/syntax.ts";
import { Decimal } from "#hub/scripts/values/values.ts";

/** What an expression reads or calls. */
type Call =
  | { readonly of: "param"; readonly path: readonly string[] }
  | { readonly of: "constant"; readonly value: unknown }
  /** `doc.containsKey('f')` */
  | { readonly of: "exists"; readonly field: string }
  /** `doc['f'].value` */
  | { readonly of: "value"; readonly field: string }
  /** The first value of a field as a number, in an expression. */
  | { readonly of: "number"; readonly field: string }
  /** `doc['f'].value.millis` */
  | { readonly of: "millis"; readonly field: string }
  /** `doc['f'].size()`, or `doc['f'].empty` */
  | { readonly of: "size"; readonly field: string; readonly asEmpty: boolean }
  | { readonly of: "math"; readonly name: string; readonly arguments: readonly Expression[] };

/** Functions of `Math` that give a number with a fraction. They are those that scripts call. */
export const REAL_FUNCTIONS: ReadonlyMap<string, (value: number) => number> = new Map(
  (
    "acos asin atan cbrt ceil cos cosh exp expm1 floor log log10 log1p sin sinh sqrt tan tanh".split(" ") as (
      | "acos"
      | "floor"
    )[]
  ).map((name) => [name as string, Math[name]]),
);

/** Of two numbers. */
export const PAIR_FUNCTIONS: ReadonlyMap<string, (a: number, b: number) => number> = new Map([
  ["max", Math.max],
  ["min", Math.min],
  ["pow", (a: number, b: number) => a ** b],
  ["atan2", Math.atan2],
  ["hypot", (a: number, b: number) => Math.hypot(a, b)],
]);

/** Returns what an expression reads or calls; undefined if it is of another shape. */
export function callOf(expression: Expression): Call | undefined {
  const path = paramPath(expression);
  if (path !== undefined) return { of: "param", path };
  switch (expression.kind) {
    case "static-field":
      if (expression.type !== "Math") return undefined;
      if (expression.name === "PI") return { of: "constant", value: new Decimal(Math.PI) };
      return expression.name === "E" ? { of: "constant", value: new Decimal(Math.E) } : undefined;
    case "static-method":
      if (expression.type === EXPRESSION_CLASS) return expressionCall(expression);
      if (expression.type !== "Math") return undefined;
      return { of: "math", name: expression.name, arguments: expression.arguments };
    case "member":
      return expression.isSafe ? undefined : read(expression.object, expression.name);
    case "method": {
      if (expression.isSafe) return undefined;
      const [argument] = expression.arguments;
      if (argument === undefined) return read(expression.object, `${expression.name}()`);
      const isLookup = isVariable(expression.object, "doc") && expression.name === "containsKey";
      const field = textOf(argument);
      return isLookup && field !== undefined && expression.arguments.length === 1
        ? { of: "exists", field }
        : undefined;
    }
    default:
      return undefined;
  }
}

/** What a function of an expression reads. */
function expressionCall({
  name,
  arguments: [argument],
}: Extract<Expression, { kind: "static-method" }>): Call | undefined {
  const field = argument === undefined ? undefined : fieldOf(argument);
  if (field === undefined || (name !== "value" && name !== "min")) return undefined;
  return { of: "number", field };
}

/** Returns the text of a literal or of a parameter, which `param` reads; undefined for all else. */
export function literalText(
  expression: Expression,
  param: (path: readonly string[]) => unknown,
): string | undefined {
  const path = paramPath(expression);
  const value = path === undefined ? textOf(expression) : param(path);
  return typeof value === "string" ? value : undefined;
}

function read(object: Expression, name: string): Call | undefined {
  const field = fieldOf(object);
  if (field !== undefined) {
    if (name === "value" || name === "getValue()") return { of: "value", field };
    if (name === "size()" || name === "length") return { of: "size", field, asEmpty: false };
    if (name === "empty" || name === "isEmpty()") return { of: "size", field, asEmpty: true };
    return undefined;
  }
  if (name !== "millis" && name !== "getMillis()") return undefined;
  const inner = callOf(object);
  return inner?.of === "value" ? { of: "millis", field: inner.field } : undefined;
}

/** The field of `doc['f']` or `doc.f`. */
function fieldOf(expression: Expression): string | undefined {
  if (expression.kind === "brace" && isVariable(expression.object, "doc")) return textOf(expression.index);
  if (expression.kind === "member" && !expression.isSafe && isVariable(expression.object, "doc"))
    return expression.name;
  return undefined;
}

/** Names of `params.a.b` and `params['a']`. */
function paramPath(expression: Expression): string[] | undefined {
  if (expression.kind !== "member" && expression.kind !== "brace") return undefined;
  const name = expression.kind === "member" ? expression.name : textOf(expression.index);
  if (name === undefined) return undefined;
  if (isVariable(expression.object, "params")) return [name];
  const outer = paramPath(expression.object);
  return outer === undefined ? undefined : [...outer, name];
}

function isVariable(expression: Expression, name: string): boolean {
  return expression.kind === "variable" && expression.name === name;
}

function textOf(expression: Expression): string | undefined {
  return expression.kind === "constant" && typeof expression.value === "string"
    ? expression.value
    : undefined;
}
