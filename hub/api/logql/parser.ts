/** Reads LogQL queries. The part of the language that is offered is listed in docs/grafana.md. */

import { durationMs } from "./lexer.ts";
import { readStage } from "./stage-parser.ts";
import {
  type Grouping,
  type LogQuery,
  type LokiQuery,
  type Matcher,
  type MetricQuery,
  RANGE_FUNCTIONS,
  type Stage,
  VECTOR_FUNCTIONS,
} from "./syntax.ts";
import { TokenCursor } from "./token-cursor.ts";

/** Binding of operators between numbers, the strongest last. */
const BINDING: readonly (readonly string[])[] = [
  ["==", "!=", ">", ">=", "<", "<="],
  ["+", "-"],
  ["*", "/", "%"],
  ["^"],
];

/** Returns the tree of a query. Throws request_invalid in the words of Loki. */
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
    const stages: Stage[] = [];
    while (
      this.isSymbol("|") ||
      this.isSymbol("|=") ||
      this.isSymbol("|~") ||
      this.isSymbol("!=") ||
      this.isSymbol("!~")
    )
      stages.push(readStage(this));
    return { kind: "log", matchers, stages };
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
    while (this.token.kind === "symbol" && BINDING[level]!.includes(this.token.text)) {
      const operator = this.takeOperator().text;
      if (this.isName("bool")) this.take();
      if (this.isName("on") || this.isName("ignoring"))
        throw this.fault(
          `${this.token.text} isn't offered: write numbers beside a query, or two queries in Grafana`,
        );
      left = { kind: "binary", operator, left, right: this.metric(level + 1, depth + 1) };
    }
    return left;
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
    if (RANGE_FUNCTIONS.has(name)) return this.#range(this.take().text);
    if (VECTOR_FUNCTIONS.has(name)) return this.#vector(this.take().text, depth);
    throw this.fault(`the function ${name} isn't offered`);
  }

  #vectorOf(): MetricQuery {
    this.take();
    this.expect("(");
    const value = Number(this.expectKind("number", "NUMBER"));
    this.expect(")");
    return { kind: "number", value, isVector: true };
  }

  #range(name: string): MetricQuery {
    this.expect("(");
    const isInner = this.accept("(");
    const selected = this.log();
    if (isInner) this.expect(")");
    this.expect("[");
    const rangeMs = durationMs(this.expectKind("duration", "DURATION"));
    this.expect("]");
    // What stands behind the range belongs before it.
    const stages = [...selected.stages];
    while (
      this.isSymbol("|") ||
      this.isSymbol("|=") ||
      this.isSymbol("|~") ||
      this.isSymbol("!=") ||
      this.isSymbol("!~")
    )
      stages.push(readStage(this));
    let offsetMs = 0;
    if (this.isName("offset")) {
      this.take();
      offsetMs = durationMs(this.expectKind("duration", "DURATION"));
    }
    this.expect(")");
    const needsValue = /^(?:sum|avg|min|max)_over_time$/.test(name);
    if (needsValue !== stages.some(({ kind }) => kind === "unwrap"))
      throw this.fault(
        needsValue ? `invalid aggregation ${name} without unwrap` : `invalid aggregation ${name} with unwrap`,
      );
    const log: LogQuery = { ...selected, stages };
    return { kind: "range", name, log, rangeMs, offsetMs, grouping: this.#grouping() };
  }

  #vector(name: string, depth: number): MetricQuery {
    const before = this.#grouping();
    this.expect("(");
    let count = 0;
    if (name === "topk" || name === "bottomk") {
      count = Number(this.expectKind("number", "NUMBER"));
      this.expect(",");
    }
    const inner = this.metric(0, depth + 1);
    this.expect(")");
    return { kind: "vector", name, count, grouping: before ?? this.#grouping(), inner };
  }

  #grouping(): Grouping | undefined {
    if (!this.isName("by") && !this.isName("without")) return undefined;
    const without = this.take().text === "without";
    this.expect("(");
    const labels: string[] = [];
    while (!this.isSymbol(")")) {
      if (labels.length > 0) this.expect(",");
      labels.push(this.expectKind("name", "IDENTIFIER"));
    }
    this.expect(")");
    return { without, labels };
  }
}

/** Whether a matcher also fits what has no such label. */
function matchesNothing({ operator, value }: Matcher): boolean {
  if (operator === "=") return value === "";
  if (operator === "=~") return value === "" || value === ".*";
  return operator === "!=" ? value !== "" : true;
}
