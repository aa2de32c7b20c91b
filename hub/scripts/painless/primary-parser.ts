/** Parses what expressions are made of: literals, names, calls, `new`, lists, maps and lambdas. */

import { ScriptException } from "#hub/scripts/values/script-error.ts";
import { Decimal, whole } from "#hub/scripts/values/values.ts";
import type { Token } from "./lexer.ts";
import type { Block, Expression, Parameter } from "./syntax.ts";
import { isSymbol, type TokenReader } from "./token-reader.ts";
import { isDeclaration, isTypeName, MAX_NAME_TOKENS, readType, typeLength } from "./type-parser.ts";

const LONG = 2n ** 63n;
const INT = 2n ** 31n;

/** What a primary expression is made of in turn. */
export interface Nested {
  expression(): Expression;
  block(): Block;
}

/** Reads a primary expression. */
export function readPrimary(tokens: TokenReader, nested: Nested): Expression {
  const { token } = tokens;
  const { offset, text } = token;
  if (isLambda(tokens)) return readLambda(tokens, nested);
  switch (token.kind) {
    case "integer":
      return { kind: "constant", value: constantOf(tokens.next()), isLong: /[lL]$/.test(text), offset };
    case "decimal":
    case "string":
      return { kind: "constant", value: constantOf(tokens.next()), offset };
    case "regex":
      tokens.next();
      return { kind: "regex", pattern: text, flags: token.flags ?? "", offset };
    case "name":
      return readName(tokens, nested);
    case "keyword":
      return readKeyword(tokens, nested);
    default:
      break;
  }
  if (text === "(") {
    tokens.next();
    const inner = nested.expression();
    tokens.expect(")");
    return inner;
  }
  if (text === "[") return readInitializer(tokens, nested);
  throw tokens.unexpected();
}

/** Reads "(a, b)". */
export function readArguments(tokens: TokenReader, nested: Nested): Expression[] {
  tokens.expect("(");
  const list: Expression[] = [];
  while (!tokens.accept(")")) {
    if (list.length > 0) tokens.expect(",");
    list.push(nested.expression());
  }
  return list;
}

function readKeyword(tokens: TokenReader, nested: Nested): Expression {
  const { text, offset } = tokens.token;
  if (text === "true" || text === "false" || text === "null") {
    tokens.next();
    return { kind: "constant", value: text === "null" ? null : text === "true", offset };
  }
  if (text === "new") return readNew(tokens, nested);
  if (text === "this" && isSymbol(tokens.peek(1), "::")) {
    tokens.next();
    tokens.next();
    return { kind: "reference", owner: "this", method: tokens.expectName().text, offset };
  }
  throw tokens.unexpected();
}

/** A variable, a call of the script's own function, or something static of a type. */
function readName(tokens: TokenReader, nested: Nested): Expression {
  const { text, offset } = tokens.token;
  if (isSymbol(tokens.peek(1), "(")) {
    tokens.next();
    return { kind: "call", name: text, arguments: readArguments(tokens, nested), offset };
  }
  const type = longestType(tokens);
  if (type !== undefined && isArrayReference(tokens, type.length)) {
    skip(tokens, type.length + 4);
    return { kind: "reference", owner: `${type.name}[]`, method: "new", offset };
  }
  if (type !== undefined && isSymbol(tokens.peek(type.length), "::")) {
    skip(tokens, type.length + 1);
    const method = tokens.accept("new") ? "new" : tokens.expectName().text;
    return { kind: "reference", owner: type.name, method, offset };
  }
  if (type !== undefined && isSymbol(tokens.peek(type.length), ".")) {
    skip(tokens, type.length + 1);
    const name = tokens.expectName().text;
    if (!tokens.is("(")) return { kind: "static-field", type: type.name, name, offset };
    return { kind: "static-method", type: type.name, name, arguments: readArguments(tokens, nested), offset };
  }
  tokens.next();
  if (tokens.accept("::"))
    return { kind: "reference", owner: text, method: tokens.expectName().text, offset };
  return { kind: "variable", name: text, offset };
}

/** "[]::new" */
function isArrayReference(tokens: TokenReader, from: number): boolean {
  return ["[", "]", "::", "new"].every((text, at) => isSymbol(tokens.peek(from + at), text));
}

/** Returns the longest dotted name from here on that is a type, and its tokens. */
function longestType(tokens: TokenReader): { name: string; length: number } | undefined {
  let name = tokens.token.text;
  let found = isTypeName(name) ? { name, length: 1 } : undefined;
  for (
    let length = 1;
    length < MAX_NAME_TOKENS && isSymbol(tokens.peek(length), ".") && tokens.peek(length + 1).kind === "name";
    length += 2
  ) {
    name += `.${tokens.peek(length + 1).text}`;
    if (isTypeName(name)) found = { name, length: length + 2 };
  }
  return found;
}

function skip(tokens: TokenReader, count: number): void {
  for (let left = count; left > 0; left--) tokens.next();
}

function readNew(tokens: TokenReader, nested: Nested): Expression {
  const { offset } = tokens.expect("new");
  const type = readType(tokens);
  if (tokens.is("(") && type.dimensions === 0)
    return { kind: "new", type: type.name, arguments: readArguments(tokens, nested), offset };
  if (type.dimensions > 0) {
    tokens.expect("{");
    const values: Expression[] = [];
    while (!tokens.accept("}")) {
      if (values.length > 0) tokens.expect(",");
      values.push(nested.expression());
    }
    return { kind: "new-array", type, sizes: [], values, offset };
  }
  const sizes: Expression[] = [];
  while (tokens.accept("[")) {
    sizes.push(nested.expression());
    tokens.expect("]");
  }
  if (sizes.length === 0) throw tokens.unexpected("'('");
  return { kind: "new-array", type, sizes, values: undefined, offset };
}

/** "[1, 2]", "[:]" or "['a': 1]". */
function readInitializer(tokens: TokenReader, nested: Nested): Expression {
  const { offset } = tokens.expect("[");
  if (tokens.accept(":")) {
    tokens.expect("]");
    return { kind: "map", entries: [], offset };
  }
  const values: Expression[] = [];
  const entries: [Expression, Expression][] = [];
  while (!tokens.accept("]")) {
    if (values.length + entries.length > 0) tokens.expect(",");
    const value = nested.expression();
    if (values.length === 0 && tokens.accept(":")) entries.push([value, nested.expression()]);
    else if (entries.length > 0) throw tokens.unexpected("':'");
    else values.push(value);
  }
  return entries.length > 0 ? { kind: "map", entries, offset } : { kind: "list", values, offset };
}

/** "x ->", "int x ->" or "(…) ->". */
function isLambda(tokens: TokenReader): boolean {
  if (tokens.token.kind === "name") {
    if (isSymbol(tokens.peek(1), "->")) return true;
    const length = isDeclaration(tokens) ? typeLength(tokens, 0) : 0;
    return length > 0 && isSymbol(tokens.peek(length + 1), "->");
  }
  if (!tokens.is("(")) return false;
  for (let ahead = 1; ; ahead++) {
    const token = tokens.peek(ahead);
    if (isSymbol(token, ")")) return isSymbol(tokens.peek(ahead + 1), "->");
    const isPart = token.kind === "name" || [",", ".", "[", "]"].some((text) => isSymbol(token, text));
    if (!isPart) return false;
  }
}

function readLambda(tokens: TokenReader, nested: Nested): Expression {
  const { offset } = tokens.token;
  const parameters: Parameter[] = [];
  if (tokens.token.kind === "name") {
    const type = isDeclaration(tokens) ? readType(tokens) : undefined;
    parameters.push({ type, name: tokens.expectName().text });
  } else {
    tokens.expect("(");
    while (!tokens.accept(")")) {
      if (parameters.length > 0) tokens.expect(",");
      const type = isDeclaration(tokens) ? readType(tokens) : undefined;
      const name = tokens.expectName();
      if (parameters.some((each) => each.name === name.text))
        throw new ScriptException(
          "IllegalArgumentException",
          `Variable [${name.text}] is already defined.`,
          name.offset,
        );
      parameters.push({ type, name: name.text });
    }
  }
  tokens.expect("->");
  return { kind: "lambda", parameters, body: tokens.is("{") ? nested.block() : nested.expression(), offset };
}

/** Returns the value of a number or text. Throws IllegalArgumentException for a number that its type can't hold. */
function constantOf({ kind, text, offset }: Token): unknown {
  if (kind === "string") return text;
  if (kind === "decimal") {
    const value = Number(text.replace(/[lLfFdD]$/, ""));
    return new Decimal(value, /[fF]$/.test(text));
  }
  const isLong = /[lL]$/.test(text);
  const digits = text.replace(/[lL]$/, "");
  const value = /^0[0-7]+$/.test(digits) ? BigInt(`0o${digits.slice(1)}`) : BigInt(digits);
  // One more than the largest is the smallest after a minus.
  const limit = isLong ? LONG : INT;
  const isHex = /^0x/i.test(digits);
  if (value > (isHex ? 2n * limit - 1n : limit))
    throw new ScriptException(
      "IllegalArgumentException",
      `Invalid ${isLong ? "long" : "int"} constant [${digits}].`,
      offset,
    );
  return isHex && !isLong ? Number(BigInt.asIntN(32, value)) : value === LONG ? value : whole(value);
}
