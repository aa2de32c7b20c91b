/**
 * The `unified` highlighter: the values of a field as one text, cut into sentences, of which those that say most of the
 * query are shown. As Lucene's UnifiedHighlighter does it.
 */

import { type Boundaries, BoundedSentences, sentences, VALUE_END, valuesOf, Words } from "./breaks.ts";
import type { HighlightField } from "./highlight-request.ts";
import { encode, type MatchedValue, markUp } from "./markup.ts";
import { type Mark, marksOf } from "./matches.ts";

/** A part of a text with the marks in it. */
interface Passage {
  readonly start: number;
  readonly end: number;
  readonly marks: Mark[];
  score: number;
}

/** Constants of Lucene's passage scorer: BM25 over passages, whose usual length is 87 characters. */
const K1 = 1.2;
const B = 0.75;
const PIVOT = 87;

/** Returns the fragments. */
export function unifiedFragments(values: readonly MatchedValue[], options: HighlightField): string[] {
  const text = values.map((value) => value.text).join(VALUE_END);
  const marks = joinedMarks(values);
  if (marks.length === 0) return noMatch(text, options);
  const count = options.fragments === 0 ? values.length : options.fragments;
  const passages = bestPassages(text, marks, boundariesOf(text, options), count);
  if (options.byScore) passages.sort((a, b) => b.score - a.score);
  return passages.map((passage) =>
    markUp(text, passage, passage.marks, options)
      .replace(/\u2029$/, "")
      .trim(),
  );
}

/** The marks of all values, by their offsets in the joined text. */
function joinedMarks(values: readonly MatchedValue[]): Mark[] {
  const marks: Mark[] = [];
  let offset = 0;
  for (const { text, matches } of values) {
    for (const { start, end, term } of marksOf(matches))
      marks.push({ start: start + offset, end: end + offset, term });
    offset += text.length + 1;
  }
  return marks;
}

function boundariesOf(text: string, { fragments, fragmentSize, scanner }: HighlightField): Boundaries {
  if (fragments === 0) return valuesOf(text);
  if (scanner === "word") return new Words(text);
  return fragmentSize > 0 ? new BoundedSentences(text, fragmentSize) : sentences(text);
}

/** Returns at most `count` passages, the best ones, in the order of the text. */
export function bestPassages(
  text: string,
  marks: readonly Mark[],
  boundaries: Boundaries,
  count: number,
): Passage[] {
  const passages: Passage[] = [];
  for (const mark of marks) {
    let last = passages.at(-1);
    if (last === undefined || mark.start >= last.end) {
      const start = boundaries.preceding(mark.start + 1);
      last = { start, end: Math.min(boundaries.following(mark.start), text.length), marks: [], score: 0 };
      passages.push(last);
    }
    last.marks.push(mark);
  }
  const frequencies = new Map<string, number>();
  for (const { term } of marks) frequencies.set(term, (frequencies.get(term) ?? 0) + 1);
  for (const passage of passages) passage.score = scoreOf(passage, text.length, frequencies);
  return passages
    .sort((a, b) => b.score - a.score || b.start - a.start)
    .slice(0, count)
    .sort((a, b) => a.start - b.start);
}

/** Words that are rare in the text count for more. */
function scoreOf(
  { marks, start, end }: Passage,
  length: number,
  frequencies: ReadonlyMap<string, number>,
): number {
  const passages = 1 + length / PIVOT;
  const norm = K1 * (1 - B + (B * (end - start)) / PIVOT);
  const own = new Map<string, number>();
  for (const { term } of marks) own.set(term, (own.get(term) ?? 0) + 1);
  let score = 0;
  for (const [term, frequency] of own) {
    const total = frequencies.get(term) ?? frequency;
    const weight = (K1 + 1) * Math.log(1 + (passages + 0.5) / (total + 0.5));
    score += (weight * frequency) / (frequency + norm);
  }
  // The beginning of a text says most about it.
  return score * (1 + 1 / Math.log(PIVOT + start));
}

/** The beginning of the first value, up to the end of a word; with `number_of_fragments: 0` its first sentence. */
function noMatch(text: string, options: HighlightField): string[] {
  if (options.noMatchSize === 0) return [];
  const start = text.search(/[^\u2029]/);
  if (start < 0) return [];
  const valueEnd = text.indexOf(VALUE_END, start);
  let end = valueEnd < 0 ? text.length : valueEnd;
  if (options.noMatchSize < end) end = new Words(text).following(options.noMatchSize);
  const shown = encode(text.slice(start, end), options)
    .replace(/\u2029$/, "")
    .trim();
  return [options.fragments === 0 ? shown.slice(0, sentences(shown).following(0)).trim() : shown];
}
