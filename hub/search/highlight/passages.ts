/** Cuts a text into passages and keeps the best of those with marks. */

import type { Mark } from "./matches.ts";

/** A part of a text with the marks in it. */
export interface Passage {
  readonly start: number;
  readonly end: number;
  readonly marks: readonly Mark[];
  readonly score: number;
}

/** Constants of Lucene's passage scorer: BM25 over passages, whose usual length is 87 characters. */
const K1 = 1.2;
const B = 0.75;
const PIVOT = 87;

const sentences = new Intl.Segmenter("en", { granularity: "sentence" });

/** Returns at most `count` passages of about `size` characters, the best ones, in the order of the text. */
export function bestPassages(text: string, marks: readonly Mark[], size: number, count: number): Passage[] {
  const frequencies = new Map<string, number>();
  for (const { term } of marks) frequencies.set(term, (frequencies.get(term) ?? 0) + 1);
  const passages: Passage[] = [];
  let next = 0;
  for (const { start, end } of cut(text, marks, size)) {
    const inside: Mark[] = [];
    while (next < marks.length && marks[next]!.start < end) inside.push(marks[next++]!);
    if (inside.length > 0)
      passages.push({
        start,
        end,
        marks: inside,
        score: scoreOf(inside, start, end, text.length, frequencies),
      });
  }
  return passages
    .sort((a, b) => b.score - a.score || a.start - b.start)
    .slice(0, count)
    .sort((a, b) => a.start - b.start);
}

/** Parts of about `size` characters at the ends of sentences and words; no mark is cut. */
function cut(text: string, marks: readonly Mark[], size: number): { start: number; end: number }[] {
  const parts: { start: number; end: number }[] = [];
  const isInside = insideOf(marks);
  let start = 0;
  let end = 0;
  for (const { segment, index } of sentences.segment(text)) {
    const sentenceEnd = index + segment.length;
    if (end > start && sentenceEnd - start > size) {
      parts.push({ start, end });
      start = end;
    }
    end = sentenceEnd;
    while (end - start > size) {
      const at = wordEnd(text, start + Math.max(1, size), end, isInside);
      if (at >= end) break;
      parts.push({ start, end: at });
      start = at;
    }
  }
  if (end > start) parts.push({ start, end });
  return parts;
}

/** First place at or after `from` between words and outside marks. */
function wordEnd(text: string, from: number, limit: number, isInside: (at: number) => boolean): number {
  for (let at = from; at < limit; at++) if (/\s/.test(text[at]!) && !isInside(at)) return at + 1;
  return limit;
}

/** Returns whether a place is within a mark; `marks` ascend by their starts. */
function insideOf(marks: readonly Mark[]): (at: number) => boolean {
  // Of the marks up to each, as one may lie in another.
  const ends = new Float64Array(marks.length);
  for (const [at, { end }] of marks.entries()) ends[at] = Math.max(end, ends[at - 1] ?? 0);
  return (at) => {
    let [low, high] = [0, marks.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (marks[middle]!.start < at) low = middle + 1;
      else high = middle;
    }
    return low > 0 && ends[low - 1]! > at;
  };
}

function scoreOf(
  marks: readonly Mark[],
  start: number,
  end: number,
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
