/** Compiles expressions to closures over frames. */

import { cast, isInstance } from "#hub/scripts/values/casts.ts";
import {
  type BinaryOperator,
  binary,
  shiftLong,
  truth,
  unary,
  wrapInt,
} from "#hub/scripts/values/operators.ts";
import { ScriptException } from "#hub/scripts/values/script-error.ts";
import { matchesPattern, Pattern } from "../library/patterns.ts";
import { appended } from "../library/strings.ts";
import { compileCall, isCall } from "./compile-call.ts";
import { compileRead, compileWrite, variableIn } from "./compile-target.ts";
import { type Budget, type Evaluate, guarded, LARGE_NUMBER_STEPS, placed, type Scope } from "./scope.ts";
import { type WholeType, wholeType } from "./static-type.ts";
import type { Expression } from "./syntax.ts";
import { simpleName } from "./type-parser.ts";

/** Returns what an expression evaluates to. Throws ScriptException for what can't be compiled. */
export function compileExpression(scope: Scope, expression: Expression): Evaluate {
  if (isCall(expression)) return compileCall(scope, expression);
  const compile = (each: Expression): Evaluate => scope.compiler.expression(scope, each);
  switch (expression.kind) {
    case "constant": {
      const { value } = expression;
      return () => value;
    }
    case "regex": {
      const { pattern, flags, offset } = expression;
      if (!scope.allowsRegexes) throw regexDisabled(offset);
      const value = compilePattern(pattern, flags, offset);
      return () => value;
    }
    case "variable":
      return variableIn(scope, expression.name, expression.offset).read;
    case "member":
    case "brace":
      return compileRead(scope, expression);
    case "unary": {
      const { operator, offset } = expression;
      const operand = compile(expression.operand);
      const isInt = operator === "-" && typeIn(scope, expression) === "int";
      return guarded(offset, (frame) => {
        const value = unary(operator, operand(frame));
        return isInt ? wrapInt(value) : value;
      });
    }
    case "binary": {
      const { operator, left, right, offset } = expression;
      return compileBinary(
        scope,
        { operator, type: typeIn(scope, expression), offset },
        compile(left),
        compile(right),
      );
    }
    case "logical":
      return compileLogical(scope, expression);
    case "elvis": {
      const [left, right] = [compile(expression.left), compile(expression.right)];
      return (frame) => left(frame) ?? right(frame);
    }
    case "condition": {
      const [test, yes, no] = [compile(expression.test), compile(expression.yes), compile(expression.no)];
      return (frame) => (truth(test(frame)) ? yes(frame) : no(frame));
    }
    case "cast": {
      const operand = compile(expression.operand);
      const type = expression.type.dimensions > 0 ? "def" : simpleName(expression.type.name);
      return guarded(expression.offset, (frame) => cast(operand(frame), type, true));
    }
    case "instanceof": {
      const operand = compile(expression.operand);
      const type = expression.type.dimensions > 0 ? "List" : simpleName(expression.type.name);
      return (frame) => isInstance(operand(frame), type);
    }
    case "assignment":
      return compileAssignment(scope, expression);
    case "step":
      return compileStep(scope, expression);
    case "list": {
      const values = expression.values.map(compile);
      return (frame) => {
        frame.budget.spend(values.length + 1);
        return values.map((value) => value(frame));
      };
    }
    case "map": {
      const entries = expression.entries.map(([key, value]) => [compile(key), compile(value)] as const);
      return (frame) => {
        frame.budget.spend(entries.length + 1);
        return new Map(entries.map(([key, value]) => [key(frame), value(frame)]));
      };
    }
  }
}

function compilePattern(pattern: string, flags: string, offset: number): Pattern {
  try {
    return new Pattern(pattern, flags);
  } catch (error) {
    throw placed(error, offset);
  }
}

interface Operation {
  readonly operator: BinaryOperator;
  /** Of the result, where it is known. */
  readonly type: WholeType | undefined;
  readonly offset: number;
}

function typeIn(scope: Scope, expression: Expression): WholeType | undefined {
  return wholeType(expression, (name) => scope.find(name)?.type);
}

function compileBinary(
  { allowsRegexes }: Scope,
  { operator, type, offset }: Operation,
  left: Evaluate,
  right: Evaluate,
): Evaluate {
  if (operator === "=~" || operator === "==~") {
    if (!allowsRegexes) throw regexDisabled(offset);
    const isWhole = operator === "==~";
    return guarded(offset, (frame) => matchesPattern(right(frame), left(frame), isWhole, frame.budget));
  }
  const typed = operationOn(operator, type);
  if (typed !== undefined) return guarded(offset, (frame) => typed(left(frame), right(frame), frame.budget));
  return guarded(offset, (frame) => {
    const a = left(frame);
    const b = right(frame);
    if (typeof a === "bigint" || typeof b === "bigint") frame.budget.spend(LARGE_NUMBER_STEPS);
    const isText = operator === "+" && (typeof a === "string" || typeof b === "string");
    return isText ? appended(a, b, frame.budget) : binary(operator, a, b, frame.budget);
  });
}

/** Returns what computes with numbers of known types where the values alone aren't enough. */
function operationOn(
  operator: BinaryOperator,
  type: WholeType | undefined,
): ((a: unknown, b: unknown, budget: Budget) => unknown) | undefined {
  if (type === "long" && (operator === "<<" || operator === ">>>"))
    return (a, b, budget) => {
      budget.spend(LARGE_NUMBER_STEPS);
      return shiftLong(operator, a, b);
    };
  if (type !== "int") return undefined;
  // Only the least int divided by -1 wraps around.
  if (operator === "/") return (a, b) => wrapInt(binary(operator, a, b));
  if (operator !== "+" && operator !== "-" && operator !== "*") return undefined;
  return (a, b) => {
    // Fast path: chars are objects.
    if (typeof a !== "number" || typeof b !== "number") return wrapInt(binary(operator, a, b));
    if (operator === "*") return Math.imul(a, b);
    return (operator === "+" ? a + b : a - b) | 0;
  };
}

function compileLogical(scope: Scope, expression: Extract<Expression, { kind: "logical" }>): Evaluate {
  const left = scope.compiler.expression(scope, expression.left);
  const right = scope.compiler.expression(scope, expression.right);
  const isAnd = expression.operator === "&&";
  return guarded(expression.offset, (frame) =>
    isAnd ? truth(left(frame)) && truth(right(frame)) : truth(left(frame)) || truth(right(frame)),
  );
}

function compileAssignment(scope: Scope, expression: Extract<Expression, { kind: "assignment" }>): Evaluate {
  const { target, operator, offset } = expression;
  const value = scope.compiler.expression(scope, expression.value);
  if (operator === undefined) return compileWrite(scope, target, value, false);
  const before = scope.compiler.expression(scope, target);
  const type = typeIn(scope, { kind: "binary", operator, left: target, right: expression.value, offset });
  const operation = compileBinary(scope, { operator, type, offset }, before, value);
  return compileWrite(scope, target, operation, true);
}

/** `x++` and `--x`. */
function compileStep(scope: Scope, expression: Extract<Expression, { kind: "step" }>): Evaluate {
  const { target, by, isPrefix, offset } = expression;
  const before = scope.compiler.expression(scope, target);
  const write = compileWrite(
    scope,
    target,
    guarded(offset, (frame) => binary("+", before(frame), by)),
    true,
  );
  if (isPrefix) return write;
  return (frame) => {
    const value = before(frame);
    write(frame);
    return value;
  };
}

function regexDisabled(offset: number): ScriptException {
  const message =
    "Regexes are disabled. Set [script.painless.regex.enabled] to [true] in elasticsearch.yaml to allow them. Be careful though, regexes break out of Painless's protection against deep recursion and long loops.";
  return new ScriptException("IllegalStateException", message, offset);
}
