/** Character filters: they change the text and remember where each character came from. */

import { type Options, readList, readString } from "./options.ts";
import type { CharFilter, FilteredText } from "./token.ts";
import { compilePattern } from "./tokenizers.ts";

const ENTITIES: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: " ",
  copy: "©",
  reg: "®",
  hellip: "…",
  ndash: "–",
  mdash: "—",
};

const MARKUP =
  /<!--[\s\S]*?-->|<(?:script|style)\b[\s\S]*?<\/(?:script|style)\s*>|<\/?[a-z][^>]*>|&(?:#x[0-9a-f]+|#\d+|[a-z]+);/gi;

/** Makes a character filter of its settings. Throws settings_invalid. */
export const CHAR_FILTERS: Readonly<Record<string, (options: Options) => CharFilter>> = {
  html_strip: () => (input) => replaceMatches(input, MARKUP, plainText),
  mapping: (options) => {
    const rules = new Map(readList(options, "mappings", []).map(parseRule));
    const keys = [...rules.keys()].sort((a, b) => b.length - a.length).map((key) => RegExp.escape(key));
    if (keys.length === 0) return (input) => input;
    const pattern = new RegExp(keys.join("|"), "g");
    return (input) => replaceMatches(input, pattern, (match) => rules.get(match[0])!);
  },
  pattern_replace: (options) => {
    const pattern = compilePattern(readString(options, "pattern", ""), readString(options, "flags", ""));
    const replacement = readString(options, "replacement", "");
    return (input) =>
      replaceMatches(input, pattern, (match) =>
        replacement.replace(/\$(\d)/g, (_, n: string) => match[Number(n)] ?? ""),
      );
  },
};

const BLOCK_TAG = /^<\/?(?:p|div|br|li|ul|ol|h\d|tr|table|td|th|pre|hr|blockquote)\b/i;

function plainText(match: RegExpExecArray): string {
  const text = match[0];
  if (text.startsWith("<")) return BLOCK_TAG.test(text) ? "\n" : "";
  if (!text.startsWith("&#")) return ENTITIES[text.slice(1, -1).toLowerCase()] ?? text;
  const point = /^&#x/i.test(text) ? Number.parseInt(text.slice(3, -1), 16) : Number(text.slice(2, -1));
  return point <= 0x10_ffff ? String.fromCodePoint(point) : text;
}

function parseRule(rule: string): [string, string] {
  const at = rule.indexOf("=>");
  const decodeEscapes = (text: string): string =>
    text
      .trim()
      .replace(/\\u([0-9a-fA-F]{4})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return [decodeEscapes(rule.slice(0, at)), decodeEscapes(rule.slice(at + 2))];
}

/** Replaces matches; a replacement's units lie at the start of what they replace, what is past its length at its end. */
function replaceMatches(
  input: FilteredText,
  pattern: RegExp,
  replacementOf: (match: RegExpExecArray) => string,
): FilteredText {
  const { text } = input;
  const origin = (at: number): number => input.offsets?.[at] ?? at;
  let result = "";
  const offsets: number[] = [];
  let done = 0;
  const copy = (to: number): void => {
    for (let at = done; at < to; at++) offsets.push(origin(at));
    result += text.slice(done, to);
  };
  for (const match of text.matchAll(pattern)) {
    copy(match.index);
    const replacement = replacementOf(match);
    for (let unit = 0; unit < replacement.length; unit++)
      offsets.push(origin(match.index + Math.min(unit, match[0].length)));
    result += replacement;
    done = match.index + match[0].length;
  }
  copy(text.length);
  offsets.push(origin(text.length));
  return { text: result, offsets: Int32Array.from(offsets) };
}
