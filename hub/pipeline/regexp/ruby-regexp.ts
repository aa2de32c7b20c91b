/**
 * Ruby (Onigmo) regular expressions on JavaScript's engine: atomic groups and possessive repetition by look-ahead and
 * back-reference, numbered names, and captures in a repetition found by matching its text again.
 */

import { type Capture, CaptureReader, type Captures, type Repetition } from "./capture-reader.ts";
import { parseRegexp } from "./regexp-parser.ts";
import { hasCapture, mayBeEmpty, RegexpFault, type RegexpNode } from "./regexp-tree.ts";
import { beginsWithAnything, holdsLiterals, requiredLiterals } from "./required-literals.ts";

export { RegexpFault } from "./regexp-tree.ts";

/** Stand for ^ and $ until it is known what lines there are. Unicode has no characters there. */
const LINE_START = "\ufdd0";
const LINE_END = "\ufdd1";
/** Opens a group in which case is ignored. */
const IGNORING_CASE = "?i:";

export interface RubyRegexpOptions {
  /** `.` matches a newline too (Ruby's m), as grok wants it. */
  readonly dotAll?: boolean;
  /** Names given to groups; without any named group unnamed ones capture under their number. */
  readonly unnamedCapture?: boolean;
}

interface Emitted {
  readonly source: string;
  readonly captures: readonly Capture[];
  readonly repetitions: readonly Repetition[];
  readonly unicode: boolean;
}

export class RubyRegexp implements Captures {
  readonly captures: readonly Capture[];
  readonly repetitions: readonly Repetition[];
  readonly #flags: string;
  readonly #literals: readonly string[];
  /** With marks for the ends of lines, without `(?i:…)` around all of it. */
  readonly #marked: string;
  readonly #ignoresCase: boolean;
  /** For subjects of one line: there ^ and $ are the subject's ends, which the engine knows how to use. */
  readonly #oneLine: RegExp;
  #manyLines: RegExp | undefined;

  constructor(tree: RegexpNode, options: RubyRegexpOptions, sticky = false) {
    // V8 obeys its flag always, a group that ignores case only while it optimizes expressions: not where a thread has many.
    this.#ignoresCase = tree.kind === "special" && tree.opening === IGNORING_CASE;
    const body = this.#ignoresCase && tree.kind === "special" ? tree.body : tree;
    const emitted = new Emitter(options, this.#ignoresCase ? [IGNORING_CASE] : []).emit(body);
    // The engine would try `.*` again from each character of a text that doesn't match.
    const isAnchored = options.dotAll === true && !sticky && beginsWithAnything(body);
    this.#marked = isAnchored ? `^(?:${emitted.source})` : emitted.source;
    this.captures = emitted.captures;
    this.repetitions = emitted.repetitions;
    this.#flags =
      (options.dotAll ? "s" : "") +
      (emitted.unicode ? "u" : "") +
      (sticky ? "y" : "") +
      (this.#ignoresCase ? "i" : "");
    this.#literals = requiredLiterals(tree);
    this.#oneLine = compile(this.#marked.replaceAll(LINE_START, "^").replaceAll(LINE_END, "$"), this.#flags);
  }

  /** The expression that fits `subject`. Its groups are those of `captures`. */
  expression(subject: string): RegExp {
    if (!subject.includes("\n")) return this.#oneLine;
    this.#manyLines ??= compile(this.#ofManyLines, this.#flags);
    return this.#manyLines;
  }

  /** False where `subject` can't match, as it lacks a text that every match holds. */
  mayMatch(subject: string): boolean {
    return holdsLiterals(subject, this.#literals);
  }

  /** JavaScript source for subjects of any number of lines. */
  get source(): string {
    return this.#ignoresCase ? `(${IGNORING_CASE}${this.#ofManyLines})` : this.#ofManyLines;
  }

  get #ofManyLines(): string {
    return this.#marked.replaceAll(LINE_START, "(?<![^\\n])").replaceAll(LINE_END, "(?![^\\n])");
  }

  /** Returns what reads the captures of the matches that `expression` gave, by name. */
  captureReader(): CaptureReader<string> {
    return new CaptureReader(this, (name) => name);
  }
}

/** Compiles `text`. Throws RegexpFault saying where and why. */
export function translateRubyRegexp(text: string, options: RubyRegexpOptions = {}): RubyRegexp {
  const unnamedCapture = options.unnamedCapture ?? !/\(\?<[^=!]|\(\?'/.test(text);
  return new RubyRegexp(parseRegexp(text, unnamedCapture), options);
}

class Emitter {
  readonly #options: RubyRegexpOptions;
  readonly #captures: Capture[] = [];
  readonly #repetitions: Repetition[] = [];
  /** Those of the groups around the node at hand, the outermost first. */
  readonly #modifiers: string[];
  #groups = 0;
  #unicode = false;

  constructor(options: RubyRegexpOptions, modifiers: readonly string[]) {
    this.#options = options;
    this.#modifiers = [...modifiers];
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
        return LINE_START;
      case "lineEnd":
        return LINE_END;
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
        return this.#special(node);
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

  #special({ opening, body }: RegexpNode & { kind: "special" }): string {
    const isModifier = opening.endsWith(":");
    if (isModifier) this.#modifiers.push(opening);
    const source = this.#node(body);
    if (isModifier) this.#modifiers.pop();
    return `(${opening}${source})`;
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
    // JavaScript takes back an optional item that matched nothing; an empty alternative keeps its match.
    if (count === "?" && mode === "greedy" && mayBeEmpty(body)) return `(?:${this.#single(body)}|)`;
    if (count === "?" || !hasCapture(body)) return `${this.#single(body)}${count}${suffix}`;
    const modified = this.#modifiers.reduceRight<RegexpNode>(
      (inside, opening) => ({ kind: "special", opening, body: inside }),
      body,
    );
    const inner = new RubyRegexp(modified, this.#options, true);
    this.#repetitions.push({ group: ++this.#groups, inner });
    return `((?:${this.#node(withoutCaptures(body))})${count}${suffix})`;
  }

  /** An item that a quantifier can follow. */
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
