/**
 * Ruby (Onigmo) regular expressions on JavaScript's engine: atomic groups and possessive repetition by look-ahead and
 * back-reference, numbered names, and captures in a repetition found by matching its text again.
 */

import { type Capture, CaptureReader, type Captures, type Repetition } from "./capture-reader.ts";
import { foldCase } from "./case-folding.ts";
import { parseRegexp } from "./regexp-parser.ts";
import {
  hasCapture,
  hasWordBorder,
  ignoresCaseThroughout,
  matchesAnyCharacter,
  mayBeEmpty,
  needsUnicode,
  RegexpFault,
  type RegexpNode,
} from "./regexp-tree.ts";
import { beginsWithAnything, holdsLiterals, requiredLiterals } from "./required-literals.ts";
import { joinedWords } from "./word-choice.ts";

export { RegexpFault } from "./regexp-tree.ts";

/** Stand for ^ and $ until it is known what lines there are. Unicode has no characters there. */
const LINE_START = "\ufdd0";
const LINE_END = "\ufdd1";

/** True where a text takes more bytes than characters: counting them takes a fraction of an expression's time. */
const isNotAscii = (text: string): boolean => Buffer.byteLength(text) !== text.length;
const SURROGATE = /[\ud800-\udfff]/;
const hasSurrogate = (text: string): boolean => SURROGATE.test(text);

/** Ruby's `\w` is ASCII's, its `\b` isn't: a letter of any alphabet, a mark or a number beside another isn't a border. */
const WORD = "[\\p{L}\\p{M}\\p{N}\\p{Pc}]";
const BORDERS: Readonly<Record<string, string>> = {
  "\\b": `(?:(?<=${WORD})(?!${WORD})|(?<!${WORD})(?=${WORD}))`,
  "\\B": `(?:(?<=${WORD})(?=${WORD})|(?<!${WORD})(?!${WORD}))`,
};

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
}

export class RubyRegexp implements Captures {
  readonly captures: readonly Capture[];
  readonly repetitions: readonly Repetition[];
  readonly #tree: RegexpNode;
  readonly #options: RubyRegexpOptions;
  readonly #isSticky: boolean;
  readonly #unicode: boolean;
  /** By the flag `i`: the engine searches much faster with it than for many words whose letters are written out. */
  readonly #ignoresCase: boolean;
  readonly #literals: readonly string[];
  /** With marks for the ends of lines. */
  readonly #marked: string;
  /** For subjects of one line: there ^ and $ are the subject's ends, which the engine knows how to use. */
  readonly #oneLine: RegExp;
  #manyLines: RegExp | undefined;
  /** True for subjects that the expressions above read wrong; undefined: they read all. */
  readonly #isForeign: ((subject: string) => boolean) | undefined;
  /** For such subjects, of any number of lines. */
  #ofForeign: RegExp | undefined;

  /** `unicode`: has the flag `u` also where `tree` doesn't need it. */
  constructor(tree: RegexpNode, options: RubyRegexpOptions, { isSticky = false, unicode = false } = {}) {
    this.#tree = tree;
    this.#options = options;
    this.#isSticky = isSticky;
    this.#unicode = unicode || needsUnicode(tree);
    this.#ignoresCase = ignoresCaseThroughout(tree);
    const { source, captures, repetitions } = this.#emitted(this.#unicode, !this.#ignoresCase);
    if (hasWordBorder(tree)) this.#isForeign = isNotAscii;
    else if (!this.#unicode && matchesAnyCharacter(tree)) this.#isForeign = hasSurrogate;
    this.#marked = source;
    this.captures = captures;
    this.repetitions = repetitions;
    this.#literals = requiredLiterals(tree);
    this.#oneLine = this.#compile(source.replaceAll(LINE_START, "^").replaceAll(LINE_END, "$"));
  }

  /** The expression that fits `subject`. Its groups are those of `captures`. */
  expression(subject: string): RegExp {
    if (this.#isForeign?.(subject) === true) {
      this.#ofForeign ??= this.#compile(
        ofManyLines(this.#emitted(true, !this.#ignoresCase, true).source),
        true,
      );
      return this.#ofForeign;
    }
    if (!subject.includes("\n")) return this.#oneLine;
    this.#manyLines ??= this.#compile(ofManyLines(this.#marked));
    return this.#manyLines;
  }

  /** False where `subject` can't match, as it lacks a text that every match holds. */
  mayMatch(subject: string): boolean {
    return holdsLiterals(subject, this.#literals);
  }

  /** JavaScript source for subjects of any number of lines, for expressions with the flag `u` alone. */
  get source(): string {
    return ofManyLines(this.#emitted(true, true, true).source);
  }

  /** Returns what reads the captures of the matches that `expression` gave, by name. */
  captureReader(): CaptureReader<string> {
    return new CaptureReader(this, (name) => name);
  }

  /** `foreign`: for subjects that aren't ASCII, with the flag `u`. */
  #emitted(unicode: boolean, writesCases: boolean, foreign = false): Emitted {
    const emitted = new Emitter(this.#options, { unicode, writesCases, foreign }).emit(this.#tree);
    // The engine would try `.*` again from each character of a text that doesn't match.
    const isAnchored = this.#options.dotAll === true && !this.#isSticky && beginsWithAnything(this.#tree);
    return isAnchored ? { ...emitted, source: `^(?:${emitted.source})` } : emitted;
  }

  #compile(source: string, unicode = this.#unicode): RegExp {
    const flags =
      (this.#options.dotAll ? "s" : "") +
      (unicode ? "u" : "") +
      (this.#isSticky ? "y" : "") +
      (this.#ignoresCase ? "i" : "");
    try {
      return new RegExp(source, flags);
    } catch (error) {
      throw new RegexpFault((error as Error).message, { cause: error });
    }
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
  readonly #unicode: boolean;
  readonly #writesCases: boolean;
  readonly #foreign: boolean;
  /** Those of the groups around the node at hand, the outermost first. */
  readonly #modifiers: string[] = [];
  /** What was written for pieces of the expression that ignore case. */
  readonly #folds = new Map<string, string>();
  #groups = 0;

  /** `writesCases`: of letters where case is ignored. `foreign`: for subjects that aren't ASCII. */
  constructor(
    options: RubyRegexpOptions,
    how: { readonly unicode: boolean; readonly writesCases: boolean; readonly foreign: boolean },
  ) {
    this.#options = options;
    this.#unicode = how.unicode;
    this.#writesCases = how.writesCases;
    this.#foreign = how.foreign;
  }

  emit(tree: RegexpNode): Emitted {
    const source = this.#node(tree);
    return { source, captures: this.#captures, repetitions: this.#repetitions };
  }

  #node(node: RegexpNode): string {
    switch (node.kind) {
      case "text":
        return this.#text(node.source);
      case "lineStart":
        return LINE_START;
      case "lineEnd":
        return LINE_END;
      case "sequence":
        return node.items.map((item) => this.#item(item)).join("");
      case "choice":
        return this.#choice(node.options);
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

  #text(source: string): string {
    // The engine's dot leaves out three more characters than the end of a line.
    if (source === "." && !this.#isDotAll) return "[^\\n]";
    if (this.#foreign && Object.hasOwn(BORDERS, source)) return BORDERS[source]!;
    return this.#foldsCases ? this.#folded(source) : source;
  }

  #choice(options: readonly RegexpNode[]): string {
    const written = this.#foldsCases ? joinedWords(options) : options;
    return written.map((option) => this.#node(option)).join("|");
  }

  /** A choice within a sequence needs a group of its own. */
  #item(node: RegexpNode): string {
    return node.kind === "choice" ? `(?:${this.#node(node)})` : this.#node(node);
  }

  /** Letters are written out in both cases, so that modifiers say nothing of them. */
  #special({ opening, body }: RegexpNode & { kind: "special" }): string {
    if (!opening.endsWith(":")) return `(${opening}${this.#node(body)})`;
    this.#modifiers.push(opening);
    const source = this.#node(body);
    this.#modifiers.pop();
    return `(${opening.replace("i", "").replace("-:", ":")}${source})`;
  }

  #folded(source: string): string {
    const known = this.#folds.get(source) ?? foldCase(source, this.#unicode);
    this.#folds.set(source, known);
    return known;
  }

  get #foldsCases(): boolean {
    return this.#writesCases && this.#ignoresCase;
  }

  get #isDotAll(): boolean {
    const opening = this.#modifiers.findLast((each) => each.includes("s"));
    return opening === undefined ? this.#options.dotAll === true : /^\?[a-z]*s/.test(opening);
  }

  get #ignoresCase(): boolean {
    return /^\?[a-z]*i/.test(this.#modifiers.findLast((opening) => opening.includes("i")) ?? "");
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
    const inner = new RubyRegexp(modified, this.#options, { isSticky: true, unicode: this.#unicode });
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
    // V8 compares what a group matched without its fault of letters.
    return `(?${this.#ignoresCase ? "i" : ""}:\\${capture.group})`;
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

function ofManyLines(marked: string): string {
  // With the flag u the engine finds no character after or before the middle of a pair of surrogates, where it looks
  // too.
  return marked.replaceAll(LINE_START, "(?:^|(?<=\\n))").replaceAll(LINE_END, "(?:$|(?=\\n))");
}
