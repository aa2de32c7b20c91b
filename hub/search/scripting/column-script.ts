/**
 * Scripts over columns, compiled to steps over batches of documents: expressions of numbers, booleans and comparisons
 * with keywords, without loops or effects. All branches are computed. If a document's result might differ from the
 * script's (overflow, division by zero), the script runs on it.
 */

import type { Field } from "#hub/engine/mapping/field.ts";
import { COLUMN_BLOCK, type SegmentReader } from "#hub/engine/searcher/searcher.ts";
import { isTooDeep } from "#hub/scripts/painless/painless.ts";
import { constantInt } from "#hub/scripts/painless/static-type.ts";
import type { Expression, Statement } from "#hub/scripts/painless/syntax.ts";
import type { Script } from "#hub/scripts/script.ts";
import { Decimal, fromJson } from "#hub/scripts/values/values.ts";
import type { ShardContext } from "#hub/search/query/query.ts";
import { isObject } from "#proto/kit/json.ts";
import {
  andStep,
  arithmeticStep,
  type Batch,
  choiceStep,
  columnStep,
  comparisonStep,
  exactStep,
  isArithmetic,
  isComparison,
  mapStep,
  ordinalStep,
  orStep,
  pairStep,
  type Register,
  type Step,
  scoreStep,
  wholeStep,
} from "./batch-steps.ts";
import { callOf, literalText, PAIR_FUNCTIONS, REAL_FUNCTIONS } from "./script-shapes.ts";

/** What a register holds; "number": whole or with a fraction, which differs between documents. */
type Kind = "whole" | "decimal" | "number" | "boolean";

interface Value {
  readonly kind: Kind;
  readonly register: Register;
}

/** Registers of one script: each holds a number for each document of a batch. */
const MAX_REGISTERS = 256;

const FRACTIONS: ReadonlySet<string> = new Set(["double", "float", "half_float", "scaled_float"]);
const WHOLE: ReadonlySet<string> = new Set(["long", "integer", "short", "byte"]);

/** Thrown within this file: the script isn't of the kind that steps can compute. */
class Unfit extends Error {}

/** A script that is bound to the columns of a segment. */
export class ColumnScript {
  readonly isBoolean: boolean;
  /** Whether results depend on scores. */
  readonly readsScore: boolean;
  /** A number for each document of the last run. */
  readonly values: Register;
  /** 1 for each document of the last run that the script itself must run on. */
  readonly unsure: Uint8Array;
  readonly #steps: readonly Step[];
  readonly #batch: Batch;

  private constructor({ kind, register }: Value, { steps, length, readsScore }: Binding) {
    this.isBoolean = kind === "boolean";
    this.readsScore = readsScore;
    this.values = register;
    this.unsure = new Uint8Array(length);
    this.#steps = steps;
    this.#batch = { docs: new Int32Array(length), scores: null, length: 0, unsure: this.unsure };
  }

  /** Returns undefined if the script or the segment isn't of the kind that steps can compute. */
  static bind(
    { compiled, params }: Script,
    shard: ShardContext,
    segment: SegmentReader,
  ): ColumnScript | undefined {
    const { functions, statements } = compiled.syntax;
    if (functions.length > 0 || segment.docCount === 0) return undefined;
    const binding = new Binding(params, shard, segment);
    try {
      const value = binding.statements(statements);
      return new ColumnScript(value, binding);
    } catch (error) {
      if (error instanceof Unfit || isTooDeep(error)) return undefined;
      throw error;
    }
  }

  /** Runs on documents (ascending, at most COLUMN_BLOCK). */
  run(docs: Int32Array, scores: Float64Array | null, length: number): void {
    const batch = this.#batch;
    batch.docs = docs;
    batch.scores = scores;
    batch.length = length;
    this.unsure.fill(0, 0, length);
    for (const step of this.#steps) step(batch);
  }
}

class Binding {
  readonly steps: Step[] = [];
  readsScore = false;
  readonly length: number;
  readonly #params: unknown;
  readonly #shard: ShardContext;
  readonly #segment: SegmentReader;
  #locals: ReadonlyMap<string, Value> = new Map();
  #registers = 0;

  constructor(params: unknown, shard: ShardContext, segment: SegmentReader) {
    this.#params = params;
    this.#shard = shard;
    this.#segment = segment;
    this.length = Math.min(COLUMN_BLOCK, segment.docCount);
  }

  /** Declarations, then a value or an `if` each of whose ways returns one. */
  statements([first, ...rest]: readonly Statement[]): Value {
    switch (first?.kind) {
      case "declaration": {
        if (first.value === undefined || first.type.dimensions > 0) throw new Unfit();
        const value = this.#declared(this.#expression(first.value), first.type.name);
        const outer = this.#locals;
        this.#locals = new Map([...outer, [first.name, value]]);
        const result = this.statements(rest);
        this.#locals = outer;
        return result;
      }
      case "if": {
        const test = this.#boolean(this.#expression(first.test));
        const yes = this.statements(first.yes.statements);
        const no = this.statements(first.no === undefined ? rest : [...first.no.statements, ...rest]);
        return this.#choice(test, yes, no);
      }
      case "return":
        if (first.value === undefined) throw new Unfit();
        return this.#expression(first.value);
      default:
        throw new Unfit();
    }
  }

  #declared(value: Value, type: string): Value {
    if (type === "def" || (type === "boolean" && value.kind === "boolean")) return value;
    if (type === "long" && value.kind === "whole") return value;
    if (type === "double" && (value.kind === "whole" || value.kind === "decimal"))
      return { ...value, kind: "decimal" };
    throw new Unfit();
  }

  #expression(expression: Expression): Value {
    switch (expression.kind) {
      case "constant":
        return this.#constant(expression.value);
      case "variable":
        return this.#variable(expression.name);
      case "member":
      case "brace":
      case "method":
      case "static-field":
      case "static-method":
        return this.#access(expression);
      case "unary":
        return this.#unary(expression.operator, expression.operand);
      case "binary":
        return this.#binary(expression);
      case "logical": {
        const a = this.#boolean(this.#expression(expression.left));
        const b = this.#boolean(this.#expression(expression.right));
        return this.#make("boolean", (out) => (expression.operator === "&&" ? andStep : orStep)(a, b, out));
      }
      case "condition": {
        const test = this.#boolean(this.#expression(expression.test));
        return this.#choice(test, this.#expression(expression.yes), this.#expression(expression.no));
      }
      case "cast": {
        const { name, dimensions } = expression.type;
        const value = this.#expression(expression.operand);
        if (dimensions > 0 || value.kind === "boolean") throw new Unfit();
        if (name === "double") return { ...value, kind: "decimal" };
        if (name === "long") return this.#whole((out) => mapStep(Math.trunc, value.register, out));
        throw new Unfit();
      }
      default:
        throw new Unfit();
    }
  }

  #constant(value: unknown): Value {
    if (typeof value === "boolean") return this.#filled("boolean", value ? 1 : 0);
    if (typeof value === "number" && Number.isSafeInteger(value)) return this.#filled("whole", value);
    if (value instanceof Decimal && !value.isFloat) return this.#filled("decimal", value.value);
    throw new Unfit();
  }

  #variable(name: string): Value {
    const local = this.#locals.get(name);
    if (local !== undefined) return local;
    if (name !== "_score") throw new Unfit();
    this.readsScore = true;
    return this.#make("decimal", scoreStep);
  }

  /** `doc['f'].value` and its like, `params.p`, `Math.f(…)`. */
  #access(expression: Expression): Value {
    const call = callOf(expression);
    switch (call?.of) {
      case "param":
        return this.#constant(fromJson(this.#param(call.path)));
      case "constant":
        return this.#constant(call.value);
      case "exists":
        return this.#constant(this.#shard.mapping.resolve(call.field) !== undefined);
      case "value":
        return this.#fieldValue(call.field);
      case "number":
        return this.#number(call.field);
      case "millis":
        return this.#millis(call.field);
      case "size":
        return this.#size(call.field, call.asEmpty);
      case "math":
        return this.#math(call.name, call.arguments);
      default:
        throw new Unfit();
    }
  }

  #param(path: readonly string[]): unknown {
    let value: unknown = this.#params;
    for (const name of path) {
      if (!isObject(value) || !Object.hasOwn(value, name)) throw new Unfit();
      value = value[name];
    }
    return value;
  }

  #field(name: string): Field {
    const field = this.#shard.mapping.resolve(name);
    if (field === undefined || !field.docValues) throw new Unfit();
    return field;
  }

  #fieldValue(name: string): Value {
    const field = this.#field(name);
    if (FRACTIONS.has(field.type)) return this.#column(field, "decimal");
    if (WHOLE.has(field.type)) return this.#column(field, "whole");
    if (field.type === "boolean") return this.#column(field, "boolean");
    throw new Unfit();
  }

  /** As an expression has it: a number with a fraction. */
  #number(name: string): Value {
    const field = this.#field(name);
    const isNumber = FRACTIONS.has(field.type) || WHOLE.has(field.type);
    if (!isNumber && field.type !== "boolean" && field.type !== "date") throw new Unfit();
    return this.#column(field, "decimal");
  }

  #millis(name: string): Value {
    const field = this.#field(name);
    if (field.type !== "date") throw new Unfit();
    return this.#column(field, "whole");
  }

  #column(field: Field, kind: Kind): Value {
    const column = this.#segment.numericColumn(field.path);
    if (column === null) return this.#filled(kind, 0);
    if (!column.safe) throw new Unfit();
    return this.#make(kind, (out) => columnStep(column, 0, out));
  }

  /** How many values there are, or whether there is none. */
  #size(name: string, asEmpty: boolean): Value {
    const field = this.#field(name);
    const kind: Kind = asEmpty ? "boolean" : "whole";
    const count = (isThere: boolean): number => Number(isThere !== asEmpty);
    if (field.type === "keyword") {
      const column = this.#segment.keywordColumn(field.path);
      if (column === null) return this.#filled(kind, count(false));
      if (column.multiValued && !asEmpty) throw new Unfit();
      return this.#make(kind, (out) => ordinalStep(column, (ordinal) => ordinal >= 0 !== asEmpty, out));
    }
    if (!FRACTIONS.has(field.type) && !WHOLE.has(field.type) && !/^(?:boolean|date)$/.test(field.type))
      throw new Unfit();
    const column = this.#segment.numericColumn(field.path);
    if (column === null) return this.#filled(kind, count(false));
    if (column.multiValued && !asEmpty) throw new Unfit();
    const values = this.#make(kind, (out) => columnStep(column, Number.NaN, out)).register;
    return this.#make(kind, (out) => mapStep((value) => count(!Number.isNaN(value)), values, out));
  }

  #math(name: string, given: readonly Expression[]): Value {
    const values = given.map((each) => this.#expression(each));
    const [a, b] = values;
    if (a === undefined || values.some(({ kind }) => kind === "boolean")) throw new Unfit();
    const real = REAL_FUNCTIONS.get(name);
    if (real !== undefined && values.length === 1)
      return this.#make("decimal", (out) => mapStep(real, a.register, out));
    if (name === "abs" && values.length === 1)
      return this.#make("decimal", (out) => mapStep(Math.abs, a.register, out));
    const pair = PAIR_FUNCTIONS.get(name);
    if (pair === undefined || b === undefined || values.length !== 2) throw new Unfit();
    return this.#make("decimal", (out) => pairStep(pair, a.register, b.register, out));
  }

  #unary(operator: string, operand: Expression): Value {
    const { kind, register } = this.#expression(operand);
    if (operator === "!" && kind === "boolean")
      return this.#make(kind, (out) => mapStep((value) => 1 - value, register, out));
    // A number of either kind: the sign of its zero isn't known.
    if (operator !== "-" || kind === "boolean" || kind === "number") throw new Unfit();
    const negated = (out: Register): Step => mapStep((value) => -value, register, out);
    return kind === "whole" ? this.#whole(negated) : this.#make(kind, negated);
  }

  #binary(expression: Extract<Expression, { kind: "binary" }>): Value {
    const constant = constantInt(expression);
    if (constant !== undefined) return this.#filled("whole", constant);
    const { operator, left, right } = expression;
    const equality = operator === "===" ? "==" : operator === "!==" ? "!=" : operator;
    if (equality === "==" || equality === "!=") {
      const text = this.#sameText(left, right) ?? this.#sameText(right, left);
      if (text !== undefined && equality === "==") return text;
      if (text !== undefined)
        return this.#make("boolean", (out) => mapStep((value) => 1 - value, text.register, out));
    }
    const [a, b] = [this.#expression(left), this.#expression(right)];
    const areBooleans = a.kind === "boolean" && b.kind === "boolean";
    if (isComparison(equality)) {
      const isEquality = equality === "==" || equality === "!=";
      if (areBooleans ? !isEquality : a.kind === "boolean" || b.kind === "boolean") throw new Unfit();
      return this.#make("boolean", (out) => comparisonStep(equality, a.register, b.register, out));
    }
    if (!isArithmetic(operator) || a.kind === "boolean" || b.kind === "boolean") throw new Unfit();
    const compute = (out: Register): Step => arithmeticStep(operator, a.register, b.register, out);
    if (a.kind === "decimal" || b.kind === "decimal") return this.#make("decimal", compute);
    if (a.kind === "whole" && b.kind === "whole") return this.#whole(compute);
    // What the division cuts isn't known before.
    if (operator === "/" || operator === "%") throw new Unfit();
    const sum = this.#make("number", compute);
    this.steps.push(exactStep(sum.register));
    return sum;
  }

  /** A keyword field compared with a text; undefined if it is another comparison. */
  #sameText(value: Expression, other: Expression): Value | undefined {
    const call = callOf(value);
    const text = literalText(other, (path) => this.#param(path));
    if (call?.of !== "value" || text === undefined || !text.isWellFormed()) return undefined;
    if (this.#field(call.field).type !== "keyword") return undefined;
    const column = this.#segment.keywordColumn(this.#field(call.field).path);
    const wanted = column === null ? -1 : column.ordOf(text);
    if (column === null || wanted < 0) return this.#filled("boolean", 0);
    return this.#make("boolean", (out) => ordinalStep(column, (ordinal) => ordinal === wanted, out));
  }

  #choice(test: Register, yes: Value, no: Value): Value {
    const kind = this.#joined(yes.kind, no.kind);
    return this.#make(kind, (out) => choiceStep(test, yes.register, no.register, out));
  }

  #joined(a: Kind, b: Kind): Kind {
    if (a === b) return a;
    if (a === "boolean" || b === "boolean") throw new Unfit();
    return "number";
  }

  #boolean({ kind, register }: Value): Register {
    if (kind !== "boolean") throw new Unfit();
    return register;
  }

  #whole(step: (out: Register) => Step): Value {
    const value = this.#make("whole", step);
    this.steps.push(wholeStep(value.register));
    return value;
  }

  #make(kind: Kind, step: (out: Register) => Step): Value {
    if (++this.#registers > MAX_REGISTERS) throw new Unfit();
    const register = new Float64Array(this.length);
    this.steps.push(step(register));
    return { kind, register };
  }

  /** The same for every document. */
  #filled(kind: Kind, value: number): Value {
    if (++this.#registers > MAX_REGISTERS) throw new Unfit();
    return { kind, register: new Float64Array(this.length).fill(value) };
  }
}
