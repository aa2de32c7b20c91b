/**
 * Types of whole numbers that are known before a script runs. Values don't tell an int from a long; where both operands
 * are ints, the result must wrap around at 32 bits.
 */

import type { Expression } from "./syntax.ts";
import { simpleName } from "./type-parser.ts";

export type WholeType = "int" | "long";

/** Returns the declared type of a variable; undefined where the name isn't known. */
type FindType = (name: string) => string | undefined;

/** The boxed types calculate as their numbers. */
const INTS: ReadonlySet<string> = new Set("byte short char int Byte Short Character Integer".split(" "));
const LONGS: ReadonlySet<string> = new Set(["long", "Long"]);

function declared(type: string | undefined): WholeType | undefined {
  if (type === undefined) return undefined;
  const name = simpleName(type);
  if (LONGS.has(name)) return "long";
  return INTS.has(name) ? "int" : undefined;
}

/** What was found of operations: each is asked for again by those around it. */
const types = new WeakMap<Expression, WholeType | "other">();
const constants = new WeakMap<Expression, number | "other">();

/**
 * Returns the type of an expression's whole number; undefined where it may have another type. `find`: the variables in
 * scope of the expression.
 */
export function wholeType(expression: Expression, find: FindType): WholeType | undefined {
  let type = types.get(expression);
  if (type === undefined) types.set(expression, (type = typeOf(expression, find) ?? "other"));
  return type === "other" ? undefined : type;
}

function typeOf(expression: Expression, find: FindType): WholeType | undefined {
  switch (expression.kind) {
    case "constant":
      if (typeof expression.value === "bigint") return "long";
      if (typeof expression.value !== "number") return undefined;
      return expression.isLong === true ? "long" : "int";
    case "variable":
      return declared(find(expression.name));
    case "cast":
      return expression.type.dimensions > 0 ? undefined : declared(expression.type.name);
    case "unary":
      return expression.operator === "!" ? undefined : wholeType(expression.operand, find);
    case "binary":
      return ofOperation(expression, find);
    case "assignment":
    case "step":
      return wholeType(expression.target, find);
    case "condition":
      return joined(wholeType(expression.yes, find), wholeType(expression.no, find));
    case "static-field":
      if (!expression.name.endsWith("_VALUE")) return undefined;
      return { Integer: "int", Long: "long" }[expression.type] as WholeType | undefined;
    case "static-method":
      return expression.name === "parseInt" ? "int" : expression.name === "parseLong" ? "long" : undefined;
    default:
      return undefined;
  }
}

function ofOperation(
  { operator, left, right }: Extract<Expression, { kind: "binary" }>,
  find: FindType,
): WholeType | undefined {
  switch (operator) {
    case "<<":
    case ">>":
    case ">>>":
      return wholeType(left, find);
    case "+":
    case "-":
    case "*":
    case "/":
    case "%":
    case "&":
    case "|":
    case "^":
      return joined(wholeType(left, find), wholeType(right, find));
    default:
      return undefined;
  }
}

function joined(a: WholeType | undefined, b: WholeType | undefined): WholeType | undefined {
  if (a === undefined || b === undefined) return undefined;
  return a === "long" || b === "long" ? "long" : "int";
}

/** Returns the value of sums, differences and products of int constants; undefined for all else. */
export function constantInt(expression: Expression): number | undefined {
  let value = constants.get(expression);
  if (value === undefined) constants.set(expression, (value = constantOf(expression) ?? "other"));
  return value === "other" ? undefined : value;
}

function constantOf(expression: Expression): number | undefined {
  if (expression.kind === "constant")
    return typeof expression.value === "number" && expression.isLong !== true
      ? expression.value | 0
      : undefined;
  if (expression.kind === "unary" && expression.operator === "-") {
    const value = constantInt(expression.operand);
    return value === undefined ? undefined : -value | 0;
  }
  if (expression.kind !== "binary") return undefined;
  const [a, b] = [constantInt(expression.left), constantInt(expression.right)];
  if (a === undefined || b === undefined) return undefined;
  switch (expression.operator) {
    case "+":
      return (a + b) | 0;
    case "-":
      return (a - b) | 0;
    case "*":
      return Math.imul(a, b);
    default:
      return undefined;
  }
}
