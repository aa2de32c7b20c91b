/** Where variables are when a script runs, and what its compiled parts get. */

import { ScriptException, ScriptLimit } from "#hub/scripts/values/script-error.ts";
import type { Callable, CallContext } from "#hub/scripts/values/values.ts";
import type { Block, Expression } from "./syntax.ts";

/** Steps of loops, calls and members of collections that one run of a script may take: less than 50 ms of the thread. */
export const MAX_STEPS = 250_000;

/** Steps of a call of a function or lambda of the script. */
const CALL_STEPS = 4;
/** Steps of an exception that is caught: the machine unwinds its stack. */
export const CATCH_STEPS = 24;
/** Steps of arithmetic with numbers beyond 2^53. */
export const LARGE_NUMBER_STEPS = 8;

/** Functions and lambdas of a script may call each other so deep. */
const MAX_CALLS = 300;

/** Counts the work of one run. */
export class Budget implements CallContext {
  #left: number;
  #calls = 0;

  constructor(maxSteps = MAX_STEPS) {
    this.#left = maxSteps;
  }

  /** Runs a function or lambda of the script, one call deeper. Throws where calls are too deep. */
  call<T>(run: () => T): T {
    this.spend(CALL_STEPS);
    if (++this.#calls > MAX_CALLS) throw new ScriptLimit("StackOverflowError", null);
    try {
      return run();
    } finally {
      this.#calls--;
    }
  }

  spend(units: number): void {
    this.#left -= units;
    if (this.#left >= 0) return;
    const message = "The maximum number of statements that can be executed in a loop has been reached.";
    throw new ScriptLimit("PainlessError", message);
  }
}

/** Variables of one call of a function, a lambda or the script itself. */
export interface Frame {
  readonly slots: unknown[];
  /** Of the function that contains a lambda. */
  readonly parent: Frame | undefined;
  readonly budget: Budget;
  /** Functions of the script by their number. */
  readonly functions: readonly Callable[];
  /** What `return` gave. */
  result: unknown;
}

/** A compiled expression. */
export type Evaluate = (frame: Frame) => unknown;

/** How a statement ended. */
export const NEXT = 0;
export const BREAK = 1;
export const CONTINUE = 2;
export const RETURN = 3;
export type Ending = typeof NEXT | typeof BREAK | typeof CONTINUE | typeof RETURN;

/** A compiled statement. */
export type Execute = (frame: Frame) => Ending;

/** Compiles parts of a script within a scope. */
export interface Compiler {
  expression(scope: Scope, expression: Expression): Evaluate;
  block(scope: Scope, block: Block): Execute;
}

/** A variable as it was declared. */
export interface Variable {
  readonly type: string;
  /** How many frames up. */
  readonly depth: number;
  readonly slot: number;
}

/** Names that are known at a point of a script. */
export class Scope {
  readonly compiler: Compiler;
  /** Functions of the script: "name/count" → number. */
  readonly functions: ReadonlyMap<string, number>;
  /** True: the script may use regular expressions. */
  readonly allowsRegexes: boolean;
  readonly #names = new Map<string, { type: string; slot: number }>();
  /** The scope around a block. */
  readonly #outer: Scope | undefined;
  /** The scope around a lambda: its variables lie one frame up. */
  readonly #enclosing: Scope | undefined;
  /** Slots of the frame, counted over all blocks. */
  readonly #slots: { count: number };

  private constructor(
    compiler: Compiler,
    functions: ReadonlyMap<string, number>,
    allowsRegexes: boolean,
    { outer, enclosing }: { readonly outer?: Scope; readonly enclosing?: Scope } = {},
  ) {
    this.compiler = compiler;
    this.allowsRegexes = allowsRegexes;
    this.functions = functions;
    this.#outer = outer;
    this.#enclosing = enclosing;
    this.#slots = outer === undefined ? { count: 0 } : outer.#slots;
  }

  /** The scope of a function or of the script itself. */
  static of(compiler: Compiler, functions: ReadonlyMap<string, number>, allowsRegexes: boolean): Scope {
    return new Scope(compiler, functions, allowsRegexes);
  }

  /** The scope of a block within this one. */
  inner(): Scope {
    return new Scope(this.compiler, this.functions, this.allowsRegexes, { outer: this });
  }

  /** The scope of a lambda within this one. */
  lambda(): Scope {
    return new Scope(this.compiler, this.functions, this.allowsRegexes, { enclosing: this });
  }

  /** Declares a variable and returns its slot. Throws where the name is taken. */
  declare(name: string, type: string, offset: number): number {
    if (this.#here(name) !== undefined)
      throw new ScriptException("IllegalArgumentException", `Variable [${name}] is already defined.`, offset);
    const slot = this.#slots.count++;
    this.#names.set(name, { type, slot });
    return slot;
  }

  /** Returns a variable; undefined where the name isn't known. */
  find(name: string): Variable | undefined {
    const here = this.#here(name);
    if (here !== undefined) return { ...here, depth: 0 };
    const enclosing = this.#root().#enclosing;
    const found = enclosing === undefined ? undefined : enclosing.find(name);
    return found === undefined ? undefined : { ...found, depth: found.depth + 1 };
  }

  #here(name: string): { type: string; slot: number } | undefined {
    return this.#names.get(name) ?? (this.#outer === undefined ? undefined : this.#outer.#here(name));
  }

  #root(): Scope {
    return this.#outer === undefined ? this : this.#outer.#root();
  }
}

/** Gives exceptions of an expression its position. */
export function guarded(offset: number, evaluate: Evaluate): Evaluate {
  return (frame) => {
    try {
      return evaluate(frame);
    } catch (error) {
      throw placed(error, offset);
    }
  };
}

/** Returns an error with its position in the script; errors of the machine become exceptions. */
export function placed(error: unknown, offset: number): unknown {
  if (error instanceof ScriptException) {
    error.offset ??= offset;
    return error;
  }
  // A library function was given a value of another type.
  if (error instanceof TypeError || error instanceof RangeError || error instanceof SyntaxError)
    return new ScriptException("IllegalArgumentException", "a value of another type was expected", offset);
  return error;
}
