/** Parses expressions by precedence climbing. Source: the parser grammar of the 6.5 server's scripting language. */

import type { BinaryOperator } from "#hub/scripts/values/operators.ts";
import { ScriptException } from "#hub/scripts/values/script-error.ts";
import { type Nested, readArguments, readPrimary } from "./primary-parser.ts";
import type { Expression, Target } from "./syntax.ts";
import type { TokenReader } from "./token-reader.ts";
import { isCast, readType } from "./type-parser.ts";

/** Binary operators by how tightly they bind; `instanceof` is between equality and comparison. */
const PRECEDENCE: ReadonlyMap<string, number> = new Map(
  [
    ["||"],
    ["&&"],
    ["|"],
    ["^"],
    ["&"],
    ["==", "!=", "===", "!=="],
    ["instanceof"],
    ["<", "<=", ">", ">="],
    ["<<", ">>", ">>>"],
    ["=~", "==~"],
    ["+", "-"],
    ["*", "/", "%"],
  ].flatMap((operators, level) => operators.map((operator) => [operator, level + 1] as const)),
); // prettier-ignore

const ASSIGNMENTS: ReadonlySet<string> = new Set("= += -= *= /= %= &= |= ^= <<= >>= >>>=".split(" "));

/** Reads an expression: an assignment, a condition or any other. */
export function readExpression(tokens: TokenReader, nested: Nested): Expression {
  return tokens.nested(() => {
    const left = readConditional(tokens, nested);
    const { token } = tokens;
    if (token.kind !== "operator" || !ASSIGNMENTS.has(token.text)) return left;
    tokens.next();
    const value = nested.expression();
    const operator = token.text === "=" ? undefined : (token.text.slice(0, -1) as BinaryOperator);
    return { kind: "assignment", target: targetOf(left), operator, value, offset: token.offset };
  });
}

function readConditional(tokens: TokenReader, nested: Nested): Expression {
  const test = readElvis(tokens, nested);
  const { offset } = tokens.token;
  if (!tokens.accept("?")) return test;
  const yes = nested.expression();
  tokens.expect(":");
  return { kind: "condition", test, yes, no: nested.expression(), offset };
}

function readElvis(tokens: TokenReader, nested: Nested): Expression {
  const left = readBinary(tokens, nested, 1);
  const { offset } = tokens.token;
  if (!tokens.accept("?:")) return left;
  return { kind: "elvis", left, right: tokens.nested(() => readElvis(tokens, nested)), offset };
}

function readBinary(tokens: TokenReader, nested: Nested, least: number): Expression {
  let left = readUnary(tokens, nested);
  for (;;) {
    const { kind, text, offset } = tokens.token;
    const precedence = kind === "operator" || kind === "keyword" ? (PRECEDENCE.get(text) ?? 0) : 0;
    if (precedence === 0 || precedence < least) return left;
    tokens.next();
    if (text === "instanceof") {
      left = { kind: "instanceof", operand: left, type: readType(tokens), offset };
      continue;
    }
    const right = tokens.nested(() => readBinary(tokens, nested, precedence + 1));
    left =
      text === "&&" || text === "||"
        ? { kind: "logical", operator: text, left, right, offset }
        : { kind: "binary", operator: text as BinaryOperator, left, right, offset };
  }
}

function readUnary(tokens: TokenReader, nested: Nested): Expression {
  const { kind, text, offset } = tokens.token;
  if (kind !== "operator") return readPostfix(tokens, nested);
  const operand = (): Expression => tokens.nested(() => readUnary(tokens, nested));
  switch (text) {
    case "++":
    case "--":
      tokens.next();
      return {
        kind: "step",
        target: targetOf(operand()),
        by: text === "++" ? 1 : -1,
        isPrefix: true,
        offset,
      };
    case "-":
    case "+":
    case "!":
    case "~":
      tokens.next();
      return { kind: "unary", operator: text, operand: operand(), offset };
    case "(": {
      if (!isCast(tokens)) return readPostfix(tokens, nested);
      tokens.next();
      const type = readType(tokens);
      tokens.expect(")");
      return { kind: "cast", type, operand: operand(), offset };
    }
    default:
      return readPostfix(tokens, nested);
  }
}

function readPostfix(tokens: TokenReader, nested: Nested): Expression {
  let object = readPrimary(tokens, nested);
  for (;;) {
    const { text, offset, kind } = tokens.token;
    if (kind !== "operator") return object;
    if (text === "." || text === "?.") object = readMember(tokens, nested, object);
    else if (text === "[") {
      tokens.next();
      const index = nested.expression();
      tokens.expect("]");
      object = { kind: "brace", object, index, isSafe: false, offset };
    } else if (text === "++" || text === "--") {
      tokens.next();
      object = {
        kind: "step",
        target: targetOf(object),
        by: text === "++" ? 1 : -1,
        isPrefix: false,
        offset,
      };
    } else return object;
  }
}

function readMember(tokens: TokenReader, nested: Nested, object: Expression): Expression {
  const { text, offset } = tokens.next();
  const isSafe = text === "?.";
  const name = tokens.token;
  if (name.kind === "integer") {
    tokens.next();
    const index: Expression = { kind: "constant", value: Number(name.text), offset: name.offset };
    return { kind: "brace", object, index, isSafe, offset };
  }
  // A word of the language may be a name after a point ("ctx.in").
  if (name.kind !== "name" && name.kind !== "keyword") throw tokens.unexpected("{DOTID}");
  tokens.next();
  if (!tokens.is("(")) return { kind: "member", object, name: name.text, isSafe, offset };
  return {
    kind: "method",
    object,
    name: name.text,
    arguments: readArguments(tokens, nested),
    isSafe,
    offset,
  };
}

function targetOf(expression: Expression): Target {
  const { kind } = expression;
  if (kind === "variable" || ((kind === "brace" || kind === "member") && !expression.isSafe))
    return expression;
  throw new ScriptException(
    "IllegalArgumentException",
    "Left-hand side cannot be assigned a value.",
    expression.offset,
  );
}
