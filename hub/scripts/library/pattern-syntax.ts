/** Compiles regular expressions of scripts to V8's engine without backtracking, whose syntax differs in places. */

import { setFlagsFromString } from "node:v8";
import { ScriptException } from "#hub/scripts/values/script-error.ts";

/** Longest expression, characters: the engine's states are made of it. */
export const MAX_PATTERN = 1_000;

/** Classes of the language that JavaScript writes differently. */
const CLASSES: Readonly<Record<string, string>> = {
  Alpha: "A-Za-z",
  Digit: "0-9",
  Alnum: "A-Za-z0-9",
  Upper: "A-Z",
  Lower: "a-z",
  Punct: "!-/:-@\\[-`{-~",
  Space: "\\s",
  XDigit: "0-9A-Fa-f",
};

/** The engine refuses a higher number of repetitions. */
const MAX_REPEATS = 16;
/** Characters of repeated parts that one expression may write out: the engine has a state for each. */
const MAX_WRITTEN_OUT = 16_000;
/** Escapes of more than one character after the backslash; both halves of one beyond U+FFFF together. */
const LONG_ESCAPE =
  /\\(?:u[Dd][89ABab][\dA-Fa-f]{2}\\u[Dd][C-Fc-f][\dA-Fa-f]{2}|x[\dA-Fa-f]{2}|u[\dA-Fa-f]{4}|c[A-Za-z])/y;
const TWO_HALVES = /[\udc00-\udfff]$|^\\u\w{4}\\u/;
const REPETITION = /\{(\d{1,4})(,?)(\d{0,4})\}(\??)/y;

let isEngineOn = false;

export function invalid(message: string): ScriptException {
  return new ScriptException("IllegalArgumentException", `invalid regular expression: ${message}`);
}

export function linear(source: string, flags: string): RegExp {
  if (!isEngineOn) {
    setFlagsFromString("--enable-experimental-regexp-engine");
    isEngineOn = true;
  }
  try {
    return new RegExp(source, `${flags}l`);
  } catch (error) {
    throw invalid((error as Error).message);
  }
}

/** Writes an expression of the language as JavaScript has it; in both cases of its letters where case doesn't count. */
export function translated(source: string, ignoresCase: boolean): string {
  let text = "";
  let isInClass = false;
  let atomStart = 0; // of the last character or class in `text`
  let endsWithGroup = false;
  let left = MAX_WRITTEN_OUT;
  for (let at = 0; at < source.length; at++) {
    const char = source[at]!;
    const repetition = char === "{" && !isInClass ? repetitionAt(source, at) : undefined;
    if (repetition !== undefined && !endsWithGroup) {
      const last = text.slice(atomStart);
      const atom = TWO_HALVES.test(last) ? `(?:${last})` : last;
      left -= repetition.most * atom.length;
      if (left < 0) throw invalid(`an expression repeats at most ${MAX_WRITTEN_OUT} characters`);
      text = text.slice(0, atomStart) + writtenOut(atom, repetition);
      at += repetition.length - 1;
      continue;
    }
    if (!isInClass && !isSecondHalf(char)) atomStart = text.length;
    endsWithGroup = char === ")" && !isInClass;
    if (char === "\\") {
      const [escaped, length] = escapeAt(source, at, isInClass);
      text += escaped;
      at += length - 1;
      continue;
    }
    if (char === "[") isInClass = true;
    else if (char === "]") isInClass = false;
    const group = /^\(\?[<A-Za-z!=][^>)]*>?/.exec(isInClass ? "" : source.slice(at, at + MAX_PATTERN));
    if (group !== null) {
      text += group[0];
      at += group[0].length - 1;
    } else text += ignoresCase ? bothCases(source, at, isInClass) : char;
  }
  return text;
}

/** `{least,most}`; `mark`: "?" after it, which takes as few as possible. */
interface Repetition {
  readonly least: number;
  readonly most: number;
  readonly isEndless: boolean;
  readonly mark: string;
  readonly length: number;
}

/** Returns the repetition at an offset where the engine refuses it, else undefined. */
function repetitionAt(source: string, at: number): Repetition | undefined {
  REPETITION.lastIndex = at;
  const [all, low, comma, high = "", mark = ""] = REPETITION.exec(source) ?? [];
  if (all === undefined) return undefined;
  const least = Number(low);
  const most = high === "" ? least : Number(high);
  if (most <= MAX_REPEATS || most < least) return undefined;
  return { least, most, isEndless: comma === "," && high === "", mark, length: all.length };
}

/** "x{0,40}" → "x{0,16}x{0,16}x{0,8}", which finds the same. */
function writtenOut(atom: string, { least, most, isEndless, mark }: Repetition): string {
  let text = "";
  for (let rest = least; rest > 0; rest -= MAX_REPEATS) text += `${atom}{${Math.min(rest, MAX_REPEATS)}}`;
  if (isEndless) return `${text}${atom}*${mark}`;
  for (let rest = most - least; rest > 0; rest -= MAX_REPEATS)
    text += `${atom}{0,${Math.min(rest, MAX_REPEATS)}}${mark}`;
  return text;
}

function escapeAt(source: string, at: number, isInClass: boolean): [text: string, length: number] {
  const [found, name] = /^\\p\{(\w+)\}/.exec(source.slice(at, at + 16)) ?? [];
  if (found !== undefined) {
    const members = Object.hasOwn(CLASSES, name!) ? CLASSES[name!]! : undefined;
    if (members === undefined) throw invalid(`Unknown character property name {${name}}`);
    return [isInClass ? members : `[${members}]`, found.length];
  }
  LONG_ESCAPE.lastIndex = at;
  const long = LONG_ESCAPE.exec(source);
  if (long !== null) return [long[0], long[0].length];
  const next = source[at + 1] ?? "";
  if (next === "A") return ["^", 2];
  if (next === "z" || next === "Z") return ["$", 2];
  if (next === "h") return [isInClass ? " \\t" : "[ \\t]", 2];
  return [`\\${next}`, 2];
}

/** Returns true for the second half of a character beyond U+FFFF. */
function isSecondHalf(char: string): boolean {
  return char >= "\udc00" && char <= "\udfff";
}

/** "a" → "[aA]"; within a class "aA", and "a-z" → "a-zA-Z" by its three parts. */
function bothCases(source: string, at: number, isInClass: boolean): string {
  const char = source[at]!;
  if (!/[A-Za-z]/.test(char)) return char;
  const other = char === char.toLowerCase() ? char.toUpperCase() : char.toLowerCase();
  if (!isInClass) return `[${char}${other}]`;
  const isStart = source[at + 1] === "-" && /[A-Za-z]/.test(source[at + 2] ?? "");
  if (isStart) return char;
  if (source[at - 1] !== "-" || !/[A-Za-z]/.test(source[at - 2] ?? "")) return char + other;
  const first = source[at - 2]!;
  const otherFirst = first === first.toLowerCase() ? first.toUpperCase() : first.toLowerCase();
  return `${char}${otherFirst}-${other}`;
}
