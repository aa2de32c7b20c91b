/**
 * Painless, the scripting language of the 6.5 server, compiled to closures. Nothing of the host language can be reached:
 * values have only the methods that the library lists, and a run ends when its budget of steps is spent.
 */

import { cast } from "#hub/scripts/values/casts.ts";
import { compileError, runtimeError, ScriptException } from "#hub/scripts/values/script-error.ts";
import { Callable } from "#hub/scripts/values/values.ts";
import { compileExpression } from "./compile-expression.ts";
import { compileBlock, compileStatements } from "./compile-statement.ts";
import { withLastValue } from "./last-value.ts";
import { Budget, type Compiler, type Evaluate, type Execute, type Frame, RETURN, Scope } from "./scope.ts";
import { parseScript } from "./statement-parser.ts";
import type { FunctionDeclaration, Script } from "./syntax.ts";
import { simpleName } from "./type-parser.ts";

const COMPILER: Compiler = { expression: compileExpression, block: compileBlock };

/** A compiled script. */
export interface PainlessScript {
  readonly source: string;
  /** What the script is made of; the value of its last expression is returned. */
  readonly syntax: Script;
  /**
   * Runs the script with the values of its context's variables, in their order, and returns its value; null without one.
   * Throws script_failed with the position in the script. `maxSteps`: of this run, see MAX_STEPS.
   */
  run(values: readonly unknown[], maxSteps?: number): unknown;
}

/**
 * Compiles a script that may use the variables `names`, and regular expressions where `allowsRegexes`. Throws
 * script_failed with the position in the script.
 */
export function compilePainless(
  source: string,
  names: readonly string[],
  allowsRegexes = false,
): PainlessScript {
  return withSource(source, () => compileTree(source, parseScript(source), names, { allowsRegexes }));
}

/** Checks that a script can be parsed, whatever variables it uses. Throws script_failed. */
export function checkSyntax(source: string): void {
  withSource(source, () => parseScript(source));
}

/** Runs a step of the compilation of a script of `lang`. Throws script_failed with the position where it throws ScriptException. */
export function withSource<T>(source: string, run: () => T, lang = "painless"): T {
  try {
    return run();
  } catch (error) {
    if (error instanceof ScriptException) throw compileError(source, error, lang);
    if (isTooDeep(error))
      throw compileError(source, new ScriptException("IllegalArgumentException", TOO_DEEP), lang);
    throw error;
  }
}

const TOO_DEEP = "the script joins too many values in one expression";

/** Sums and paths are as deep as they are long, which only the stack bounds. Nothing is half done where it ends. */
export function isTooDeep(error: unknown): boolean {
  return error instanceof RangeError && error.message.startsWith("Maximum call stack");
}

/** Compiles the tree of a script of `lang`, see compilePainless. Throws ScriptException. */
export function compileTree(
  source: string,
  { functions, statements }: Script,
  names: readonly string[],
  { allowsRegexes = false, lang = "painless" }: { readonly allowsRegexes?: boolean; readonly lang?: string },
): PainlessScript {
  const numbers = new Map(functions.map(({ name, parameters }, at) => [`${name}/${parameters.length}`, at]));
  const scope = Scope.of(COMPILER, numbers, allowsRegexes);
  for (const name of names) scope.declare(name, "def", 0);
  const makers = functions.map((each) => compileFunction(each, numbers, allowsRegexes));
  const resulting = withLastValue(statements);
  const body = compileStatements(scope, resulting);
  return {
    source,
    syntax: { functions, statements: resulting },
    run: (values, maxSteps) => {
      const budget = new Budget(maxSteps);
      const callables: readonly Callable[] = makers.map((make) => make(() => callables));
      const frame: Frame = {
        slots: [...values],
        parent: undefined,
        budget,
        functions: callables,
        result: null,
      };
      try {
        return body(frame) === RETURN ? (frame.result ?? null) : null;
      } catch (error) {
        if (error instanceof ScriptException) throw runtimeError(source, error, lang);
        if (isTooDeep(error))
          throw runtimeError(source, new ScriptException("StackOverflowError", null), lang);
        throw error;
      }
    },
  };
}

type MakeFunction = (functions: () => readonly Callable[]) => Callable;

/** A function is called with the budget of the run before its values. */
function compileFunction(
  { parameters, body, returns }: FunctionDeclaration,
  numbers: ReadonlyMap<string, number>,
  allowsRegexes: boolean,
): MakeFunction {
  const scope = Scope.of(COMPILER, numbers, allowsRegexes);
  const types = parameters.map(({ type }) => (type!.dimensions > 0 ? "def" : simpleName(type!.name)));
  for (const { name, type } of parameters) scope.declare(name, type!.name, type!.offset);
  const statements = returns.name === "void" ? body.statements : withLastValue(body.statements);
  const execute: Execute = compileBlock(scope, { statements });
  const result = returns.dimensions > 0 || returns.name === "void" ? "def" : simpleName(returns.name);
  const run: Evaluate = (frame) =>
    execute(frame) === RETURN ? cast(frame.result ?? null, result, false) : null;
  return (functions) =>
    new Callable((given, ...values) => {
      const budget = given as Budget;
      const slots = values.map((value, at) => cast(value ?? null, types[at] ?? "def", false));
      return budget.call(() =>
        run({ slots, parent: undefined, budget, functions: functions(), result: null }),
      );
    });
}
