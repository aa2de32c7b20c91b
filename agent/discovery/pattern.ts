/**
 * Path patterns: `*` and `?` within a name, `[a-z]`, `{a,b}` over names, `**` over any number of folders; `\` makes the
 * next character literal.
 */

import { settingFault } from "#agent/contract/input.ts";

/** One part of a pattern between slashes. */
export type Segment =
  | { readonly kind: "literal"; readonly name: string }
  | { readonly kind: "match"; readonly test: RegExp }
  | { readonly kind: "folders" };

/** A compiled pattern; `absolute` paths only. */
export interface Pattern {
  readonly text: string;
  readonly segments: readonly Segment[];
}

/** Braces multiply; this many patterns from one are a mistake. */
const ALTERNATIVES_MAX = 256;

/** Compiles an absolute pattern; with braces into several. Throws settings_invalid. */
export function compilePattern(text: string): Pattern[] {
  if (!text.startsWith("/")) {
    throw settingFault("paths", `paths: "${text}" must be absolute: begin it with "/"`);
  }
  const alternatives = expandBraces(text);
  if (alternatives.length > ALTERNATIVES_MAX) {
    throw settingFault("paths", `paths: "${text}" expands to more than ${ALTERNATIVES_MAX} patterns`);
  }
  return alternatives.map((each) => ({
    text: each,
    segments: splitPattern(each).map((part) => segment(part, text)),
  }));
}

/** Returns the folder before the first wildcard of the patterns that match `path`; of several the longest. */
export function rootOf(patterns: readonly Pattern[], path: string): string {
  let root = "/";
  for (const pattern of patterns) {
    if (!matchesPath([pattern], path)) continue;
    const first = pattern.segments.findIndex(({ kind }) => kind !== "literal");
    const literal = first < 0 ? pattern.segments.slice(0, -1) : pattern.segments.slice(0, first);
    const folder = `/${literal.map((each) => (each.kind === "literal" ? each.name : "")).join("/")}`;
    if (folder.length > root.length) root = folder;
  }
  return root;
}

/** Returns true if the text of `path` matches one of the patterns. */
export function matchesPath(patterns: readonly Pattern[], path: string): boolean {
  const names = path.split("/").filter((name) => name !== "");
  return patterns.some(({ segments }) => matchesFrom(segments, 0, names, 0));
}

/** Returns true if a name fits a segment; a wildcard at its start doesn't take hidden names. */
export function matchesName(part: Segment, name: string): boolean {
  if (part.kind === "literal") return part.name === name;
  return part.kind === "match" && part.test.test(name);
}

function matchesFrom(
  segments: readonly Segment[],
  at: number,
  names: readonly string[],
  name: number,
): boolean {
  const part = segments[at];
  if (part === undefined) return name === names.length;
  if (part.kind === "folders") {
    for (let next = name; next <= names.length; next++)
      if (matchesFrom(segments, at + 1, names, next)) return true;
    return false;
  }
  return (
    name < names.length && matchesName(part, names[name]!) && matchesFrom(segments, at + 1, names, name + 1)
  );
}

/** Splits at slashes; one after a backslash can't be part of a name anyway. */
function splitPattern(text: string): string[] {
  return text.split("/").filter((part) => part !== "");
}

function segment(part: string, pattern: string): Segment {
  if (part === "**") return { kind: "folders" };
  if (!/[*?[]/.test(part.replace(/\\./g, ""))) return { kind: "literal", name: part.replace(/\\(.)/g, "$1") };
  let source = /^[*?]/.test(part) ? "(?!\\.)" : "";
  for (let at = 0; at < part.length; at++) {
    const character = part[at]!;
    if (character === "*") source += "[^/]*";
    else if (character === "?") source += "[^/]";
    else if (character === "\\") source += RegExp.escape(part[++at] ?? "\\");
    else if (character === "[") {
      const end = part.indexOf("]", at + 2);
      if (end < 0)
        throw settingFault("paths", `paths: "${pattern}": "[" has no "]"; write \\[ for the character`);
      const set = part
        .slice(at + 1, end)
        .replace(/^!/, "^")
        .replaceAll("\\", "\\\\");
      source += `[${set}]`;
      at = end;
    } else source += RegExp.escape(character);
  }
  return { kind: "match", test: compileSource(source, pattern) };
}

function compileSource(source: string, pattern: string): RegExp {
  try {
    return new RegExp(`^${source}$`, "us");
  } catch (error) {
    throw settingFault("paths", `paths: "${pattern}": ${(error as Error).message}`, error);
  }
}

/** "a{b,c}" → "ab", "ac"; from the left, nested ones too. */
function expandBraces(text: string): string[] {
  const open = findOutside(text, "{");
  if (open < 0) return [text];
  const close = matchingBrace(text, open);
  if (close < 0) return [text];
  const head = text.slice(0, open);
  const tail = text.slice(close + 1);
  return splitAlternatives(text.slice(open + 1, close)).flatMap((each) => expandBraces(head + each + tail));
}

function findOutside(text: string, character: string): number {
  for (let at = 0; at < text.length; at++) {
    if (text[at] === "\\") at++;
    else if (text[at] === character) return at;
  }
  return -1;
}

function matchingBrace(text: string, open: number): number {
  let depth = 0;
  for (let at = open; at < text.length; at++) {
    if (text[at] === "\\") at++;
    else if (text[at] === "{") depth++;
    else if (text[at] === "}" && --depth === 0) return at;
  }
  return -1;
}

function splitAlternatives(text: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let from = 0;
  for (let at = 0; at < text.length; at++) {
    if (text[at] === "\\") at++;
    else if (text[at] === "{") depth++;
    else if (text[at] === "}") depth--;
    else if (text[at] === "," && depth === 0) {
      parts.push(text.slice(from, at));
      from = at + 1;
    }
  }
  return [...parts, text.slice(from)];
}
