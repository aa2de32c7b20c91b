/** What the kinds of highlighters share: their input and how marks are written. */

import type { Token } from "#hub/engine/analysis/analysis.ts";
import type { HighlightField } from "./highlight-request.ts";
import type { Match } from "./matches.ts";

/** A value of a field with what the query found in it. */
export interface MatchedValue {
  readonly text: string;
  readonly tokens: readonly Token[];
  readonly matches: readonly Match[];
}

/** A part of a text to show. */
export interface Stretch {
  readonly start: number;
  readonly end: number;
}

const ESCAPES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#x27;",
  "/": "&#x2F;",
};

export function encode(text: string, { encodeHtml }: HighlightField): string {
  return encodeHtml ? text.replace(/[&<>"'/]/g, (character) => ESCAPES[character]!) : text;
}

/** Returns a stretch of a text with its marks, which ascend; `part` chooses among several tags. */
export function markUp(
  text: string,
  { start, end }: Stretch,
  marks: readonly (Stretch & { readonly part?: number })[],
  options: HighlightField,
): string {
  const { preTags, postTags } = options;
  let written = "";
  let at = start;
  for (const { start: from, end: to, part = 0 } of marks) {
    if (to <= at) continue;
    const inside = encode(text.slice(Math.max(at, from), to), options);
    written += encode(text.slice(at, from), options);
    written += preTags[part % preTags.length]! + inside + postTags[part % postTags.length]!;
    at = to;
  }
  return written + encode(text.slice(at, end), options);
}
