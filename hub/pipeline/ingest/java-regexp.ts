/** Java's regular expressions, as processors take them, on JavaScript's engine. */

import { type Folding, literal, readCharacter, readClass, readQuoted, readSet } from "./java-class.ts";

/** An expression of Java. */
export interface JavaRegexp {
  /** As it was written. */
  readonly text: string;
  /** Has the flag `v`. Its groups are named: `g1` is the first that captures. */
  readonly expression: RegExp;
  readonly groupCount: number;
  /** Numbers of the groups that have names. */
  readonly names: ReadonlyMap<string, number>;
}

/**
 * Compiles an expression. Two results differ from Java: a reference to a group that didn't take part matches the empty
 * text, and a group within a repetition keeps only the text of its last round. Throws Error naming what isn't
 * supported.
 *
 * Both cases of a letter are written out where case is ignored. V8's groups `(?i:…)` ignore case only while V8 optimizes
 * expressions, which it stops doing in a thread that has compiled many.
 */
export function javaRegexp(text: string): JavaRegexp {
  const translation = new Translation(text);
  const source = translation.source();
  const { groupCount, names } = translation;
  return { text, expression: new RegExp(source, "v"), groupCount, names };
}

/** Ends of lines; by the flag `d` only the first. */
const TERMINATORS = "\\n\\r\\x85\\u2028\\u2029";
/** Groups within groups. */
const MAX_DEPTH = 200;
/**
 * What words consist of besides _. Marks belong to a word after a letter or digit up to U+FFFF, as Java looks for it in
 * halves of characters. Up to 30 are read: stream-safe texts have no more (UAX #15), and a text of marks alone takes
 * linear time.
 */
const LETTER = "\\p{L}\\p{Nd}";
const BASE = `[[${LETTER}]&&[\\0-\\uffff]]`;
const MARK = "[\\p{Mn}&&[\\0-\\uffff]]";
const AFTER_WORD = `(?<=[_${LETTER}]|${BASE}${MARK}{1,30})`;
const BEFORE_WORD = `(?=[_${LETTER}]|(?<=${BASE}${MARK}{0,29})\\p{Mn})`;
const not = (look: string): string => look.replace("=", "!");

/** Escapes that match between characters, and sequences. Up to Java 18 words are Unicode's here, unlike those of \w. */
const ASSERTIONS: Readonly<Record<string, string>> = {
  A: "^",
  z: "$",
  b: `(?:${AFTER_WORD}${not(BEFORE_WORD)}|${not(AFTER_WORD)}${BEFORE_WORD})`,
  B: `(?:${AFTER_WORD}${BEFORE_WORD}|${not(AFTER_WORD)}${not(BEFORE_WORD)})`,
  R: "(?:\\r\\n|[\\n-\\r\\x85\\u2028\\u2029])",
};
/** The same where a character of a word follows: the engine searches several times as fast for less. */
const BEFORE_KNOWN_WORD: Readonly<Record<string, string>> = { b: not(AFTER_WORD), B: AFTER_WORD };
/** Begins with such a character, which isn't optional. */
const KNOWN_WORD = /(?:\\[dw]|\w|\[(?:\\[dw]|[a-z]-[a-z]|[A-Z]-[A-Z]|[0-9]-[0-9]|\w(?!-))+\])(?![*?]|\{0)/y;
const UNSUPPORTED = new Set("GNX");
const QUANTIFIER = /(?:[*+?]|\{\d+(?:,\d*)?\})[?+]?/y;
const GROUP = /\((?:\?(?:<([a-zA-Z]\w*)>|(<?[=!]|:|>)|([dimsuxU]*)(?:-([dimsuxU]*))?([:)])|()))?/y;
const BLANK = /(?:[ \t-\r]|#[^\n\r\x85\u2028\u2029]*)+/y;

/** What JavaScript doesn't repeat. */
const LOOK = /^(?:\(\?<?[=!]|[$^]$)/;

/** Flags that hold at a position of the expression. */
type Flags = ReadonlySet<string>;

class Translation {
  groupCount = 0;
  readonly names = new Map<string, number>();
  readonly #text: string;
  #at = 0;
  #flags: Flags = new Set();
  #depth = 0;
  /** Separate groups, for possessive and atomic ones. */
  #atomics = 0;
  /** Within a look-behind. */
  #isBehind = false;

  constructor(text: string) {
    this.#text = text;
  }

  source(): string {
    const source = this.#choice();
    if (this.#at < this.#text.length) throw new Error(`a ) at ${this.#at + 1} closes nothing`);
    return source;
  }

  /** Reads up to the end or a closing parenthesis. Flags that are set within hold up to there, also in further options. */
  #choice(): string {
    if (++this.#depth > MAX_DEPTH) throw new Error(`more than ${MAX_DEPTH} nested groups`);
    const before = this.#flags;
    let source = this.#option();
    while (this.#text[this.#at] === "|") {
      this.#at++;
      source += `|${this.#option()}`;
    }
    this.#flags = before;
    this.#depth--;
    return source;
  }

  #option(): string {
    let source = "";
    for (let first = this.#text[this.#at]; first !== undefined && first !== "|" && first !== ")"; ) {
      source += this.#skipsBlank() ? "" : this.#item(first);
      first = this.#text[this.#at];
    }
    return source;
  }

  #skipsBlank(): boolean {
    if (!this.#flags.has("x")) return false;
    BLANK.lastIndex = this.#at;
    const length = BLANK.exec(this.#text)?.[0].length ?? 0;
    this.#at += length;
    return length > 0;
  }

  #item(first: string): string {
    const quoted = readQuoted(this.#text, this.#at);
    if (quoted === undefined) return this.#repeated(this.#atom(first));
    this.#at = quoted.end;
    const characters = Array.from(quoted.text, (each) => literal(each, this.#folding));
    const last = characters.pop();
    // Only the last of the quoted characters is repeated.
    return last === undefined ? "" : characters.join("") + this.#repeated(last);
  }

  #repeated(atom: string): string {
    const found = this.#quantifier();
    if (found === undefined) return atom;
    if (atom === "") throw new Error(`${found} at ${this.#at + 1} repeats nothing`);
    this.#at += found.length;
    const next = this.#quantifier();
    // Java takes the second quantifier for a repetition of the empty text.
    if (next !== undefined) throw new Error(`${next} at ${this.#at + 1} repeats a repetition`);
    const source = LOOK.test(atom) ? `(?:${atom})` : atom;
    const isPossessive = found.length > 1 && found.endsWith("+");
    return isPossessive ? this.#atomic(source + found.slice(0, -1)) : source + found;
  }

  /** Returns the quantifier that comes next. */
  #quantifier(): string | undefined {
    this.#skipsBlank();
    QUANTIFIER.lastIndex = this.#at;
    return QUANTIFIER.exec(this.#text)?.[0];
  }

  /** Makes a group that doesn't backtrack: a look-ahead captures, a back-reference consumes. It can't be in a look-behind, which is read backwards. */
  #atomic(body: string): string {
    if (this.#isBehind) throw new Error("possessive and atomic groups can't be in a look-behind");
    const name = `a${++this.#atomics}`;
    return `(?:(?=(?<${name}>${body}))\\k<${name}>)`;
  }

  #atom(first: string): string {
    if (first === "(") return this.#group();
    if (first === "[") return this.#taken(readClass(this.#text, this.#at, this.#folding));
    if (first === "\\") return this.#escape();
    const character = String.fromCodePoint(this.#text.codePointAt(this.#at)!);
    this.#at += character.length;
    if (first === ".") return this.#flags.has("s") ? "[^]" : `[^${this.#terminators}]`;
    if (first === "^") return this.#lineStart();
    if (first === "$") return this.#flags.has("m") ? this.#lineEnd() : this.#lastLineEnd();
    if (/[*+?]/.test(first)) throw new Error(`${first} at ${this.#at} repeats nothing`);
    return literal(character, this.#folding);
  }

  #taken({ source, end }: { readonly source: string; readonly end: number }): string {
    this.#at = end;
    return source;
  }

  get #folding(): Folding {
    if (!this.#flags.has("i")) return "none";
    return this.#flags.has("u") ? "unicode" : "ascii";
  }

  get #terminators(): string {
    return this.#flags.has("d") ? "\\n" : TERMINATORS;
  }

  /** Between \r and \n no line ends or begins. */
  get #notWithin(): string {
    return this.#flags.has("d") ? "" : "(?!(?<=\\r)\\n)";
  }

  /** No line begins after the last line's end. */
  #lineStart(): string {
    if (!this.#flags.has("m")) return "^";
    return `(?:(?:^|(?<=[${this.#terminators}])${this.#notWithin})(?!$))`;
  }

  #lineEnd(): string {
    return `(?:(?=[${this.#terminators}])${this.#notWithin}|$)`;
  }

  /** The end of the text, or of its last line. */
  #lastLineEnd(): string {
    const crLf = this.#flags.has("d") ? "" : "\\r\\n|";
    return `(?:(?=(?:${crLf}[${this.#terminators}])?$)${this.#notWithin})`;
  }

  #escape(): string {
    const set = readSet(this.#text, this.#at, this.#folding);
    if (set !== undefined) return this.#taken(set);
    const letter = this.#text[this.#at + 1] ?? "";
    if (UNSUPPORTED.has(letter)) throw new Error(`\\${letter} at ${this.#at + 1} isn't supported`);
    if (letter === "Z" || Object.hasOwn(ASSERTIONS, letter)) {
      this.#at += 2;
      if (letter === "Z") return this.#lastLineEnd();
      return (this.#isBeforeWord ? BEFORE_KNOWN_WORD[letter] : undefined) ?? ASSERTIONS[letter]!;
    }
    if (letter === "k" || /[1-9]/.test(letter)) return this.#reference();
    const { character, end } = readCharacter(this.#text, this.#at);
    return this.#taken({ source: literal(character, this.#folding), end });
  }

  get #isBeforeWord(): boolean {
    KNOWN_WORD.lastIndex = this.#at;
    return !this.#flags.has("x") && KNOWN_WORD.test(this.#text);
  }

  /** A number has as many digits as there are groups before it. */
  #reference(): string {
    const [whole = "", name, digits = ""] =
      /^\\(?:k<(\w+)>|([1-9]\d*))/.exec(this.#text.slice(this.#at)) ?? [];
    let { length } = digits;
    while (length > 1 && Number(digits.slice(0, length)) > this.groupCount) length--;
    const number = name === undefined ? Number(digits.slice(0, length)) : this.names.get(name);
    if (number === undefined || whole === "")
      throw new Error(`\\k at ${this.#at + 1} refers to no group before it`);
    this.#at += whole.length - (digits.length - length);
    // A later group hasn't taken part yet.
    if (number > this.groupCount) return "(?!)";
    return this.#flags.has("i") ? `(?i:\\k<g${number}>)` : `\\k<g${number}>`;
  }

  #group(): string {
    const start = this.#at;
    GROUP.lastIndex = start;
    const [whole, name, kind, on = "", off = "", end, unknown] = GROUP.exec(this.#text)!;
    if (unknown !== undefined)
      throw new Error(`${this.#text.slice(start, start + 4)} at ${start + 1} isn't supported`);
    this.#at += whole.length;
    if (end !== undefined) return this.#modified(on, off, end === ":");
    if (kind === ">") return this.#atomic(this.#inside(start));
    if (kind !== undefined) return this.#special(kind, start);
    const number = ++this.groupCount;
    if (name !== undefined) {
      if (this.names.has(name)) throw new Error(`Named capturing group <${name}> is already defined`);
      this.names.set(name, number);
    }
    return `(?<g${number}>${this.#inside(start)})`;
  }

  #special(kind: string, start: number): string {
    const before = this.#isBehind;
    this.#isBehind ||= kind.startsWith("<");
    const source = this.#inside(start);
    this.#isBehind = before;
    return `(?${kind}${source})`;
  }

  /** Reads up to the parenthesis that closes the group at `start`. */
  #inside(start: number): string {
    const source = this.#choice();
    if (this.#text[this.#at] !== ")") throw new Error(`the ( at ${start + 1} is never closed`);
    this.#at++;
    return source;
  }

  /** `(?i:…)`, or `(?i)` which holds to the end of the group around it. */
  #modified(on: string, off: string, isGroup: boolean): string {
    if (`${on}${off}`.includes("U")) throw new Error("the flag U isn't supported");
    const before = this.#flags;
    this.#flags = new Set(`${[...before].join("")}${on}`);
    this.#flags = new Set([...this.#flags].filter((letter) => !off.includes(letter)));
    if (!isGroup) return "";
    const source = this.#inside(this.#at);
    this.#flags = before;
    return `(?:${source})`;
  }
}
