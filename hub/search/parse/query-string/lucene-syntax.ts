/**
 * The query language of `query_string`: `status:[400 TO 499] AND NOT path:"/health" user:jo*`. As in Lucene's
 * classic parser AND and OR change the clauses at their sides and have no precedence.
 */

import { AppError } from "#proto/kit/errors.ts";
import {
  MAX_STRING_DEPTH,
  plainText,
  type StringBound,
  type StringClause,
  type StringNode,
} from "./syntax.ts";

type Operator = "and" | "or" | "none";

interface OpenClause {
  occur: StringClause["occur"];
  readonly node: StringNode;
}

/** Characters that end an unquoted term. */
const TERM_END = /[\s()[\]{}"^~]/;

/** Parses a query string. Throws parsing with the position of the fault. */
export function parseLucene(source: string, defaultOperator: "or" | "and"): StringNode {
  return new LuceneParser(source, defaultOperator).parse();
}

class LuceneParser {
  readonly #source: string;
  readonly #defaultOperator: "or" | "and";
  #at = 0;
  #depth = 0;
  /** Within `field:( … )`, where comparisons are read. */
  #isInNamedGroup = false;

  constructor(source: string, defaultOperator: "or" | "and") {
    this.#source = source;
    this.#defaultOperator = defaultOperator;
  }

  parse(): StringNode {
    const node = this.#group();
    if (this.#at < this.#source.length) throw this.#fault(`unexpected "${this.#source[this.#at]}"`);
    return node;
  }

  #group(): StringNode {
    if (++this.#depth > MAX_STRING_DEPTH) throw this.#fault("too many nested groups");
    const clauses: OpenClause[] = [];
    for (this.#space(); this.#at < this.#source.length && this.#source[this.#at] !== ")"; this.#space()) {
      const words = this.#adjacentWords();
      if (words.length > 1) {
        this.#add(clauses, "none", "", { kind: "text", text: words.join(" "), words });
        continue;
      }
      const operator = clauses.length === 0 ? "none" : this.#operator();
      this.#space();
      const modifier = this.#modifier();
      this.#space();
      this.#add(clauses, operator, modifier, this.#clause());
    }
    this.#depth--;
    const [only] = clauses;
    const isGroup = only?.node.kind === "text" && only.node.words !== undefined;
    if (clauses.length === 1 && only !== undefined && only.occur !== "mustNot" && !isGroup) return only.node;
    return { kind: "group", clauses };
  }

  /** Adds a clause; AND and OR also change the one before it. */
  #add(clauses: OpenClause[], operator: Operator, modifier: "+" | "-" | "", node: StringNode): void {
    const before = clauses.at(-1);
    if (before !== undefined && before.occur !== "mustNot") {
      if (operator === "and") before.occur = "must";
      if (operator === "or" && this.#defaultOperator === "and") before.occur = "should";
    }
    const requires = this.#defaultOperator === "and" ? operator !== "or" : operator === "and";
    clauses.push({
      occur: modifier === "-" ? "mustNot" : modifier === "+" || requires ? "must" : "should",
      node,
    });
  }

  /** Reads two or more plain words without anything between them, as Lucene's `MultiTerm`; else nothing. */
  #adjacentWords(): string[] {
    const start = this.#at;
    const words: string[] = [];
    for (let word = this.#plainWord(); word !== undefined; word = this.#plainWord()) words.push(word);
    if (words.length > 1) return words;
    this.#at = start;
    return [];
  }

  /** Reads a word that isn't an operator and has none, with the space after it; what follows must not change it. */
  #plainWord(): string | undefined {
    const start = this.#at;
    const character = this.#source[start];
    if (character === undefined || /[+\-!/<>]/.test(character) || this.#isOperator(true)) return undefined;
    const raw = this.#rawTerm(false);
    const isPlain = raw !== "" && !/(?:^|[^\\])(?:\\\\)*[*?]/.test(raw);
    const after = this.#source[this.#at];
    this.#space();
    const next = this.#source[this.#at];
    const isStar = next === "*" && !/[^\s)]/.test(this.#source[this.#at + 1] ?? " ");
    const isAlone = after !== "~" && after !== "^" && next !== ":" && !isStar;
    if (isPlain && isAlone && !this.#isOperator(false)) return plainText(raw);
    this.#at = start;
    return undefined;
  }

  /** Returns true if AND, OR or, with `orNot`, NOT comes next. */
  #isOperator(orNot: boolean): boolean {
    const here = this.#source.slice(this.#at, this.#at + 4);
    return /^(?:AND|OR)(?![^\s("])|^(?:&&|\|\|)/.test(here) || (orNot && /^NOT(?![^\s("])/.test(here));
  }

  #operator(): Operator {
    if (this.#word("AND") || this.#take("&&")) return "and";
    if (this.#word("OR") || this.#take("||")) return "or";
    return "none";
  }

  #modifier(): "+" | "-" | "" {
    if (this.#take("+")) return "+";
    if (this.#take("-") || this.#take("!") || this.#word("NOT")) return "-";
    return "";
  }

  #clause(): StringNode {
    const field = this.#fieldName();
    const node = this.#value(field !== undefined);
    const boost = this.#boost();
    const named = field === undefined ? node : this.#named(field, node);
    return boost === undefined ? named : { ...named, boost };
  }

  #named(field: string, node: StringNode): StringNode {
    if (field === "_exists_" && node.kind === "text") return { kind: "exists", field: node.text };
    if (node.kind === "wildcard" && node.pattern === "*") {
      return field === "*" ? { kind: "all" } : { kind: "exists", field };
    }
    if (node.kind !== "group") return { field, ...node };
    return {
      ...node,
      clauses: node.clauses.map((clause) => ({ ...clause, node: this.#inherit(field, clause.node) })),
    };
  }

  /** A field before a group is that of all its clauses without one. */
  #inherit(field: string, node: StringNode): StringNode {
    return node.field !== undefined || node.kind === "all" ? node : this.#named(field, node);
  }

  /** Reads `name:` if there is one. */
  #fieldName(): string | undefined {
    const match = /^((?:\\.|[^\s()[\]{}"^~:+!/\\-])(?:\\.|[^\s()[\]{}"^~:\\])*)\s*:/su.exec(
      this.#source.slice(this.#at, this.#at + 1000),
    );
    if (match === null) return undefined;
    this.#at += match[0].length;
    this.#space();
    return plainText(match[1]!);
  }

  #value(named: boolean): StringNode {
    const character = this.#source[this.#at];
    if (character === undefined) throw this.#fault("a term is missing at the end");
    if (character === "(") return this.#nested(named);
    if (character === '"') return this.#phrase();
    if (character === "[" || character === "{") return this.#range();
    if (character === "/") return this.#regexp();
    const isNamed = named || this.#isInNamedGroup;
    if (isNamed && (character === "<" || character === ">")) return this.#comparison();
    return this.#term(named);
  }

  #nested(named: boolean): StringNode {
    this.#at++;
    const before = this.#isInNamedGroup;
    this.#isInNamedGroup ||= named;
    const node = this.#group();
    this.#isInNamedGroup = before;
    if (!this.#take(")")) throw this.#fault('expected ")"');
    return node.kind === "group" ? node : { kind: "group", clauses: [{ occur: "should", node }] };
  }

  #quoted(): string {
    const start = ++this.#at;
    for (; this.#at < this.#source.length; this.#at++) {
      if (this.#source[this.#at] === "\\") this.#at++;
      else if (this.#source[this.#at] === '"') return plainText(this.#source.slice(start, this.#at++));
    }
    throw this.#fault("expected a closing quote");
  }

  #phrase(): StringNode {
    const text = this.#quoted();
    const slop = this.#take("~") ? Number(this.#digits() || 0) : 0;
    return { kind: "phrase", text, slop: Math.trunc(slop) };
  }

  #range(): StringNode {
    const fromInclusive = this.#source[this.#at++] === "[";
    const from = this.#endpoint();
    if (!this.#word("TO")) throw this.#fault("expected TO");
    const to = this.#endpoint();
    const end = this.#source[this.#at++];
    if (end !== "]" && end !== "}") throw this.#fault('expected "]" or "}"');
    return bounded(from, fromInclusive, to, end === "]");
  }

  #endpoint(): string {
    this.#space();
    if (this.#source[this.#at] === '"') {
      const text = this.#quoted();
      this.#space();
      return text;
    }
    const match = /^(?:\\.|[^\s\]}])+/su.exec(this.#source.slice(this.#at, this.#at + 1000));
    if (match === null) throw this.#fault("a bound is missing");
    this.#at += match[0].length;
    this.#space();
    return plainText(match[0]);
  }

  /** `field:>=10`. */
  #comparison(): StringNode {
    const below = this.#source[this.#at++] === "<";
    const inclusive = this.#take("=");
    this.#space();
    const value = this.#source[this.#at] === '"' ? this.#quoted() : this.#endpointTerm();
    return below ? bounded("*", true, value, inclusive) : bounded(value, inclusive, "*", true);
  }

  #endpointTerm(): string {
    const raw = this.#rawTerm(true);
    if (raw === "") throw this.#fault("a bound is missing");
    return plainText(raw);
  }

  #regexp(): StringNode {
    const start = ++this.#at;
    for (; this.#at < this.#source.length; this.#at++) {
      if (this.#source[this.#at] === "\\") this.#at++;
      else if (this.#source[this.#at] === "/") {
        return { kind: "regexp", source: this.#source.slice(start, this.#at++).replaceAll("\\/", "/") };
      }
    }
    throw this.#fault('expected a closing "/"');
  }

  #term(named: boolean): StringNode {
    const raw = this.#rawTerm(named);
    if (raw === "") throw this.#fault(`unexpected "${this.#source[this.#at]}"`);
    if (/(?:^|[^\\])(?:\\\\)*[*?]/.test(raw)) return { kind: "wildcard", pattern: raw };
    const text = plainText(raw);
    if (!this.#take("~")) return { kind: "text", text };
    return { kind: "text", text, fuzziness: fuzzinessOf(this.#digits()) };
  }

  /** Reads up to the end of an unquoted term; after a field's name it may hold colons. */
  #rawTerm(named: boolean): string {
    const start = this.#at;
    for (; this.#at < this.#source.length; this.#at++) {
      const character = this.#source[this.#at]!;
      if (character === "\\") {
        if (++this.#at >= this.#source.length) throw this.#fault("a backslash at the end");
      } else if (TERM_END.test(character) || (character === ":" && !named)) break;
    }
    return this.#source.slice(start, this.#at);
  }

  #boost(): number | undefined {
    if (!this.#take("^")) return undefined;
    const digits = this.#digits();
    if (digits === "") throw this.#fault("expected a number behind ^");
    return Number(digits);
  }

  #digits(): string {
    const match = /^\d+(?:\.\d+)?/.exec(this.#source.slice(this.#at, this.#at + 32));
    this.#at += match?.[0].length ?? 0;
    return match?.[0] ?? "";
  }

  #space(): void {
    while (this.#at < this.#source.length && /\s/.test(this.#source[this.#at]!)) this.#at++;
  }

  #take(text: string): boolean {
    if (!this.#source.startsWith(text, this.#at)) return false;
    this.#at += text.length;
    return true;
  }

  #word(word: string): boolean {
    const after = this.#source[this.#at + word.length];
    if (!this.#source.startsWith(word, this.#at) || (after !== undefined && !/[\s("]/.test(after)))
      return false;
    this.#at += word.length;
    return true;
  }

  #fault(why: string): AppError {
    return new AppError(
      "query_shard",
      `Failed to parse query [${this.#source}]: ${why} at character ${this.#at}`,
    );
  }
}

function bounded(from: string, fromInclusive: boolean, to: string, toInclusive: boolean): StringNode {
  const bound = (value: string, inclusive: boolean): StringBound | undefined =>
    value === "*" ? undefined : { value, inclusive };
  const low = bound(from, fromInclusive);
  const high = bound(to, toInclusive);
  return {
    kind: "range",
    ...(low === undefined ? {} : { from: low }),
    ...(high === undefined ? {} : { to: high }),
  };
}

/** Similarities below 1, the old way of writing, count as AUTO. */
function fuzzinessOf(digits: string): string {
  const edits = Number(digits);
  return digits === "" || (edits > 0 && edits < 1) ? "AUTO" : String(Math.min(2, Math.trunc(edits)));
}
