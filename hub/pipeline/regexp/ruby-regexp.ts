/**
 * Ruby (Onigmo) regular expressions on JavaScript's engine: atomic groups and possessive repetition by look-ahead and
 * back-reference, names by number, captures in a repetition found again in what the repetition took.
 */

import { parseRegexp } from "./regexp-parser.ts";
import { hasCapture, RegexpFault, type RegexpNode } from "./regexp-tree.ts";
import { beginsWithAnything, holdsLiterals, requiredLiterals } from "./required-literals.ts";

export { RegexpFault } from "./regexp-tree.ts";

export interface RubyRegexpOptions {
  /** `.` matches a newline too (Ruby's m), as grok wants it. */
  readonly dotAll?: boolean;
  /** Names given to groups; without any named group unnamed ones capture under their number. */
  readonly unnamedCapture?: boolean;
}

/** A group that captures under `name`: number in the match. */
interface Capture {
  readonly name: string;
  readonly group: number;
}

/** A repetition that holds captures; JavaScript forgets them at each round, Ruby keeps the last. */
interface Repetition {
  /** Group of all that was repeated. */
  readonly group: number;
  /** One round. */
  readonly inner: RubyRegexp;
}

interface Emitted {
  readonly source: string;
  readonly captures: readonly Capture[];
  readonly repetitions: readonly Repetition[];
  readonly unicode: boolean;
}

/** Called for each capture that took part, in the order of the expression. */
export type CaptureVisitor = (name: string, value: string) => void;

export class RubyRegexp {
  readonly #captures: readonly Capture[];
  readonly #repetitions: readonly Repetition[];
  readonly #flags: string;
  readonly #literals: readonly string[];
  /** For subjects of one line: there ^ and $ are the subject's ends, which the engine knows how to use. */
  readonly #oneLine: RegExp;
  readonly #lines: string;
  #manyLines: RegExp | undefined;

  constructor(tree: RegexpNode, options: RubyRegexpOptions, sticky = false) {
    const emitted = new Emitter(options, "^", "$").emit(tree);
    // The engine would try `.*` anew from each character of a text that doesn't match.
    const anchor = (source: string): string =>
      options.dotAll === true && !sticky && beginsWithAnything(tree) ? `^(?:${source})` : source;
    this.#captures = emitted.captures;
    this.#repetitions = emitted.repetitions;
    this.#flags = (options.dotAll ? "s" : "") + (emitted.unicode ? "u" : "") + (sticky ? "y" : "");
    this.#literals = requiredLiterals(tree);
    this.#oneLine = compile(anchor(emitted.source), this.#flags);
    this.#lines = anchor(new Emitter(options, "(?<![^\\n])", "(?![^\\n])").emit(tree).source);
  }

  /** The expression that fits `subject`. Its groups are those that `visit` knows. */
  expression(subject: string): RegExp {
    if (!subject.includes("\n")) return this.#oneLine;
    this.#manyLines ??= compile(this.#lines, this.#flags);
    return this.#manyLines;
  }

  /** False where `subject` can't match, as it lacks a text that every match holds. */
  mayMatch(subject: string): boolean {
    return holdsLiterals(subject, this.#literals);
  }

  /** Names of all captures, in their order. */
  get names(): readonly string[] {
    return [
      ...this.#captures.map(({ name }) => name),
      ...this.#repetitions.flatMap(({ inner }) => inner.names),
    ];
  }

  /** JavaScript source for subjects of any number of lines. */
  get source(): string {
    return this.#lines;
  }

  /** Tells the captures of a match that `expression` gave. */
  visit(match: RegExpExecArray, visitor: CaptureVisitor): void {
    for (const { name, group } of this.#captures) {
      const value = match[group];
      if (value !== undefined) visitor(name, value);
    }
    for (const { group, inner } of this.#repetitions) {
      const value = match[group];
      if (value !== undefined && value !== "") inner.#visitLast(value, visitor);
    }
  }

  /** Tells the captures of the last round in which each took part. */
  #visitLast(text: string, visitor: CaptureVisitor): void {
    const last = new Map<string, string>();
    const expression = this.expression(text);
    expression.lastIndex = 0;
    while (expression.lastIndex < text.length) {
      const match = expression.exec(text);
      if (match === null || match[0] === "") break;
      this.visit(match, (name, value) => last.set(name, value));
    }
    for (const [name, value] of last) visitor(name, value);
  }
}

/** Compiles `text`. Throws RegexpFault saying where and why. */
export function translateRubyRegexp(text: string, options: RubyRegexpOptions = {}): RubyRegexp {
  const unnamedCapture = options.unnamedCapture ?? !/\(\?<[^=!]|\(\?'/.test(text);
  return new RubyRegexp(parseRegexp(text, unnamedCapture), options);
}

class Emitter {
  readonly #options: RubyRegexpOptions;
  readonly #lineStart: string;
  readonly #lineEnd: string;
  readonly #captures: Capture[] = [];
  readonly #repetitions: Repetition[] = [];
  #groups = 0;
  #unicode = false;

  constructor(options: RubyRegexpOptions, lineStart: string, lineEnd: string) {
    this.#options = options;
    this.#lineStart = lineStart;
    this.#lineEnd = lineEnd;
  }

  emit(tree: RegexpNode): Emitted {
    const source = this.#node(tree);
    return { source, captures: this.#captures, repetitions: this.#repetitions, unicode: this.#unicode };
  }

  #node(node: RegexpNode): string {
    switch (node.kind) {
      case "text":
        this.#unicode ||= node.unicode === true;
        return node.source;
      case "lineStart":
        return this.#lineStart;
      case "lineEnd":
        return this.#lineEnd;
      case "sequence":
        return node.items.map((item) => this.#item(item)).join("");
      case "choice":
        return node.options.map((option) => this.#node(option)).join("|");
      case "capture": {
        this.#captures.push({ name: node.name, group: ++this.#groups });
        return `(${this.#node(node.body)})`;
      }
      case "group":
        return `(?:${this.#node(node.body)})`;
      case "atomic":
        return this.#atomic(() => this.#node(node.body));
      case "special":
        return `(${node.opening}${this.#node(node.body)})`;
      case "repeat":
        return this.#repeat(node);
      case "reference":
        return this.#reference(node.name);
    }
  }

  /** A choice within a sequence needs a group of its own. */
  #item(node: RegexpNode): string {
    return node.kind === "choice" ? `(?:${this.#node(node)})` : this.#node(node);
  }

  /** What was taken is not given back: a look-ahead captures it, a back-reference takes it. */
  #atomic(body: () => string): string {
    const group = ++this.#groups;
    return `(?:(?=(${body()}))\\${group})`;
  }

  #repeat(node: RegexpNode & { kind: "repeat" }): string {
    const { body, count, mode } = node;
    if (mode === "possessive") return this.#atomic(() => this.#repeat({ ...node, mode: "greedy" }));
    const suffix = mode === "lazy" ? "?" : "";
    if (count === "?" || !hasCapture(body)) return `${this.#single(body)}${count}${suffix}`;
    const inner = new RubyRegexp(body, this.#options, true);
    this.#repetitions.push({ group: ++this.#groups, inner });
    return `((?:${this.#node(withoutCaptures(body))})${count}${suffix})`;
  }

  /** Something that a count can stand behind. */
  #single(node: RegexpNode): string {
    const source = this.#node(node);
    const isOne =
      node.kind !== "sequence" && node.kind !== "choice" && node.kind !== "repeat" && !isLook(node);
    return isOne ? source : `(?:${source})`;
  }

  #reference(name: string): string {
    const capture = this.#captures.findLast((each) => each.name === name);
    if (capture === undefined) throw new RegexpFault(`\\k<${name}> refers to no group before it`);
    return `(?:\\${capture.group})`;
  }
}

function isLook(node: RegexpNode): boolean {
  return (
    node.kind === "lineStart" ||
    node.kind === "lineEnd" ||
    (node.kind === "special" && !node.opening.endsWith(":"))
  );
}

function withoutCaptures(node: RegexpNode): RegexpNode {
  switch (node.kind) {
    case "capture":
      return { kind: "group", body: withoutCaptures(node.body) };
    case "sequence":
      return { kind: "sequence", items: node.items.map(withoutCaptures) };
    case "choice":
      return { kind: "choice", options: node.options.map(withoutCaptures) };
    case "group":
    case "atomic":
    case "special":
    case "repeat":
      return { ...node, body: withoutCaptures(node.body) };
    default:
      return node;
  }
}

function compile(source: string, flags: string): RegExp {
  try {
    return new RegExp(source, flags);
  } catch (error) {
    throw new RegexpFault((error as Error).message, { cause: error });
  }
}
