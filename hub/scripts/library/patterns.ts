/**
 * Regular expressions of scripts: Pattern and Matcher. They run in V8's engine without backtracking, so their time grows
 * with the text only. What that engine can't do (look-around, references to groups) is refused when a script is compiled.
 */

import { toInteger } from "#hub/scripts/values/operators.ts";
import { ScriptException } from "#hub/scripts/values/script-error.ts";
import {
  Callable,
  type CallContext,
  type Method,
  type Methods,
  print,
  ScriptObject,
  weigh,
} from "#hub/scripts/values/values.ts";
import { grow } from "./members.ts";
import { invalid, linear, MAX_PATTERN, translated } from "./pattern-syntax.ts";
import { Stream } from "./streams.ts";
import { bounded } from "./strings.ts";

/** Characters of text that cost one step. */
const CHARS_A_STEP = 8;
/** Steps that each use of an expression takes, whatever it reads. */
const MATCH_STEPS = 8;

/** Flags at the start of an expression, which hold for the whole of it. */
const LEADING_FLAGS = /^\(\?([a-zA-Z]+)\)/;

/** A compiled expression. */
export class Pattern extends ScriptObject {
  readonly type = "Pattern";
  readonly methods = PATTERN_METHODS;
  readonly source: string;
  /** Finds parts of a text, from `lastIndex` on. */
  readonly part: RegExp;
  /** Matches whole texts. */
  readonly whole: RegExp;

  /** `given`: flags as scripts write them after a literal. Throws IllegalArgumentException. */
  constructor(source: string, given: string) {
    super();
    this.source = source;
    const [leading = "", letters = ""] = LEADING_FLAGS.exec(source) ?? [];
    const flags = given + letters;
    const unknown = flags.replace(/[imscuUlx]/g, "");
    if (unknown !== "") throw invalid(`Unknown flag [${unknown}]`);
    if (source.length > MAX_PATTERN) throw invalid(`an expression has at most ${MAX_PATTERN} characters`);
    if (/[clx]/.test(flags)) throw invalid("the flags c, l and x of expressions aren't offered");
    const text = translated(source.slice(leading.length), flags.includes("i"));
    const kept = ["m", "s"].filter((flag) => flags.includes(flag)).join("");
    this.part = linear(text, `g${kept}`);
    this.whole = linear(`^(?:${text})$`, kept.replace("m", ""));
  }

  override toString(): string {
    return this.source;
  }
}

/** An expression applied to a text. */
class Matcher extends ScriptObject {
  readonly type = "Matcher";
  readonly methods = MATCHER_METHODS;
  readonly pattern: Pattern;
  readonly text: string;
  next = 0;
  found: RegExpExecArray | null = null;

  constructor(pattern: Pattern, text: string) {
    super();
    this.pattern = pattern;
    this.text = text;
  }

  group(which: unknown): string | null {
    if (this.found === null) throw new ScriptException("IllegalStateException", "No match found");
    if (typeof which === "string") {
      const { groups } = this.found;
      if (groups === undefined || !Object.hasOwn(groups, which))
        throw new ScriptException("IllegalArgumentException", `No group with name <${which}>`);
      return groups[which] ?? null;
    }
    const number = which === undefined ? 0 : toInteger(which);
    if (number < 0 || number >= this.found.length)
      throw new ScriptException("IndexOutOfBoundsException", `No group ${number}`);
    return this.found[number] ?? null;
  }
}

/** Whether a text is what an expression describes, wholly (`==~`) or in a part (`=~`). */
export function matchesPattern(
  pattern: unknown,
  text: unknown,
  isWhole: boolean,
  context: CallContext,
): boolean {
  if (!(pattern instanceof Pattern))
    throw new ScriptException("ClassCastException", "a Pattern was expected");
  const given = textOf(text, context);
  context.spend(MATCH_STEPS + given.length);
  if (isWhole) return pattern.whole.test(given);
  pattern.part.lastIndex = 0;
  return pattern.part.test(given);
}

function textOf(value: unknown, context: CallContext): string {
  if ((value ?? null) === null) throw new ScriptException("NullPointerException", null);
  if (typeof value === "object") weigh(value, context);
  const text = print(value);
  context.spend(1 + Math.ceil(text.length / CHARS_A_STEP));
  return text;
}

/** Replaces what an expression finds; `make`: a function of the matcher, or a text with $1 and ${name}. */
export function replacePattern(
  pattern: Pattern,
  given: unknown,
  make: unknown,
  onlyFirst: boolean,
  context: CallContext,
): string {
  const matcher = new Matcher(pattern, textOf(given, context));
  let text = "";
  let from = 0;
  while (findNext(matcher, context)) {
    const { index, 0: part } = matcher.found!;
    text += matcher.text.slice(from, index) + replacement(matcher, make, context);
    from = index + part.length;
    bounded(text, context);
    if (onlyFirst) break;
  }
  return bounded(text + matcher.text.slice(from), context);
}

function replacement(matcher: Matcher, make: unknown, context: CallContext): string {
  const made = make instanceof Callable ? make.call(matcher) : make;
  weigh(made, context);
  const text = print(made);
  if (make instanceof Callable) return text;
  context.spend(Math.floor(text.length / CHARS_A_STEP));
  return text.replace(
    /\\(.)|\$(?:\{(\w+)\}|(\d))/gs,
    (_, literal?: string, name?: string, number?: string) =>
      literal ?? matcher.group(name ?? Number(number)) ?? "",
  );
}

function findNext(matcher: Matcher, context: CallContext): boolean {
  const { part } = matcher.pattern;
  if (matcher.next > matcher.text.length) return false;
  context.spend(MATCH_STEPS + Math.ceil((matcher.text.length - matcher.next) / CHARS_A_STEP));
  part.lastIndex = matcher.next;
  matcher.found = part.exec(matcher.text);
  if (matcher.found === null) return false;
  // An empty match must not be found again.
  matcher.next = Math.max(part.lastIndex, matcher.found.index + (matcher.found[0] === "" ? 1 : 0));
  return true;
}

const PATTERN_METHODS: Methods = new Map<string, Method>([
  ["matcher", (self: Pattern, [text], context) => new Matcher(self, textOf(text, context))],
  ["pattern", (self: Pattern) => self.source],
  ["toString", (self: Pattern) => self.source],
  [
    "asPredicate",
    (self: Pattern, _, context) => new Callable((text) => matchesPattern(self, text, false, context)),
  ],
  ["split", (self: Pattern, [text], context) => splitBy(self, textOf(text, context), context)],
  [
    "splitAsStream",
    (self: Pattern, [text], context) => new Stream(splitBy(self, textOf(text, context), context)),
  ],
]);

/** Empty parts at the end are left out. Each search is counted: one that may repeat can read the rest of the text each time. */
function splitBy({ source, part }: Pattern, text: string, context: CallContext): string[] {
  const mayReadOn = /[*+{]/.test(source);
  const parts: string[] = [];
  let from = 0;
  part.lastIndex = 0;
  while (part.lastIndex < text.length) {
    if (mayReadOn) context.spend((text.length - part.lastIndex) >> 4);
    const found = part.exec(text);
    if (found === null || found.index >= text.length) break;
    const end = part.lastIndex;
    // An empty match must not be found again.
    if (found[0] === "") part.lastIndex++;
    if (end === from) continue;
    grow(parts.length, context);
    parts.push(text.slice(from, found.index));
    from = end;
  }
  parts.push(text.slice(from));
  while (parts.length > 1 && parts.at(-1) === "") parts.pop();
  return parts;
}

const MATCHER_METHODS: Methods = new Map<string, Method>([
  [
    "matches",
    (self: Matcher, _, context) => {
      context.spend(1 + Math.ceil(self.text.length / CHARS_A_STEP));
      self.found = self.pattern.whole.exec(self.text);
      return self.found !== null;
    },
  ],
  ["find", (self: Matcher, _, context) => findNext(self, context)],
  [
    "lookingAt",
    (self: Matcher, _, context) => {
      self.next = 0;
      return findNext(self, context) && self.found!.index === 0;
    },
  ],
  ["group", (self: Matcher, [which]) => self.group(which)],
  ["namedGroup", (self: Matcher, [name]) => self.group(name)],
  [
    "groupCount",
    (self: Matcher, _, context) => {
      context.spend(self.pattern.source.length);
      return new RegExp(`${self.pattern.part.source}|`).exec("")!.length - 1;
    },
  ],
  [
    "start",
    (self: Matcher) => {
      self.group(0);
      return self.found!.index;
    },
  ],
  ["end", (self: Matcher) => self.group(0)!.length + self.found!.index],
  [
    "reset",
    (self: Matcher) => {
      self.next = 0;
      self.found = null;
      return self;
    },
  ],
  [
    "replaceAll",
    (self: Matcher, [make], context) => replacePattern(self.pattern, self.text, make, false, context),
  ],
  [
    "replaceFirst",
    (self: Matcher, [make], context) => replacePattern(self.pattern, self.text, make, true, context),
  ],
]);
