/** Conditions compiled to functions, once. */

import { expandVariables, type Report, type Variables } from "#hub/pipeline/language/plugin-options.ts";
import type { CompareOperator, ConditionNode, OperandNode } from "#hub/pipeline/language/syntax-tree.ts";
import type { RegexpGuard } from "#hub/pipeline/regexp/regexp-guard.ts";
import { type RubyRegexp, translateRubyRegexp } from "#hub/pipeline/regexp/ruby-regexp.ts";
import { isRawJson, numberOf } from "#proto/codec/json.ts";
import { type Event, isHash, Timestamp, valueText } from "#proto/event.ts";
import { type FieldReference, fieldReference } from "#proto/field-reference.ts";

export type Condition = (event: Event) => boolean;

/** Two values can't be ordered; the event goes to the dead letters. */
export class ConditionFault extends Error {}

type Operand = (event: Event) => unknown;

/** What conditions are compiled with. */
export interface ConditionGround {
  readonly variables: Variables;
  readonly guard: RegexpGuard;
}

/** An expression that takes longer sends its event to the dead letters. */
const MATCH_LIMIT_MS = 1_000;

/** Returns the function of a condition; faults of its parts are reported. */
export function compileCondition(node: ConditionNode, ground: ConditionGround, report: Report): Condition {
  const operand = (each: OperandNode): Operand => compileOperand(each, ground.variables, report);
  switch (node.kind) {
    case "logic": {
      const left = compileCondition(node.left, ground, report);
      const right = compileCondition(node.right, ground, report);
      if (node.operator === "and") return (event) => left(event) && right(event);
      if (node.operator === "or") return (event) => left(event) || right(event);
      if (node.operator === "xor") return (event) => left(event) !== right(event);
      return (event) => !(left(event) && right(event));
    }
    case "not": {
      const inner = compileCondition(node.operand, ground, report);
      return (event) => !inner(event);
    }
    case "compare":
      return compare(node.operator, operand(node.left), operand(node.right));
    case "match":
      return match(operand(node.left), node, ground, report);
    case "in": {
      const contains = compileIn(node.needle, node.hay, operand);
      return node.negated ? (event) => !contains(event) : contains;
    }
    case "truth": {
      const value = operand(node.operand);
      return (event) => isTrue(value(event));
    }
  }
}

/** Missing, null, "", false and the text "false" are false; everything else is true. */
function isTrue(value: unknown): boolean {
  return value !== undefined && value !== null && value !== false && value !== "" && value !== "false";
}

function compileOperand(node: OperandNode, variables: Variables, report: Report): Operand {
  switch (node.kind) {
    case "string": {
      const value = expandVariables(node.value, node.range, variables, report);
      return () => value;
    }
    case "number":
    case "regexp": {
      const { value } = node;
      return () => value;
    }
    case "selector": {
      const reference = selectorReference(node, report);
      return reference === undefined ? () => undefined : (event) => event.get(reference);
    }
    case "array": {
      const items = node.items.map((item) => compileOperand(item, variables, report));
      return (event) => items.map((item) => item(event));
    }
  }
}

function selectorReference(
  node: OperandNode & { kind: "selector" },
  report: Report,
): FieldReference | undefined {
  try {
    return fieldReference(node.value);
  } catch {
    report("error", node.range, `${node.value} is not a field reference`, "write [name] or [outer][inner]");
    return undefined;
  }
}

function compare(operator: CompareOperator, left: Operand, right: Operand): Condition {
  switch (operator) {
    case "==":
      return (event) => equal(left(event), right(event));
    case "!=":
      return (event) => !equal(left(event), right(event));
    case "<":
      return (event) => order(left(event), right(event)) < 0;
    case ">":
      return (event) => order(left(event), right(event)) > 0;
    case "<=":
      return (event) => order(left(event), right(event)) <= 0;
    case ">=":
      return (event) => order(left(event), right(event)) >= 0;
  }
}

/** Equal by type and value. */
function equal(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (left === undefined || left === null) return right === undefined || right === null;
  if (left instanceof Timestamp || right instanceof Timestamp) return valueText(left) === valueText(right);
  if (isRawJson(left) || isRawJson(right)) return equalNumbers(left, right);
  if (Array.isArray(left) && Array.isArray(right)) {
    return left.length === right.length && left.every((item, index) => equal(item, right[index]));
  }
  return isHash(left) && isHash(right) && JSON.stringify(left) === JSON.stringify(right);
}

/** Integers beyond 2^53 are equal only with all their digits. */
function equalNumbers(left: unknown, right: unknown): boolean {
  const number = numberOf(left);
  if (number === undefined || number !== numberOf(right)) return false;
  return Number.isSafeInteger(number) || valueText(left) === valueText(right);
}

/** Orders two numbers or two texts. Throws ConditionFault for anything else. */
function order(left: unknown, right: unknown): number {
  const leftNumber = numberOf(left);
  const rightNumber = numberOf(right);
  if (leftNumber !== undefined && rightNumber !== undefined) return leftNumber - rightNumber;
  const [a, b] = [left, right].map((value) => (value instanceof Timestamp ? value.toString() : value));
  if (typeof a === "string" && typeof b === "string") return orderOfTexts(a, b);
  throw new ConditionFault(`a condition compares ${describe(left)} with ${describe(right)}`);
}

const SURROGATES_FROM = 0xd800;

/** Orders texts by their bytes in UTF-8, in which surrogates come after all other units. */
function orderOfTexts(one: string, other: string): number {
  if (one === other) return 0;
  let at = 0;
  while (at < one.length && one.charCodeAt(at) === other.charCodeAt(at)) at++;
  const [unit, otherUnit] = [one.charCodeAt(at), other.charCodeAt(at)];
  if (unit < SURROGATES_FROM || otherUnit < SURROGATES_FROM) return one < other ? -1 : 1;
  const [code, otherCode] = [one.codePointAt(at) ?? -1, other.codePointAt(at) ?? -1];
  return code - otherCode;
}

function describe(value: unknown): string {
  if (value === undefined || value === null) return "a missing field";
  if (Array.isArray(value)) return "a list";
  return `a ${isRawJson(value) ? "number" : typeof value} (${valueText(value).slice(0, 40)})`;
}

/** Only texts can match. */
function match(
  left: Operand,
  { pattern, negated }: Extract<ConditionNode, { kind: "match" }>,
  { guard, variables }: ConditionGround,
  report: Report,
): Condition {
  const expression = compileExpression(pattern, variables, report);
  if (expression === undefined) return () => false;
  return (event) => {
    const value = left(event);
    const isMatch =
      typeof value === "string" &&
      expression.mayMatch(value) &&
      guard.exec(expression.expression(value), value, MATCH_LIMIT_MS) !== null;
    return isMatch !== negated;
  };
}

/** Variables are replaced in quoted expressions only, as `${` between slashes is part of the expression. */
function compileExpression(node: OperandNode, variables: Variables, report: Report): RubyRegexp | undefined {
  const written = String("value" in node ? node.value : "");
  const source = node.kind === "string" ? expandVariables(written, node.range, variables, report) : written;
  try {
    return translateRubyRegexp(source);
  } catch (error) {
    report("error", node.range, `this is not a regular expression: ${(error as Error).message}`);
    return undefined;
  }
}

function compileIn(
  needle: OperandNode,
  hay: OperandNode,
  operand: (node: OperandNode) => Operand,
): Condition {
  const value = operand(needle);
  const container = operand(hay);
  const isConstantList = hay.kind === "array";
  return (event) => {
    const item = value(event);
    const where = container(event);
    if (item === undefined || item === null || where === undefined || where === null) return false;
    if (Array.isArray(item) || isHash(item)) return false;
    if (isConstantList)
      return (where as unknown[]).some((each) => valueText(each) === valueText(item) || equal(each, item));
    if (Array.isArray(where)) return where.some((each) => equal(each, item));
    return typeof where === "string" ? typeof item === "string" && where.includes(item) : equal(where, item);
  };
}
