/** Compiles statements to closures over frames. */

import { membersOf } from "#hub/scripts/library/members.ts";
import { cast } from "#hub/scripts/values/casts.ts";
import { truth } from "#hub/scripts/values/operators.ts";
import { ScriptException, ScriptLimit } from "#hub/scripts/values/script-error.ts";
import { fromJson, isMap, ScriptObject } from "#hub/scripts/values/values.ts";
import { entriesOf } from "../library/maps.ts";
import { ExceptionValue, isException } from "./compile-call.ts";
import {
  BREAK,
  type Budget,
  CATCH_STEPS,
  CONTINUE,
  type Evaluate,
  type Execute,
  NEXT,
  placed,
  RETURN,
  type Scope,
} from "./scope.ts";
import type { Block, Catch, Expression, Statement, TypeName } from "./syntax.ts";
import { simpleName } from "./type-parser.ts";

/** Compiles the statements of a block. */
export function compileBlock(scope: Scope, { statements }: Pick<Block, "statements">): Execute {
  const inner = scope.inner();
  return compileStatements(inner, statements);
}

/** Compiles statements within a scope that is theirs. */
export function compileStatements(scope: Scope, statements: readonly Statement[]): Execute {
  const steps: Execute[] = [];
  for (const [at, statement] of statements.entries()) {
    const before = statements[at - 1];
    if (before !== undefined && ["return", "throw", "break", "continue"].includes(before.kind))
      throw new ScriptException("IllegalArgumentException", "Unreachable statement.", statement.offset);
    steps.push(compileStatement(scope, statement));
  }
  if (steps.length === 1) return steps[0]!;
  return (frame) => {
    for (const step of steps) {
      const ending = step(frame);
      if (ending !== NEXT) return ending;
    }
    return NEXT;
  };
}

function compileStatement(scope: Scope, statement: Statement): Execute {
  const compile = (each: Expression): Evaluate => scope.compiler.expression(scope, each);
  switch (statement.kind) {
    case "expression": {
      const evaluate = compile(statement.expression);
      return (frame) => {
        evaluate(frame);
        return NEXT;
      };
    }
    case "declaration":
      return compileDeclaration(scope, statement);
    case "if": {
      const test = compile(statement.test);
      const yes = compileBlock(scope, statement.yes);
      const no = statement.no === undefined ? undefined : compileBlock(scope, statement.no);
      return (frame) => (truth(test(frame)) ? yes(frame) : no === undefined ? NEXT : no(frame));
    }
    case "while":
    case "do":
    case "for":
      return compileLoop(scope, statement);
    case "each":
      return compileEach(scope, statement);
    case "return": {
      const value = statement.value === undefined ? () => null : compile(statement.value);
      return (frame) => {
        frame.result = value(frame);
        return RETURN;
      };
    }
    case "throw":
      return compileThrow(compile(statement.value), statement.offset);
    case "try":
      return compileTry(scope, statement);
    case "continue":
      return () => CONTINUE;
    case "break":
      return () => BREAK;
  }
}

function typeIn({ name, dimensions }: TypeName): string {
  return dimensions > 0 ? "def" : simpleName(name);
}

/** What a variable without a value is: 0 of numbers, false, null. */
function unset(type: string): unknown {
  if (type === "boolean") return false;
  return ["byte", "short", "int", "long", "float", "double", "char"].includes(type)
    ? cast(0, type, true)
    : null;
}

function compileDeclaration(scope: Scope, statement: Extract<Statement, { kind: "declaration" }>): Execute {
  const { offset, name } = statement;
  const type = typeIn(statement.type);
  const value = statement.value === undefined ? undefined : scope.compiler.expression(scope, statement.value);
  const slot = scope.declare(name, type, offset);
  const start = unset(type);
  return (frame) => {
    try {
      frame.slots[slot] = value === undefined ? start : cast(value(frame), type, false);
    } catch (error) {
      throw placed(error, offset);
    }
    return NEXT;
  };
}

function compileLoop(scope: Scope, statement: Extract<Statement, { kind: "while" | "do" | "for" }>): Execute {
  const inner = scope.inner();
  const compile = (each: Expression): Evaluate => inner.compiler.expression(inner, each);
  const first = statement.kind === "for" ? compileStatements(inner, statement.first) : () => NEXT;
  const test = statement.test === undefined ? () => true : compile(statement.test);
  const body = compileBlock(inner, statement.body);
  const after =
    statement.kind === "for" && statement.after !== undefined ? compile(statement.after) : undefined;
  refuseEndless(statement);
  const isBodyFirst = statement.kind === "do";
  const { offset } = statement;
  return (frame) => {
    first(frame);
    try {
      for (let isFirst = isBodyFirst; isFirst || truth(test(frame)); isFirst = false) {
        frame.budget.spend(1);
        const ending = body(frame);
        if (ending === BREAK) break;
        if (ending === RETURN) return RETURN;
        after?.(frame);
      }
    } catch (error) {
      throw placed(error, offset);
    }
    return NEXT;
  };
}

/** A loop whose condition is always true must be left from inside. */
function refuseEndless({
  kind,
  test,
  body,
  offset,
}: Extract<Statement, { kind: "while" | "do" | "for" }>): void {
  const isEndless = test === undefined || (test.kind === "constant" && test.value === true);
  if (!isEndless || leaves(body, false)) return;
  const name = kind === "do" ? "Do while" : kind === "while" ? "While" : "For";
  throw new ScriptException("IllegalArgumentException", `${name} loop has no escape.`, offset);
}

/** Returns true where a loop around the block may be left. */
function leaves({ statements }: Block, isInner: boolean): boolean {
  return statements.some((statement) => {
    switch (statement.kind) {
      case "return":
      case "throw":
        return true;
      case "break":
        return !isInner;
      case "if":
        return (
          leaves(statement.yes, isInner) || (statement.no !== undefined && leaves(statement.no, isInner))
        );
      case "while":
      case "do":
      case "for":
      case "each":
        return leaves(statement.body, true);
      case "try":
        return leaves(statement.body, isInner) || statement.catches.some(({ body }) => leaves(body, isInner));
      default:
        return false;
    }
  });
}

function compileEach(scope: Scope, statement: Extract<Statement, { kind: "each" }>): Execute {
  const values = scope.compiler.expression(scope, statement.values);
  const inner = scope.inner();
  const type = typeIn(statement.type);
  const slot = inner.declare(statement.name, type, statement.offset);
  const body = compileBlock(inner, statement.body);
  const { offset } = statement;
  return (frame) => {
    try {
      const members = values(frame);
      const seen = walked(members, frame.budget);
      frame.budget.spend(seen.length >> 3);
      for (const one of seen) {
        frame.budget.spend(1);
        frame.slots[slot] = cast(one, type, false);
        const ending = body(frame);
        if (ending === BREAK) break;
        if (ending === RETURN) return RETURN;
      }
    } catch (error) {
      throw placed(error, offset);
    }
    return NEXT;
  };
}

/** What a loop over a value sees; of a list that changes meanwhile what it was. */
function walked(value: unknown, budget: Budget): readonly unknown[] {
  if (!(value instanceof ScriptObject) && isMap(value)) return entriesOf(value).map(([key]) => key);
  return membersOf(value, budget).map(fromJson);
}

function compileThrow(value: Evaluate, offset: number): Execute {
  return (frame) => {
    const thrown = value(frame);
    if (thrown instanceof ExceptionValue) throw new ScriptException(thrown.type, thrown.message, offset);
    throw new ScriptException("ClassCastException", "only exceptions can be thrown", offset);
  };
}

function compileTry(scope: Scope, statement: Extract<Statement, { kind: "try" }>): Execute {
  const body = compileBlock(scope, statement.body);
  const catches = statement.catches.map((each) => compileCatch(scope, each));
  return (frame) => {
    try {
      return body(frame);
    } catch (error) {
      const exception = placed(error, statement.offset);
      if (!(exception instanceof ScriptException) || exception instanceof ScriptLimit) throw exception;
      const handler = catches.find(({ type }) => isException(exception.type, type));
      frame.budget.spend(CATCH_STEPS);
      if (handler === undefined) throw exception;
      const message = exception.message === "" ? null : exception.message;
      frame.slots[handler.slot] = new ExceptionValue(exception.type, message);
      return handler.run(frame);
    }
  };
}

function compileCatch(
  scope: Scope,
  { type, name, body }: Catch,
): { type: string; slot: number; run: Execute } {
  const inner = scope.inner();
  const slot = inner.declare(name, typeIn(type), type.offset);
  return { type: simpleName(type.name), slot, run: compileBlock(inner, body) };
}
