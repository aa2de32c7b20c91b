/** Parses LogQL queries. docs/grafana.md lists the supported part of the language. */

import { wholeExpression } from "./expressions.ts";
import { durationMs, TokenCursor } from "./lexer.ts";
import { readStage } from "./stage-parser.ts";
import {
  type Grouping,
  type LogQuery,
  type LokiQuery,
  type Matcher,
  type Matching,
  type MetricQuery,
  RANGE_FUNCTIONS,
  type Stage,
  VECTOR_FUNCTIONS,
} from "./syntax.ts";

/** Binary operators by precedence, the strongest last. */
const BINDING: readonly (readonly string[])[] = [
  ["or"],
  ["and", "unless"],
  ["==", "!=", ">", ">=", "<", "<="],
  ["+", "-"],
  ["*", "/", "%"],
  ["^"],
];

/** Beginnings of filters and stages. */
const STAGE_SYMBOLS = ["|", "|=", "|~", "|>", "!=", "!~", "!>"] as const;

/** Functions over ranges that group; others are grouped by a function over series. */
const GROUPING = /^(?:avg|stddev|stdvar|quantile|max|min|first|last)_over_time$/;

/** Answered as `topk`, which counts exactly. */
const APPROXIMATE = "approx_topk";

const POWER = BINDING.length - 1;
const SETS: ReadonlySet<string> = new Set(["or", "and", "unless"]);
const COMPARISONS: ReadonlySet<string> = new Set(["==", "!=", ">", ">=", "<", "<="]);

/** Returns the tree of a query. Throws request_invalid with Loki's wording. */
export function parseLogQl(text: string): LokiQuery {
  const reader = new QueryReader(text);
  const query = reader.isSymbol("{") ? reader.log() : reader.metric(0, 0);
  if (reader.token.kind !== "end") throw reader.unexpected();
  return query;
}

/** Reads the matchers of `{a="b"}`. Throws request_invalid. */
export function parseSelector(text: string): readonly Matcher[] {
  const reader = new QueryReader(text);
  const matchers = reader.matchers();
  if (reader.token.kind !== "end") throw reader.unexpected();
  return matchers;
}

/** Reads a query from its start to its end. */
class QueryReader extends TokenCursor {
  log(): LogQuery {
    const matchers = this.matchers();
    if (matchers.length > 0 && matchers.every(matchesNothing))
      throw this.fault(
        "queries require at least one regexp or equality matcher that does not have an empty-compatible value",
      );
    return { kind: "log", matchers, stages: this.stages() };
  }

  /** Reads the stages that follow. */
  stages(): Stage[] {
    const stages: Stage[] = [];
    while (STAGE_SYMBOLS.some((symbol) => this.isSymbol(symbol))) stages.push(readStage(this));
    return stages;
  }

  matchers(): Matcher[] {
    this.expect("{");
    const matchers: Matcher[] = [];
    while (!this.isSymbol("}")) {
      if (matchers.length > 0) this.expect(",");
      const label = this.expectKind("name", "IDENTIFIER");
      const operator = this.take();
      if (!["=", "!=", "=~", "!~"].includes(operator.text))
        throw this.faultAt(operator, `unexpected ${operator.text}, expecting = or != or =~ or !~`);
      const value = this.expectKind("text", "STRING");
      matchers.push({ label, operator: operator.text as Matcher["operator"], value });
    }
    this.expect("}");
    return matchers;
  }

  /** Reads operators that bind at least as strongly as `level`. */
  metric(level: number, depth: number): MetricQuery {
    this.checkDepth(depth);
    if (level === BINDING.length) return this.#operand(depth);
    let left = this.metric(level + 1, depth);
    while (this.token.kind !== "text" && BINDING[level]!.includes(this.token.text)) {
      const { text: operator } = this.takeOperator();
      const isBool = this.#acceptBool(operator);
      const matching = this.#matching(operator);
      // Powers are right-associative: 2^3^2 is 2^9.
      const right = this.metric(level === POWER ? level : level + 1, depth + 1);
      if (SETS.has(operator) && (isNumber(left) || isNumber(right)))
        throw this.fault(`unexpected literal for ${operator}: it needs series on both sides`);
      left = { kind: "binary", operator, left, right, matching, isBool };
    }
    return left;
  }

  #acceptBool(operator: string): boolean {
    if (!this.isName("bool")) return false;
    if (!COMPARISONS.has(operator)) throw this.unexpected();
    this.take();
    return true;
  }

  #matching(operator: string): Matching | undefined {
    if (!this.isName("on") && !this.isName("ignoring")) return undefined;
    const on = this.take().text === "on";
    const labels = this.#labels();
    if (!this.isName("group_left") && !this.isName("group_right"))
      return { on, labels, many: undefined, include: [] };
    if (SETS.has(operator)) throw this.fault(`no grouping allowed for "${operator}" operation`);
    const many = this.take().text === "group_left" ? "left" : "right";
    return { on, labels, many, include: this.isSymbol("(") ? this.#labels() : [] };
  }

  #operand(depth: number): MetricQuery {
    if (this.accept("(")) {
      const inner = this.metric(0, depth + 1);
      this.expect(")");
      return inner;
    }
    const isNegative = this.accept("-");
    if (this.token.kind === "number") {
      const value = Number(this.take().text);
      return { kind: "number", value: isNegative ? -value : value, isVector: false };
    }
    if (this.token.kind !== "name") throw this.unexpected();
    const name = this.token.text;
    if (name === "vector") return this.#vectorOf();
    if (name === "label_replace") return this.#labelReplace(depth);
    if (RANGE_FUNCTIONS.has(name)) return this.#range(this.take().text);
    if (VECTOR_FUNCTIONS.has(name) || name === APPROXIMATE) return this.#vector(this.take().text, depth);
    throw this.fault(`the function ${name} isn't offered`);
  }

  #vectorOf(): MetricQuery {
    this.take();
    this.expect("(");
    const value = Number(this.expectKind("number", "NUMBER"));
    this.expect(")");
    return { kind: "number", value, isVector: true };
  }

  #labelReplace(depth: number): MetricQuery {
    this.take();
    this.expect("(");
    const inner = this.metric(0, depth + 1);
    const texts = Array.from({ length: 4 }, () => {
      this.expect(",");
      return this.expectKind("text", "STRING");
    });
    this.expect(")");
    const [label, replacement, from, expression] = texts as [string, string, string, string];
    if (!/^[A-Za-z_]\w*$/.test(label))
      throw this.fault(`invalid destination label name in label_replace: ${label.slice(0, 100)}`);
    wholeExpression(expression);
    return { kind: "label_replace", inner, label, replacement, from, expression };
  }

  #range(name: string): MetricQuery {
    this.expect("(");
    let quantile = 0;
    if (name === "quantile_over_time") {
      quantile = Number(this.expectKind("number", "NUMBER"));
      this.expect(",");
    }
    const isInner = this.accept("(");
    const selected = this.log();
    if (isInner) this.expect(")");
    this.expect("[");
    const rangeMs = durationMs(this.expectKind("duration", "DURATION"));
    this.expect("]");
    // Stages after the range are applied before it.
    const stages = [...selected.stages, ...this.stages()];
    let offsetMs = 0;
    if (this.isName("offset")) {
      this.take();
      const sign = this.accept("-") ? -1 : 1;
      offsetMs = sign * durationMs(this.expectKind("duration", "DURATION"));
    }
    this.expect(")");
    const unwraps = stages.some(({ kind }) => kind === "unwrap");
    const counted = RANGE_FUNCTIONS.get(name);
    if (counted === (unwraps ? "counts lines" : "needs unwrap"))
      throw this.fault(`invalid aggregation ${name} ${unwraps ? "with" : "without"} unwrap`);
    const log: LogQuery = { ...selected, stages };
    const grouping = this.#grouping();
    if (grouping !== undefined && !GROUPING.test(name))
      throw this.fault(`grouping not allowed for ${name} aggregation`);
    return { kind: "range", name, log, rangeMs, offsetMs, quantile, grouping };
  }

  #vector(name: string, depth: number): MetricQuery {
    const before = this.#grouping();
    if (before !== undefined && (name.startsWith("sort") || name === APPROXIMATE))
      throw this.fault(`grouping is not allowed for ${name}`);
    this.expect("(");
    let count = 0;
    if (name.endsWith("topk") || name === "bottomk") {
      const text = this.expectKind("number", "NUMBER");
      count = Number(text);
      if (!/^\d+$/.test(text) || count === 0) throw this.fault(`invalid parameter ${name}(${text},`);
      this.expect(",");
    }
    const inner = this.metric(0, depth + 1);
    this.expect(")");
    const grouping = before ?? this.#grouping();
    return { kind: "vector", name: name === APPROXIMATE ? "topk" : name, count, grouping, inner };
  }

  #grouping(): Grouping | undefined {
    if (!this.isName("by") && !this.isName("without")) return undefined;
    const without = this.take().text === "without";
    return { without, labels: this.#labels() };
  }

  #labels(): string[] {
    this.expect("(");
    const labels: string[] = [];
    while (!this.isSymbol(")")) {
      if (labels.length > 0) this.expect(",");
      labels.push(this.expectKind("name", "IDENTIFIER"));
    }
    this.expect(")");
    return labels;
  }
}

function isNumber(query: MetricQuery): boolean {
  return query.kind === "number" && !query.isVector;
}

/** Returns true if a matcher also matches lines without the label. */
function matchesNothing({ operator, value }: Matcher): boolean {
  if (operator === "=") return value === "";
  if (operator === "=~") return value === "" || value === ".*";
  return operator === "!=" ? value !== "" : true;
}
