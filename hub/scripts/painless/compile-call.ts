/** Compiles calls: methods, static methods, functions of the script, constructors, lambdas and references to methods. */

import { cast } from "#hub/scripts/values/casts.ts";
import { toInteger } from "#hub/scripts/values/operators.ts";
import { ScriptException } from "#hub/scripts/values/script-error.ts";
import { Callable, Decimal, type Methods, print, ScriptObject } from "#hub/scripts/values/values.ts";
import { constructorOf } from "../library/constructors.ts";
import { callMethod } from "../library/methods.ts";
import { staticField, staticMethod } from "../library/statics.ts";
import { variableIn } from "./compile-target.ts";
import { withLastValue } from "./last-value.ts";
import { type Evaluate, type Frame, guarded, type Scope } from "./scope.ts";
import type { Block, Expression, Parameter, TypeName } from "./syntax.ts";
import { isTypeName, simpleName } from "./type-parser.ts";

type Call = Extract<
  Expression,
  {
    kind: "method" | "static-field" | "static-method" | "call" | "new" | "new-array" | "lambda" | "reference";
  }
>;

const CALLS: ReadonlySet<string> = new Set(
  "method static-field static-method call new new-array lambda reference".split(" "),
);

export function isCall(expression: Expression): expression is Call {
  return CALLS.has(expression.kind);
}

export function compileCall(scope: Scope, expression: Call): Evaluate {
  const { offset } = expression;
  const compile = (each: Expression): Evaluate => scope.compiler.expression(scope, each);
  switch (expression.kind) {
    case "method":
      return compileMethod(scope, expression);
    case "static-field": {
      const value = staticField(simpleName(expression.type), expression.name);
      if (value === undefined)
        throw unknown(`static field [${expression.type}, ${expression.name}] not found`, offset);
      return () => value;
    }
    case "static-method":
      return compileStatic(expression, expression.arguments.map(compile));
    case "call": {
      const count = expression.arguments.length;
      const number = scope.functions.get(`${expression.name}/${count}`);
      const values = expression.arguments.map(compile);
      if (number === undefined) return compileGiven(scope, expression, values);
      return guarded(offset, (frame) =>
        frame.functions[number]!.call(frame.budget, ...values.map((value) => value(frame))),
      );
    }
    case "new":
      return compileNew(expression, expression.arguments.map(compile));
    case "new-array":
      return compileArray(scope, expression);
    case "lambda":
      return compileLambda(scope, expression.parameters, expression.body);
    case "reference":
      return compileReference(scope, expression);
  }
}

/** A function that the context gives, as `emit` of runtime fields: a variable that scripts can't name. */
function compileGiven(
  scope: Scope,
  { name, offset }: Extract<Call, { kind: "call" }>,
  values: readonly Evaluate[],
): Evaluate {
  if (scope.find(`${name}()`) === undefined)
    throw unknown(`Unknown call [${name}] with [${values.length}] arguments.`, offset);
  const { read } = variableIn(scope, `${name}()`, offset);
  return guarded(offset, (frame) => {
    frame.budget.spend(1);
    const given = read(frame) as Callable;
    return given.call(...values.map((value) => value(frame))) ?? null;
  });
}

function unknown(message: string, offset: number): ScriptException {
  return new ScriptException("IllegalArgumentException", message, offset);
}

function compileMethod(scope: Scope, expression: Extract<Call, { kind: "method" }>): Evaluate {
  const object = scope.compiler.expression(scope, expression.object);
  const values = expression.arguments.map((each) => scope.compiler.expression(scope, each));
  const { name, isSafe, offset } = expression;
  return guarded(offset, (frame) => {
    const self = object(frame);
    if ((self ?? null) === null) {
      if (isSafe) return null;
      throw new ScriptException("NullPointerException", null);
    }
    frame.budget.spend(1);
    return (
      callMethod(
        self,
        name,
        values.map((value) => value(frame)),
        frame.budget,
      ) ?? null
    );
  });
}

function compileStatic(
  expression: Extract<Call, { kind: "static-method" }>,
  values: readonly Evaluate[],
): Evaluate {
  const { type, name, offset } = expression;
  const method = staticMethod(simpleName(type), name);
  if (method === undefined)
    throw unknown(`static method [${type}, ${name}/${values.length}] not found`, offset);
  return guarded(offset, (frame) => {
    frame.budget.spend(1);
    return method(
      values.map((value) => value(frame)),
      frame.budget,
    );
  });
}

/** An exception as a value. */
export class ExceptionValue extends ScriptObject {
  readonly type: string;
  readonly methods = EXCEPTION_METHODS;
  readonly message: string | null;

  constructor(type: string, message: string | null) {
    super();
    this.type = type;
    this.message = message;
  }

  override isA(name: string): boolean {
    return isException(this.type, name);
  }

  override toString(): string {
    return `java.lang.${this.type}${this.message === null ? "" : `: ${this.message}`}`;
  }
}

const EXCEPTION_METHODS: Methods = new Map(
  Object.entries({
    getMessage: (self: ExceptionValue) => self.message,
    getLocalizedMessage: (self: ExceptionValue) => self.message,
    toString: (self: ExceptionValue) => String(self),
  }),
);

/** Returns true where an exception of class `type` is also one of class `name`. */
export function isException(type: string, name: string): boolean {
  if (type === name || name === "Exception" || name === "Throwable") return true;
  if (name === "RuntimeException") return true;
  if (name === "IllegalArgumentException") return type === "NumberFormatException";
  return name === "IndexOutOfBoundsException" && /^(?:Array|String)IndexOutOfBoundsException$/.test(type);
}

function compileNew(expression: Extract<Call, { kind: "new" }>, values: readonly Evaluate[]): Evaluate {
  const { offset } = expression;
  const type = simpleName(expression.type);
  if (type.endsWith("Exception")) {
    return (frame) => {
      const message = values[0]?.(frame);
      return new ExceptionValue(type, (message ?? null) === null ? null : print(message));
    };
  }
  const make = constructorOf(type);
  if (make === undefined)
    throw unknown(`constructor [${expression.type}, <init>/${values.length}] not found`, offset);
  return guarded(offset, (frame) => {
    frame.budget.spend(1);
    return make(
      values.map((value) => value(frame)),
      frame.budget,
    );
  });
}

/** Returns the default value of a new array's elements. */
function initial({ name }: TypeName): unknown {
  if (name === "boolean") return false;
  if (name === "float" || name === "double") return new Decimal(0);
  return ["byte", "short", "int", "long", "char"].includes(name) ? 0 : null;
}

function compileArray(scope: Scope, expression: Extract<Call, { kind: "new-array" }>): Evaluate {
  const compile = (each: Expression): Evaluate => scope.compiler.expression(scope, each);
  const { offset, type } = expression;
  if (expression.values !== undefined) {
    const values = expression.values.map(compile);
    return guarded(offset, (frame) => {
      frame.budget.spend(values.length);
      return values.map((value) =>
        type.dimensions > 1 ? value(frame) : cast(value(frame), simpleName(type.name), false),
      );
    });
  }
  const sizes = expression.sizes.map(compile);
  return guarded(offset, (frame) =>
    filled(
      sizes.map((size) => toInteger(size(frame))),
      initial(type),
      frame,
    ),
  );
}

function filled([size = 0, ...more]: readonly number[], value: unknown, frame: Frame): unknown[] {
  if (size < 0) throw new ScriptException("NegativeArraySizeException", String(size));
  frame.budget.spend(size);
  return Array.from({ length: size }, () => (more.length === 0 ? value : filled(more, value, frame)));
}

function compileLambda(scope: Scope, parameters: readonly Parameter[], body: Block | Expression): Evaluate {
  const inner = scope.lambda();
  const slots = parameters.map(({ name, type }) => ({
    type: type === undefined || type.dimensions > 0 ? "def" : simpleName(type.name),
    slot: inner.declare(name, type?.name ?? "def", body.offset),
  }));
  const run = body.kind === "block" ? returning(inner, body) : inner.compiler.expression(inner, body);
  return (frame) => callable(frame, slots, run);
}

function returning(scope: Scope, block: Block): Evaluate {
  const execute = scope.compiler.block(scope, { ...block, statements: withLastValue(block.statements) });
  return (frame) => {
    execute(frame);
    return frame.result;
  };
}

function callable(
  frame: Frame,
  slots: readonly { readonly type: string; readonly slot: number }[],
  run: Evaluate,
): Callable {
  const call = (...values: unknown[]): unknown => {
    const own: Frame = { ...frame, slots: [], parent: frame, result: null };
    for (const [at, { slot, type }] of slots.entries())
      own.slots[slot] = cast(values[at] ?? null, type, false);
    return frame.budget.call(() => run(own));
  };
  // Maps give an entry to functions of one parameter, and key and value to others.
  Object.defineProperty(call, "length", { value: slots.length });
  return new Callable(call);
}

function compileReference(scope: Scope, expression: Extract<Call, { kind: "reference" }>): Evaluate {
  const { owner, method, offset } = expression;
  if (owner === "this") {
    const found = [...scope.functions].find(([name]) => name.startsWith(`${method}/`));
    if (found === undefined) throw unknown(`Unknown reference [this::${method}].`, offset);
    const [, number] = found;
    return (frame) => new Callable((...values) => frame.functions[number]!.call(frame.budget, ...values));
  }
  // What a stream becomes; `toArray` needs no more of it.
  if (owner.endsWith("[]"))
    return () =>
      new Callable(() => {
        throw unknown(`[${owner}::new] can be given to toArray alone`, offset);
      });
  if (!isTypeName(owner)) {
    const { read } = variableIn(scope, owner, offset);
    return (frame) => {
      const self = read(frame);
      return new Callable((...values) => callMethod(self, method, values, frame.budget));
    };
  }
  const type = simpleName(owner);
  const make = method === "new" ? constructorOf(type) : staticMethod(type, method);
  return (frame) => {
    if (make !== undefined) return new Callable((...values) => make(values, frame.budget));
    return new Callable((self, ...values) => callMethod(self, method, values, frame.budget));
  };
}
