/**
 * The query language of `simple_query_string`, for search boxes: `+` and, `|` or, `-` not, `"phrase"~2`, `pre*`,
 * `fuzzy~1`, groups. Every text is valid.
 */

import { MAX_STRING_DEPTH, plainText, type StringClause, type StringNode } from "./syntax.ts";

/** Parses a text of a search box. */
export function parseSimple(source: string, defaultOperator: "or" | "and"): StringNode {
  return new SimpleParser(source, defaultOperator).group(0);
}

class SimpleParser {
  readonly #source: string;
  readonly #defaultOperator: "or" | "and";
  #at = 0;

  constructor(source: string, defaultOperator: "or" | "and") {
    this.#source = source;
    this.#defaultOperator = defaultOperator;
  }

  /** Reads clauses up to the end or the group's bracket. */
  group(depth: number): StringNode {
    let node: StringNode | undefined;
    let operator = this.#defaultOperator;
    let negated = false;
    while (this.#at < this.#source.length) {
      const character = this.#source[this.#at]!;
      if (character === ")") {
        this.#at++;
        if (depth > 0) break;
        continue;
      }
      if (/\s/.test(character)) this.#at++;
      else if (character === "+" || character === "|") {
        operator = character === "+" ? "and" : "or";
        this.#at++;
      } else if (character === "-") {
        negated = !negated;
        this.#at++;
      } else {
        const read = this.#value(character, depth);
        if (read !== undefined) {
          node = join(
            node,
            negated ? { kind: "group", clauses: [{ occur: "mustNot", node: read }] } : read,
            operator,
          );
        }
        operator = this.#defaultOperator;
        negated = false;
      }
    }
    return node ?? { kind: "group", clauses: [] };
  }

  #value(character: string, depth: number): StringNode | undefined {
    if (character === "(" && depth < MAX_STRING_DEPTH) {
      this.#at++;
      const inner = this.group(depth + 1);
      return inner.kind === "group" && inner.clauses.length === 0 ? undefined : inner;
    }
    if (character === '"') {
      const match = /^"((?:\\.|[^"\\])*)"(?:~(\d{1,9}))?/s.exec(this.#source.slice(this.#at));
      if (match !== null) {
        this.#at += match[0].length;
        return { kind: "phrase", text: plainText(match[1]!), slop: Number(match[2] ?? 0) };
      }
      this.#at++;
      return undefined;
    }
    if (character === "(") {
      this.#at++;
      return undefined;
    }
    return this.#term();
  }

  #term(): StringNode | undefined {
    const match = /^(?:\\.|[^\s"()|+\\])+/su.exec(this.#source.slice(this.#at));
    if (match === null) {
      this.#at++;
      return undefined;
    }
    this.#at += match[0].length;
    const raw = match[0];
    if (raw === "*") return { kind: "all" };
    if (raw.endsWith("*") && !raw.endsWith("\\*")) {
      const start = plainText(raw.slice(0, -1));
      return { kind: "wildcard", pattern: `${start.replace(/[*?\\]/g, "\\$&")}*` };
    }
    const fuzzy = /^(.+)~(\d)?$/s.exec(raw);
    if (fuzzy === null) return { kind: "text", text: plainText(raw) };
    return {
      kind: "text",
      text: plainText(fuzzy[1]!),
      fuzziness: fuzzy[2] === undefined ? "AUTO" : String(Math.min(2, Number(fuzzy[2]))),
    };
  }
}

/** Puts a clause beside those read so far; a run of one operator stays one group. */
function join(node: StringNode | undefined, next: StringNode, operator: "or" | "and"): StringNode {
  if (node === undefined) return next;
  const occur: StringClause["occur"] = operator === "and" ? "must" : "should";
  const same =
    node.kind === "group" &&
    node.boost === undefined &&
    node.clauses.length > 1 &&
    node.clauses.every((clause) => clause.occur === occur);
  const clauses = same ? node.clauses : [{ occur, node }];
  return { kind: "group", clauses: [...clauses, { occur, node: next }] };
}
