/**
 * The `fvh` highlighter: fragments of a size in characters around the marks, ended at boundaries nearby; words of a phrase
 * that follow one another have one mark. As Lucene's FastVectorHighlighter does it.
 */

import type { Token } from "#hub/engine/analysis/analysis.ts";
import { AppError } from "#proto/kit/errors.ts";
import { SentencesNear, Words } from "./breaks.ts";
import { type HighlightField, MAX_SCAN } from "./highlight-request.ts";
import { type MatchedValue, markUp, type Stretch } from "./markup.ts";
import type { Match } from "./matches.ts";

/** Characters before the first mark of a fragment, and the smallest size of one. */
const MARGIN = 6;
const LEAST_SIZE = 18;

/** What a part of the query found at one offset. */
interface Found extends Stretch {
  readonly part: number;
  readonly words: number;
  readonly marks: readonly Stretch[];
}

interface Fragment extends Stretch {
  readonly found: readonly Found[];
}

/** The values of a field as one text, each followed by a space. */
interface Joined {
  readonly text: string;
  readonly values: readonly MatchedValue[];
  /** Where each value ends, with its space. */
  readonly ends: readonly number[];
  /** Present: fragments end at them. */
  readonly sentences: SentencesNear | undefined;
}

/** Returns the fragments. Throws request_invalid for too small ones. */
export function vectorFragments(values: readonly MatchedValue[], options: HighlightField): string[] {
  if (options.fragments > 0 && options.fragmentSize < LEAST_SIZE)
    throw new AppError(
      "request_invalid",
      `fragCharSize(${options.fragmentSize}) is too small. It must be ${LEAST_SIZE} or higher.`,
    );
  const joined = joinedValues(values, options);
  const found = joinedMatches(values).slice(0, options.phraseLimit);
  if (found.length === 0) {
    if (options.noMatchSize === 0 || values.length === 0) return [];
    const beginning = { start: 0, end: options.noMatchSize, found: [] };
    const parts = values.length > 1 ? byValue(beginning, joined) : [beginning];
    return parts.map((part) => shown(joined, part, options));
  }
  const whole = { start: 0, end: Number.POSITIVE_INFINITY, found };
  const cut = options.fragments === 0 ? [whole] : fragmentsOf(found, options.fragmentSize);
  const fragments = values.length > 1 ? cut.flatMap((each) => byValue(each, joined)) : cut;
  if (options.byScore) fragments.sort((a, b) => b.found.length - a.found.length || a.start - b.start);
  const count = options.fragments === 0 ? fragments.length : options.fragments;
  return fragments.slice(0, count).map((fragment) => shown(joined, fragment, options));
}

function joinedValues(values: readonly MatchedValue[], { scanner }: HighlightField): Joined {
  const text = values.map((value) => `${value.text} `).join("");
  let end = 0;
  const ends = values.map((value) => (end += value.text.length + 1));
  return { text, values, ends, sentences: scanner === "sentence" ? new SentencesNear(text) : undefined };
}

/** The matches of all values by their offsets in the joined text; of those at one offset the longest. */
function joinedMatches(values: readonly MatchedValue[]): Found[] {
  const all: Found[] = [];
  let offset = 0;
  for (const { text, matches } of values) {
    for (const match of matches) all.push(foundOf(match, offset));
    offset += text.length + 1;
  }
  all.sort((a, b) => a.start - b.start || b.words - a.words || a.part - b.part);
  let end = 0;
  return all.filter((each) => {
    if (each.start < end) return false;
    end = each.end;
    return true;
  });
}

function foundOf({ tokens, part }: Match, offset: number): Found {
  const marks: { start: number; end: number }[] = [];
  let before: Token | undefined;
  for (const token of tokens) {
    const [start, end] = [token.startOffset + offset, token.endOffset + offset];
    if (before !== undefined && token.position - before.position === 1) marks.at(-1)!.end = end;
    else marks.push({ start, end });
    before = token;
  }
  return { start: marks[0]!.start, end: marks.at(-1)!.end, part, words: tokens.length, marks };
}

/** Puts as many matches as fit into each fragment, which has them in its middle. */
function fragmentsOf(found: readonly Found[], size: number): Fragment[] {
  const fragments: Fragment[] = [];
  let free = 0;
  for (let at = 0; at < found.length; ) {
    const first = found[at]!;
    if (first.start < free) {
      at++;
      continue;
    }
    const limit = Math.max(first.end, Math.max(first.start - MARGIN, free) + size);
    const inside: Found[] = [];
    let { end } = first;
    for (; at < found.length && (inside.length === 0 || found[at]!.end <= limit); at++) {
      end = found[at]!.end;
      if (found[at]!.marks.length <= 1 || end - first.start <= size) inside.push(found[at]!);
      else if (inside.length === 0) {
        at++;
        break;
      }
    }
    if (inside.length === 0) continue;
    const length = end - first.start;
    const start = Math.max(free, first.start - Math.max(0, Math.trunc((size - length) / 2)));
    free = start + Math.max(length, size);
    fragments.push({ start, end: free, found: inside });
  }
  return fragments;
}

/** Cuts a fragment at the ends of values. */
function byValue(fragment: Fragment, { values, ends }: Joined): Fragment[] {
  const parts: Fragment[] = [];
  const { found } = fragment;
  let next = 0;
  for (let at = firstFrom(ends, fragment.start + 1); at < values.length; at++) {
    const [start, end] = [ends[at - 1] ?? 0, ends[at]!];
    if (values[at]!.text === "") continue;
    if (fragment.start >= start && fragment.end <= end) return [fragment];
    const first = next;
    while (next < found.length && found[next]!.start < end) next++;
    // Values before the first match and after the last one aren't shown.
    if (next > 0)
      parts.push({
        start: Math.max(start, fragment.start),
        end: Math.min(end, fragment.end),
        found: found.slice(first, next),
      });
    if (next === found.length) break;
  }
  return parts;
}

/** Returns the index of the first of the ascending numbers that is `least` or more. */
function firstFrom(numbers: readonly number[], least: number): number {
  let [low, high] = [0, numbers.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (numbers[middle]! < least) low = middle + 1;
    else high = middle;
  }
  return low;
}

function shown(joined: Joined, fragment: Fragment, options: HighlightField): string {
  const { text, ends } = joined;
  // What follows the value that the fragment ends in isn't looked at for a boundary.
  const length = ends[firstFrom(ends, fragment.end)] ?? text.length;
  const start = startNear(joined, fragment.start, options);
  const end = fragment.end > length - 1 ? length - 1 : endNear(joined, fragment.end, length, options);
  const marks = fragment.found.flatMap(({ marks: each, part }) => each.map((mark) => ({ ...mark, part })));
  return markUp(text, { start, end }, marks, options);
}

function startNear(
  { text, sentences }: Joined,
  start: number,
  { scanner, boundaryChars, boundaryMaxScan }: HighlightField,
): number {
  if (start < 1 || start > text.length) return start;
  if (sentences !== undefined) return near(start, sentences.startBefore(start));
  if (scanner === "word") return new Words(text.slice(0, start)).preceding(start);
  for (let at = start; at > 0 && at > start - boundaryMaxScan; at--)
    if (boundaryChars.has(text[at - 1]!)) return at;
  return start <= boundaryMaxScan ? 0 : start;
}

function endNear(
  { text, sentences }: Joined,
  end: number,
  length: number,
  { scanner, boundaryChars, boundaryMaxScan }: HighlightField,
): number {
  if (sentences !== undefined) return near(end, Math.min(length, sentences.endBehind(end)));
  if (scanner === "word") {
    const rest = text.slice(end, Math.min(length, end + MAX_SCAN));
    return end + new Words(rest).following(0);
  }
  for (let at = end; at < length && at < end + boundaryMaxScan; at++)
    if (boundaryChars.has(text[at]!)) return at;
  return end;
}

/** Returns the boundary unless it is too far: each of many fragments would be the whole of a text without boundaries. */
function near(place: number, boundary: number): number {
  return Math.abs(boundary - place) > MAX_SCAN ? place : boundary;
}
