/**
 * Lucene expressions, the arithmetic language of the 6.5 server: numbers with fractions alone, without statements. They are
 * parsed and run as Painless, so that they cost the same budget and run over columns; here their tree is made one of Painless.
 * Source: the grammar of Lucene's JavaScript compiler.
 */

import {
  countOfNumbers,
  EXPRESSION_CLASS,
  isDatePart,
  isOfValues,
} from "#hub/scripts/library/expression-functions.ts";
import { type Token, tokenise } from "#hub/scripts/painless/lexer.ts";
import { compileTree, type PainlessScript, withSource } from "#hub/scripts/painless/painless.ts";
import { parseTokens } from "#hub/scripts/painless/statement-parser.ts";
import type { Expression } from "#hub/scripts/painless/syntax.ts";
import { ScriptException } from "#hub/scripts/values/script-error.ts";
import { Decimal } from "#hub/scripts/values/values.ts";

/** What the value is for: a number, or whether it isn't 0. */
export type ExpressionResult = "number" | "condition";

/** A compiled expression. */
export interface ExpressionScript extends PainlessScript {
  /** Variables that its params must have, with their offsets. */
  readonly needs: ReadonlyMap<string, number>;
}

/** Functions of Painless by their names in expressions, with the numbers that they take. */
const MATH: Readonly<Record<string, readonly [name: string, count: number]>> = {
  ...Object.fromEntries(
    "abs acos asin atan ceil cos cosh exp floor log10 sin sinh sqrt tan tanh"
      .split(" ")
      .map((name) => [name, [name, 1]]),
  ),
  ln: ["log", 1],
  atan2: ["atan2", 2],
  max: ["max", 2],
  min: ["min", 2],
  pow: ["pow", 2],
};

/** Members of a field that are numbers of their own. */
const COUNTS: ReadonlySet<string> = new Set(["count()", "length"]);
const COORDINATES: ReadonlySet<string> = new Set(["lat", "lon"]);
const BITWISE: ReadonlySet<string> = new Set(["&", "|", "^", "<<", ">>", ">>>"]);
const COMPARISONS: ReadonlySet<string> = new Set(["<", "<=", ">", ">=", "==", "!="]);
const ARITHMETIC: ReadonlySet<string> = new Set(["+", "-", "*", "/", "%"]);

/**
 * Compiles an expression that may use the variables `names` of its context besides its params. Throws script_failed with the
 * position in the expression.
 */
export function compileLuceneExpression(
  source: string,
  names: readonly string[],
  result: ExpressionResult,
): ExpressionScript {
  return withSource(
    source,
    () => {
      const { functions, statements } = parseTokens(tokenise(source).map(asDecimal));
      const [statement, more] = statements;
      if (statement?.kind !== "expression" || more !== undefined || functions.length > 0)
        throw unfit("an expression is one sum, product, comparison or the like", statement?.offset ?? 0);
      const translation = new Translation(names);
      const value = translation[result](statement.expression);
      const { offset } = statement;
      const tree = {
        functions: [],
        statements: [{ kind: "expression" as const, expression: value, offset }],
      };
      return { ...compileTree(source, tree, names, { lang: "expression" }), needs: translation.needs };
    },
    "expression",
  );
}

/** All numbers have fractions; whole ones may be longer than those of Painless. */
function asDecimal(token: Token): Token {
  if (token.kind !== "integer") return token;
  const isOctal = /^0[0-7]+$/.test(token.text);
  const value = isOctal ? Number.parseInt(token.text, 8) : Number(token.text);
  return { ...token, kind: "decimal", text: String(value) };
}

function unfit(message: string, offset: number): ScriptException {
  return new ScriptException("ParseException", message, offset);
}

class Translation {
  readonly needs = new Map<string, number>();
  readonly #names: ReadonlySet<string>;

  constructor(names: readonly string[]) {
    this.#names = new Set(names);
  }

  /** A number with a fraction; conditions are 0 and 1. */
  number(expression: Expression): Expression {
    const { offset } = expression;
    switch (expression.kind) {
      case "constant":
        if (expression.value instanceof Decimal) return expression;
        throw unfit("an expression has numbers alone", offset);
      case "variable":
        return this.#variable(expression.name, offset);
      case "call":
        return this.#call(expression.name, expression.arguments, offset);
      case "member":
      case "method":
        return this.#member(expression);
      case "brace":
        // A field alone means its value.
        if (!this.#isField(expression)) throw unfit("this isn't offered in an expression", offset);
        return call("value", [expression], offset);
      case "condition": {
        const { yes, no } = expression;
        return {
          ...expression,
          test: this.condition(expression.test),
          yes: this.number(yes),
          no: this.number(no),
        };
      }
      case "unary":
        if (expression.operator === "~")
          return double({ ...expression, operand: long(this.number(expression.operand)) });
        if (expression.operator !== "!") return { ...expression, operand: this.number(expression.operand) };
        break;
      case "binary":
        if (ARITHMETIC.has(expression.operator)) return this.#both(expression, (each) => each);
        if (BITWISE.has(expression.operator)) return double(this.#both(expression, long));
        break;
    }
    const one: Expression = { kind: "constant", value: new Decimal(1), offset };
    const zero: Expression = { kind: "constant", value: new Decimal(0), offset };
    return { kind: "condition", test: this.condition(expression), yes: one, no: zero, offset };
  }

  /** Whether a number isn't 0. */
  condition(expression: Expression): Expression {
    const { offset } = expression;
    if (expression.kind === "logical")
      return {
        ...expression,
        left: this.condition(expression.left),
        right: this.condition(expression.right),
      };
    if (expression.kind === "unary" && expression.operator === "!")
      return { ...expression, operand: this.condition(expression.operand) };
    if (expression.kind === "binary" && COMPARISONS.has(expression.operator))
      return this.#both(expression, (each) => each);
    const isOther = expression.kind === "binary" && !isOfNumbers(expression.operator);
    if (isOther || !NUMBERS.has(expression.kind)) throw unfit("this isn't offered in an expression", offset);
    const zero: Expression = { kind: "constant", value: new Decimal(0), offset };
    return { kind: "binary", operator: "!=", left: this.number(expression), right: zero, offset };
  }

  #both(
    expression: Extract<Expression, { kind: "binary" }>,
    change: (number: Expression) => Expression,
  ): Expression {
    const { left, right } = expression;
    return { ...expression, left: change(this.number(left)), right: change(this.number(right)) };
  }

  #variable(name: string, offset: number): Expression {
    if (name === "doc" || name === "params") throw unfit(`Unknown variable [${name}]`, offset);
    const variable: Expression = { kind: "variable", name, offset };
    // The value of an aggregation's field may be a date or a boolean.
    if (this.#names.has(name))
      return name === "_value" ? call("number", [variable], offset) : double(variable);
    this.needs.set(name, this.needs.get(name) ?? offset);
    const object: Expression = { kind: "variable", name: "params", offset };
    return double({ kind: "member", object, name, isSafe: false, offset });
  }

  #call(name: string, given: readonly Expression[], offset: number): Expression {
    const math = Object.hasOwn(MATH, name) ? MATH[name] : undefined;
    const count = math?.[1] ?? countOfNumbers(name);
    if (count === undefined) throw unfit(`Unrecognized function call (${name}).`, offset);
    if (given.length !== count)
      throw unfit(
        `Expected (${count}) arguments for function call (${name}), but found (${given.length}).`,
        offset,
      );
    const values = given.map((each) => this.number(each));
    if (math === undefined) return call(name, values, offset);
    return { kind: "static-method", type: "Math", name: math[0], arguments: values, offset };
  }

  /** `doc['f'].value` and its like. */
  #member(expression: Extract<Expression, { kind: "member" | "method" }>): Expression {
    const { offset, object, isSafe } = expression;
    if (isSafe || (expression.kind === "method" && expression.arguments.length > 0))
      throw unfit("this isn't offered in an expression", offset);
    const name = expression.kind === "method" ? `${expression.name}()` : expression.name;
    if (object.kind === "member" && object.name === "date" && this.#isField(object.object))
      return this.#datePart(object.object, `date.${expression.name}`, offset);
    if (!this.#isField(object)) throw unfit(`Unknown variable [${expression.name}]`, offset);
    const plain = name.replace(/\(\)$/, "");
    if (name === "value" || (name.endsWith("()") && isOfValues(plain) && plain !== "value"))
      return call(plain, [object], offset);
    if (COUNTS.has(name)) return call("count", [object], offset);
    if (name === "empty") {
      const [zero, one] = [0, 1].map(
        (value): Expression => ({ kind: "constant", value: new Decimal(value), offset }),
      );
      const test: Expression = {
        kind: "binary",
        operator: "==",
        left: call("count", [object], offset),
        right: zero!,
        offset,
      };
      return { kind: "condition", test, yes: one!, no: zero!, offset };
    }
    if (COORDINATES.has(name)) {
      const which: Expression = { kind: "constant", value: name, offset };
      return call("coordinate", [object, which], offset);
    }
    return this.#datePart(object, name, offset);
  }

  #datePart(field: Expression, name: string, offset: number): Expression {
    if (!isDatePart(name)) throw unfit(`Member [${name}] does not exist for a field.`, offset);
    return call("datePart", [field, { kind: "constant", value: name, offset }], offset);
  }

  #isField(expression: Expression): boolean {
    if (!this.#names.has("doc")) return false;
    const { object } = expression as { object?: Expression };
    if (object?.kind !== "variable" || object.name !== "doc") return false;
    return (
      expression.kind === "brace" &&
      expression.index.kind === "constant" &&
      typeof expression.index.value === "string"
    );
  }
}

function isOfNumbers(operator: string): boolean {
  return ARITHMETIC.has(operator) || BITWISE.has(operator);
}

/** Kinds that are numbers wherever they occur. */
const NUMBERS: ReadonlySet<string> = new Set([
  "constant",
  "variable",
  "call",
  "member",
  "method",
  "brace",
  "condition",
  "unary",
  "binary",
]);

function call(name: string, values: readonly Expression[], offset: number): Expression {
  return { kind: "static-method", type: EXPRESSION_CLASS, name, arguments: values, offset };
}

function double(operand: Expression): Expression {
  const { offset } = operand;
  return { kind: "cast", type: { name: "double", dimensions: 0, offset }, operand, offset };
}

function long(operand: Expression): Expression {
  const { offset } = operand;
  return { kind: "cast", type: { name: "long", dimensions: 0, offset }, operand, offset };
}
