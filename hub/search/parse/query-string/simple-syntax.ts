/**
 * The query language of `simple_query_string`, for search boxes: `+` and, `|` or, `-` not, `"phrase"~2`, `pre*`,
 * `fuzzy~1`, groups. Every text is valid.
 */

import { MAX_STRING_DEPTH, plainText, type StringClause, type StringNode } from "./syntax.ts";

/** Parts of the language that a request may turn off, in the order of their bits. */
export const SIMPLE_FLAGS = [
  "AND",
  "NOT",
  "OR",
  "PREFIX",
  "PHRASE",
  "PRECEDENCE",
  "ESCAPE",
  "WHITESPACE",
  "FUZZY",
  "SLOP",
] as const;

export type SimpleFlag = (typeof SIMPLE_FLAGS)[number];

/** Edits of a bare `~`. */
const MOST_EDITS = 2;

/** Parses a text of a search box; what is missing in `flags` is text like any other. */
export function parseSimple(
  source: string,
  defaultOperator: "or" | "and",
  flags: ReadonlySet<SimpleFlag> = new Set(SIMPLE_FLAGS),
): StringNode {
  return new SimpleParser(source, defaultOperator, flags).group(0);
}

class SimpleParser {
  readonly #source: string;
  readonly #defaultOperator: "or" | "and";
  readonly #flags: ReadonlySet<SimpleFlag>;
  readonly #termPattern: RegExp;
  readonly #phrasePattern: RegExp;
  #at = 0;

  constructor(source: string, defaultOperator: "or" | "and", flags: ReadonlySet<SimpleFlag>) {
    this.#source = source;
    this.#defaultOperator = defaultOperator;
    this.#flags = flags;
    this.#termPattern = termPattern(flags);
    this.#phrasePattern = phrasePattern(flags);
  }

  /** Reads clauses up to the end or the group's bracket. */
  group(depth: number): StringNode {
    let node: StringNode | undefined;
    let operator = this.#defaultOperator;
    let negated = false;
    while (this.#at < this.#source.length) {
      const character = this.#source[this.#at]!;
      if (character === ")" && this.#flags.has("PRECEDENCE")) {
        this.#at++;
        if (depth > 0) break;
        continue;
      }
      const joins = character === "+" ? "AND" : "OR";
      if (/\s/.test(character) && this.#flags.has("WHITESPACE")) this.#at++;
      else if ((character === "+" || character === "|") && this.#flags.has(joins)) {
        operator = character === "+" ? "and" : "or";
        this.#at++;
      } else if (character === "-" && this.#flags.has("NOT")) {
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
    const opensGroup = character === "(" && this.#flags.has("PRECEDENCE");
    if (opensGroup && depth < MAX_STRING_DEPTH) {
      this.#at++;
      const inner = this.group(depth + 1);
      return inner.kind === "group" && inner.clauses.length === 0 ? undefined : inner;
    }
    if (character === '"' && this.#flags.has("PHRASE")) {
      const match = this.#phrasePattern.exec(this.#source.slice(this.#at));
      if (match !== null) {
        this.#at += match[0].length;
        return { kind: "phrase", text: this.#plain(match[1]!), slop: Number(match[2] ?? 0) };
      }
      this.#at++;
      return undefined;
    }
    if (opensGroup) {
      this.#at++;
      return undefined;
    }
    return this.#term();
  }

  #term(): StringNode | undefined {
    const match = this.#termPattern.exec(this.#source.slice(this.#at));
    if (match === null) {
      this.#at++;
      return undefined;
    }
    this.#at += match[0].length;
    const raw = match[0];
    const isPattern = this.#flags.has("PREFIX") && raw.endsWith("*") && !raw.endsWith("\\*");
    if (isPattern && raw === "*") return { kind: "all" };
    if (isPattern) {
      const start = this.#plain(raw.slice(0, -1));
      return { kind: "wildcard", pattern: `${start.replace(/[*?\\]/g, "\\$&")}*` };
    }
    const fuzzy = this.#flags.has("FUZZY") ? /^(.+)~(\d)?$/s.exec(raw) : null;
    if (fuzzy === null) return { kind: "text", text: this.#plain(raw) };
    const edits = Math.min(MOST_EDITS, Number(fuzzy[2] ?? MOST_EDITS));
    return { kind: "text", text: this.#plain(fuzzy[1]!), fuzziness: String(edits) };
  }

  #plain(text: string): string {
    return this.#flags.has("ESCAPE") ? plainText(text) : text;
  }
}

/** A phrase ends at the next quote; with ESCAPE not at one after a backslash. */
function phrasePattern(flags: ReadonlySet<SimpleFlag>): RegExp {
  const inside = flags.has("ESCAPE") ? String.raw`(?:\\.|[^"\\])*` : `[^"]*`;
  const slop = flags.has("SLOP") ? String.raw`(?:~(\d{1,9}))?` : "";
  return new RegExp(`^"(${inside})"${slop}`, "s");
}

/** What a term may consist of: everything that isn't an operator. */
function termPattern(flags: ReadonlySet<SimpleFlag>): RegExp {
  const ends = [
    flags.has("WHITESPACE") ? "\\s" : "",
    flags.has("PHRASE") ? '"' : "",
    flags.has("PRECEDENCE") ? "()" : "",
    flags.has("OR") ? "|" : "",
    flags.has("AND") ? "+" : "",
    flags.has("ESCAPE") ? "\\\\" : "",
  ].join("");
  const plain = ends === "" ? "[^]" : `[^${ends}]`;
  return new RegExp(`^(?:${flags.has("ESCAPE") ? "\\\\.|" : ""}${plain})+`, "su");
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
