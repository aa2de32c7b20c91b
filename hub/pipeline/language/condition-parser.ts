/** Reads the conditions of a pipeline: `[a] == "x" and ("y" in [tags] or [n] > 5)`. */

import type { Scanner } from "./scanner.ts";
import type { CompareOperator, ConditionNode, LogicOperator, OperandNode } from "./syntax-tree.ts";

const LOGIC: readonly LogicOperator[] = ["and", "or", "xor", "nand"];

/** Longer ones first, as `<` begins `<=`. */
const COMPARES: readonly CompareOperator[] = ["==", "!=", "<=", ">=", "<", ">"];

/** Parentheses within parentheses. */
const MAX_DEPTH = 100;

/**
 * Reads a condition. `and` binds tighter than `or`; `xor` and `nand` must be kept apart from other operators by
 * parentheses. Throws SyntaxFault.
 */
export function parseCondition(scan: Scanner, depth = 0): ConditionNode {
  if (depth > MAX_DEPTH) throw scan.fault(`more than ${MAX_DEPTH} nested parentheses`);
  const operands = [parseExpression(scan, depth)];
  const operators: LogicOperator[] = [];
  for (;;) {
    const back = scan.at;
    scan.blanks();
    const start = scan.at;
    const operator = LOGIC.find((each) => scan.takes(each));
    if (operator === undefined) {
      if (scan.sees("&&") || scan.sees("||")) {
        throw scan.fault(
          `"${scan.peek()}${scan.peek()}" is not an operator`,
          `write: ${scan.sees("&&") ? "and" : "or"}`,
          scan.range(start, start + 2),
        );
      }
      scan.at = back;
      break;
    }
    checkMixture(scan, operators, operator, start);
    operators.push(operator);
    scan.blanks();
    operands.push(parseExpression(scan, depth));
  }
  return combine(operands, operators);
}

function checkMixture(
  scan: Scanner,
  before: readonly LogicOperator[],
  operator: LogicOperator,
  start: number,
): void {
  const first = before[0];
  if (first === undefined || first === operator) return;
  if (![first, operator].some((each) => each === "xor" || each === "nand")) return;
  const hint = "put parentheses around what belongs together";
  throw scan.fault(`"${operator}" and "${first}" without parentheses`, hint, scan.range(start));
}

/** Equal operators group to the right; `and` before `or`. */
function combine(operands: readonly ConditionNode[], operators: readonly LogicOperator[]): ConditionNode {
  const split = operators.includes("or") ? operators.indexOf("or") : 0;
  const operator = operators[split];
  if (operator === undefined) return operands[0]!;
  return {
    kind: "logic",
    operator,
    left: combine(operands.slice(0, split + 1), operators.slice(0, split)),
    right: combine(operands.slice(split + 1), operators.slice(split + 1)),
  };
}

function parseExpression(scan: Scanner, depth: number): ConditionNode {
  if (scan.takes("(")) return closed(scan, depth);
  if (scan.sees("!") && !scan.sees("!=") && !scan.sees("!~")) return parseNegation(scan, depth);
  if (scan.takesWord("not")) {
    throw scan.fault(
      '"not" is not an operator here',
      "write: !(…), or: value not in [list]",
      scan.range(scan.at - 3),
    );
  }
  const left = parseOperand(scan);
  const back = scan.at;
  scan.blanks();
  return parseRelation(scan, left, back);
}

function parseNegation(scan: Scanner, depth: number): ConditionNode {
  const start = scan.at++;
  scan.blanks();
  if (scan.takes("(")) return { kind: "not", operand: closed(scan, depth) };
  const from = scan.at;
  const selector = scan.selector();
  if (selector === undefined) {
    throw scan.fault(
      "! stands before a field or parentheses only",
      "write: ![field] or !( … )",
      scan.range(start),
    );
  }
  const range = scan.range(from);
  return { kind: "not", operand: { kind: "truth", operand: { kind: "selector", value: selector, range } } };
}

/** Reads what is before the closing parenthesis. */
function closed(scan: Scanner, depth: number): ConditionNode {
  const open = scan.at - 1;
  scan.blanks();
  const condition = parseCondition(scan, depth + 1);
  scan.blanks();
  if (!scan.takes(")")) {
    throw scan.fault(
      'this "(" is never closed',
      `add the closing ) before ${scan.nextShown()}`,
      scan.range(open, open + 1),
    );
  }
  return condition;
}

/** Reads an operator and its right side; without one the operand itself is the condition. */
function parseRelation(scan: Scanner, left: OperandNode, back: number): ConditionNode {
  if (scan.sees("=~") || scan.sees("!~")) {
    const negated = scan.peek() === "!";
    scan.at += 2;
    scan.blanks();
    const start = scan.at;
    const pattern = parseOperand(scan);
    if (pattern.kind !== "regexp" && pattern.kind !== "string") {
      throw scan.fault(
        "=~ and !~ need a regular expression",
        "write: [field] =~ /expression/",
        scan.range(start),
      );
    }
    return { kind: "match", left, pattern, negated };
  }
  const operator = COMPARES.find((each) => scan.takes(each));
  if (operator !== undefined) {
    scan.blanks();
    return { kind: "compare", operator, left, right: parseOperand(scan) };
  }
  if (scan.sees("=")) throw scan.fault('"=" is not a comparison', "write: ==");
  if (scan.takesWord("in")) return parseIn(scan, left, false);
  const start = scan.at;
  if (scan.takesWord("not")) {
    scan.blanks();
    if (scan.takesWord("in")) return parseIn(scan, left, true);
    throw scan.fault('"not" is not an operator here', "write: value not in [list]", scan.range(start));
  }
  scan.at = back;
  return { kind: "truth", operand: left };
}

function parseIn(scan: Scanner, needle: OperandNode, negated: boolean): ConditionNode {
  scan.blanks();
  return { kind: "in", needle, hay: parseOperand(scan), negated };
}

function parseOperand(scan: Scanner): OperandNode {
  const start = scan.at;
  const text = scan.string();
  if (text !== undefined) return { kind: "string", value: text, range: scan.range(start) };
  const regexp = scan.regexp();
  if (regexp !== undefined) return { kind: "regexp", value: regexp, range: scan.range(start) };
  const number = scan.number();
  if (number !== undefined) return { kind: "number", value: number, range: scan.range(start) };
  // A list first where it can be one: ["a", "b"]; [a] is a field.
  const selector = /^\[\s*["'0-9-]/.test(scan.source.text.slice(start, start + 64))
    ? undefined
    : scan.selector();
  if (selector !== undefined) return { kind: "selector", value: selector, range: scan.range(start) };
  if (scan.takes("[")) return parseList(scan, start);
  const name = scan.name();
  if (name !== undefined) {
    throw scan.fault(`"${name}" is not a value`, wordHint(name), scan.range(start));
  }
  throw scan.fault(
    `${scan.nextShown()} where a field or a value was expected`,
    'write [field], "text", a number or [ "a", "list" ]',
  );
}

function parseList(scan: Scanner, start: number): OperandNode {
  const items: OperandNode[] = [];
  scan.blanks();
  while (!scan.takes("]")) {
    items.push(parseOperand(scan));
    scan.blanks();
    if (scan.takes(",")) {
      scan.blanks();
      if (scan.sees("]")) throw scan.fault("a comma after the last value of a list", "leave the comma out");
    } else if (!scan.sees("]"))
      throw scan.fault(
        `${scan.nextShown()} in a list`,
        "separate the values by commas and close the list by ]",
      );
  }
  return { kind: "array", items, range: scan.range(start) };
}

/** Words of other languages that conditions don't have. */
function wordHint(name: string): string {
  if (/^(null|nil|undefined|none)$/i.test(name))
    return "a field that is missing or null is asked for by ![field]";
  if (name === "true") return "a field that is true is asked for by itself: if [field]";
  if (name === "false") return "a field that is false or missing is asked for by ![field]";
  return `a field is written [${name}], a text "${name}"`;
}
