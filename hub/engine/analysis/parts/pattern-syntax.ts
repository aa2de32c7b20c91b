/** The structure of a JavaScript regular expression: repetitions, alternatives and groups. */

export type PatternNode =
  /** One character, of a class, an escape or itself. */
  | { readonly kind: "character"; readonly source: string }
  | { readonly kind: "boundary"; readonly source: string }
  /** `index`: 0 for a group that isn't captured. */
  | { readonly kind: "group"; readonly index: number; readonly node: PatternNode }
  | { readonly kind: "sequence"; readonly nodes: readonly PatternNode[] }
  | { readonly kind: "choice"; readonly nodes: readonly PatternNode[] }
  | {
      readonly kind: "repeat";
      readonly min: number;
      readonly max: number;
      readonly isLazy: boolean;
      readonly node: PatternNode;
    }
  /** What needs backtracking, and its name. */
  | { readonly kind: "backtracking"; readonly name: string; readonly node?: PatternNode };

/** Groups in one another. */
const MAX_DEPTH = 100;
const CLASS_PART = /\\.|\[|\]/gsu;
const ESCAPE =
  /\\(?:u\{[0-9A-Fa-f]+\}|u[dD][89abAB][0-9A-Fa-f]{2}\\u[dD][c-fC-F][0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|x[0-9A-Fa-f]{2}|[pP]\{[^}]*\}|c[A-Za-z]|k<[^>]*>|[1-9]\d*|.)/suy;
const QUANTIFIER = /(?:[*+?]|\{(\d+)(,(\d*))?\})(\??)/y;
const GROUP = /\((?:\?(?:(:)|<(?![=!])[^>]*>|(<?[=!])|([a-z-]+:)))?/y;

/** Returns the structure of a source that RegExp accepts. Throws RangeError if its groups are too deep. */
export function parsePattern(source: string): PatternNode {
  return new Parser(source).choice(0);
}

class Parser {
  readonly #source: string;
  #at = 0;
  #groups = 0;

  constructor(source: string) {
    this.#source = source;
  }

  choice(depth: number): PatternNode {
    if (depth > MAX_DEPTH) throw new RangeError(`a pattern may nest ${MAX_DEPTH} groups at most`);
    const nodes = [this.#sequence(depth)];
    while (this.#source[this.#at] === "|") {
      this.#at++;
      nodes.push(this.#sequence(depth));
    }
    return nodes.length === 1 ? nodes[0]! : { kind: "choice", nodes };
  }

  #sequence(depth: number): PatternNode {
    const nodes: PatternNode[] = [];
    while (this.#at < this.#source.length && !/[|)]/.test(this.#source[this.#at]!))
      nodes.push(this.#repeated(this.#atom(depth)));
    return nodes.length === 1 ? nodes[0]! : { kind: "sequence", nodes };
  }

  #repeated(node: PatternNode): PatternNode {
    const found = this.#take(QUANTIFIER);
    if (found === null) return node;
    const [text, least, more, most, lazy] = found;
    const min = least === undefined ? (text.startsWith("+") ? 1 : 0) : Number(least);
    const isOpen = least === undefined ? !text.startsWith("?") : more !== undefined && most === "";
    const max = isOpen ? Number.POSITIVE_INFINITY : least === undefined ? 1 : Number(most ?? least);
    return { kind: "repeat", min, max, isLazy: lazy === "?", node };
  }

  #atom(depth: number): PatternNode {
    const char = String.fromCodePoint(this.#source.codePointAt(this.#at)!);
    if (char === "(") return this.#group(depth);
    if (char === "[") return { kind: "character", source: this.#class() };
    if (char === "\\") return escaped(this.#take(ESCAPE)?.[0] ?? this.#one("\\"));
    this.#at += char.length;
    return char === "^" || char === "$"
      ? { kind: "boundary", source: char }
      : { kind: "character", source: /[{}\]]/.test(char) ? `\\${char}` : char };
  }

  #one(char: string): string {
    this.#at++;
    return char;
  }

  #group(depth: number): PatternNode {
    const [, plain, look, modifiers] = this.#take(GROUP)!;
    const isCaptured = plain === undefined && look === undefined && modifiers === undefined;
    const index = isCaptured ? ++this.#groups : 0;
    const node = this.choice(depth + 1);
    this.#at++;
    if (look !== undefined) return { kind: "backtracking", name: "look-around", node };
    if (modifiers !== undefined) return { kind: "backtracking", name: "flags of a group", node };
    return { kind: "group", index, node };
  }

  /** Classes within a class are only known to some expressions; a bracket within one stands for itself elsewhere. */
  #class(): string {
    const from = this.#at;
    CLASS_PART.lastIndex = from + 1;
    for (let part = CLASS_PART.exec(this.#source); part !== null; part = CLASS_PART.exec(this.#source)) {
      if (part[0] === "]") break;
    }
    this.#at = CLASS_PART.lastIndex === 0 ? this.#source.length : CLASS_PART.lastIndex;
    return this.#source.slice(from, this.#at);
  }

  #take(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#source);
    if (found !== null) this.#at = pattern.lastIndex;
    return found;
  }
}

function escaped(source: string): PatternNode {
  if (/^\\[bB]$/.test(source)) return { kind: "boundary", source };
  if (/^\\(?:[1-9]|k<)/.test(source)) return { kind: "backtracking", name: "a reference to a group" };
  return { kind: "character", source };
}

/** Choices outside of repetitions: each may double the ways that are tried. */
const MAX_CHOICES = 6;

/**
 * Whether an engine with backtracking takes time linear in the text: nothing repeats but one character at the end of an
 * alternative, where nothing can fail after it.
 */
export function isBacktrackingLinear(node: PatternNode): boolean {
  const ways = node.kind === "choice" ? node.nodes : [node];
  return ways.every((way) => choicesIn(way, true) <= MAX_CHOICES);
}

/** Counts the choices; Infinity where one is repeated or a repetition may be tried again. */
function choicesIn(node: PatternNode, isLast: boolean): number {
  switch (node.kind) {
    case "character":
    case "boundary":
      return 0;
    case "group":
      return choicesIn(node.node, isLast);
    case "sequence":
      return sum(node.nodes.map((each, at) => choicesIn(each, isLast && at === node.nodes.length - 1)));
    case "choice":
      return sum(node.nodes.map((each) => 1 + choicesIn(each, false)));
    case "repeat":
      if (node.max === 1) return 1 + choicesIn(node.node, false);
      return isLast && node.node.kind === "character" ? 0 : Number.POSITIVE_INFINITY;
    case "backtracking":
      return node.node === undefined ? Number.POSITIVE_INFINITY : choicesIn(node.node, false);
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((a, b) => a + b, 0);
}
