/** Character filters: they change the text and remember where each character came from. */

import { findMarkup, textOfMarkup } from "#proto/codec/html-markup.ts";
import { type Options, readList, readString } from "./parts/options.ts";
import { compilePattern, expanded } from "./parts/pattern.ts";
import type { CharFilter, FilteredText } from "./parts/token.ts";

/** Makes a character filter of its settings. Throws settings_invalid or RangeError. */
export const CHAR_FILTERS: Readonly<Record<string, (options: Options) => CharFilter>> = {
  html_strip: stripHtml,
  htmlStrip: stripHtml,
  mapping: (options) => {
    if (options["mappings_path"] !== undefined)
      throw new RangeError(
        "[mappings_path] is not offered: files aren't read; write the rules into [mappings]",
      );
    const rules = new Map(readList(options, "mappings", []).map(parseRule));
    if (rules.size === 0)
      throw new RangeError("mapping requires either `mappings` or `mappings_path` to be configured");
    const keys = [...rules.keys()].sort((a, b) => b.length - a.length).map((key) => RegExp.escape(key));
    const pattern = new RegExp(keys.join("|"), "g");
    return (input) => replaceMatches(input, input.text.matchAll(pattern), (match) => rules.get(match[0])!);
  },
  pattern_replace: (options) => {
    if (options["pattern"] === undefined)
      throw new RangeError("pattern is missing for [pattern_replace] char filter of type 'pattern_replace'");
    const pattern = compilePattern(readString(options, "pattern", ""), readString(options, "flags", ""));
    const replacement = readString(options, "replacement", "");
    return (input) =>
      replaceMatches(input, pattern.matches(input.text), (match) => expanded(match, input.text, replacement));
  },
};

/** Filters that a value of a keyword field may pass. */
export const NORMALIZER_CHAR_FILTERS: ReadonlySet<string> = new Set(["mapping", "pattern_replace"]);

function stripHtml(options: Options): CharFilter {
  const kept = new Set(readList(options, "escaped_tags", []).map((name) => name.toLowerCase()));
  return (input) => replaceMatches(input, findMarkup(input.text), (match) => textOfMarkup(match, kept));
}

/** `a => b`, with \uXXXX for a character of either side. Throws RangeError. */
function parseRule(rule: string): [string, string] {
  const match = /^(.*)\s*=>\s*(.*)$/s.exec(rule);
  if (match === null) throw new RangeError(`Invalid Mapping Rule : [${rule}]`);
  const decoded = (text: string): string =>
    text
      .trim()
      .replace(/\\u([0-9a-fA-F]{4})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return [decoded(match[1]!), decoded(match[2]!)];
}

/**
 * Replaces matches; a replacement's units are at the start of what they replace, what is past its length at its end.
 */
function replaceMatches<Match extends { readonly index: number; readonly 0: string }>(
  input: FilteredText,
  matches: Iterable<Match>,
  replacementOf: (match: Match) => string,
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
  for (const match of matches) {
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
