/**
 * Marks what the query found in the fields of a hit. A text is cut into passages, of which the best of those with
 * marks are kept.
 */

import type { Field } from "#hub/engine/mapping/field.ts";
import type { Query, ShardContext } from "#hub/search/query/query.ts";
import { sourcePath, valuesAt } from "#hub/search/source/source-values.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import type { HighlightField, HighlightRequest } from "./highlight-request.ts";
import { type Mark, QueryWords } from "./matches.ts";

/** A part of a text with the marks in it. */
interface Passage {
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

/** Characters of a text that are highlighted unless index.highlight.max_analyzed_offset is set. */
const MAX_ANALYZED = 1_000_000;

/** Marks hits of one shard. */
export class Highlighter {
  readonly #request: HighlightRequest;
  readonly #shard: ShardContext;
  readonly #words: QueryWords;
  readonly #own = new Map<HighlightField, QueryWords>();

  constructor(request: HighlightRequest, query: Query, shard: ShardContext) {
    this.#request = request;
    this.#shard = shard;
    this.#words = new QueryWords(query, shard);
    for (const field of request.fields) {
      if (field.query !== undefined) this.#own.set(field, new QueryWords(field.query, shard));
    }
  }

  /** Returns fragments by field; undefined if nothing is to be shown. */
  highlight(source: JsonObject): Record<string, string[]> | undefined {
    const found: Record<string, string[]> = {};
    for (const options of this.#request.fields) {
      for (const field of this.#fields(options.name)) {
        const fragments = this.#fragments(source, field, options);
        if (fragments.length > 0) found[options.name.includes("*") ? field.path : options.name] = fragments;
      }
    }
    return Object.keys(found).length === 0 ? undefined : found;
  }

  /** Patterns mean text and keyword fields only. */
  #fields(name: string): Field[] {
    if (name.includes("*")) {
      return this.#shard.mapping
        .match(name)
        .filter((field) => field.type === "text" || field.type === "keyword");
    }
    const field = this.#shard.mapping.resolve(name);
    return field === undefined ? [] : [field];
  }

  #fragments(source: JsonObject, field: Field, options: HighlightField): string[] {
    const words = this.#own.get(options) ?? this.#words;
    const values = valuesAt(source, sourcePath(field, this.#shard))
      .map(String)
      .filter((value) => value.length <= field.ignoreAbove);
    for (const value of values) this.#checkLength(value, field, options);
    const marked = values.map((value) => {
      const text = value.slice(0, MAX_ANALYZED);
      return {
        value,
        marks: words.marks(this.#tokens(field, text), options.requireFieldMatch ? field.path : undefined),
      };
    });
    const wanted = marked.filter(({ marks }) => marks.length > 0);
    if (wanted.length === 0) return noMatch(values[0], options);
    if (options.fragments === 0)
      return wanted.map(({ value, marks }) => mark(value, 0, value.length, marks, options));
    const passages = wanted.flatMap(({ value, marks }) =>
      bestPassages(
        value,
        marks,
        options.fragmentSize === 0 ? value.length : options.fragmentSize,
        options.fragments,
      ).map((passage) => ({ value, ...passage })),
    );
    const best = [...passages].sort((a, b) => b.score - a.score).slice(0, options.fragments);
    const shown = options.byScore ? best : passages.filter((passage) => best.includes(passage));
    return shown.map(({ value, start, end, marks }) => mark(value, start, end, marks, options).trim());
  }

  /** Throws request_invalid if an index limits the text that is analysed and its mapping has no offsets instead. */
  #checkLength(value: string, field: Field, { plain }: HighlightField): void {
    const { index, maxAnalyzedOffset: limit = Number.POSITIVE_INFINITY } = this.#shard;
    if (value.length <= limit || (field.offsets && !plain)) return;
    throw new AppError(
      "request_invalid",
      `The length of [${field.path}] of a document of [${index}] index has exceeded [${limit}] - maximum allowed to be analyzed for highlighting. This maximum can be set by changing the [index.highlight.max_analyzed_offset] index level setting. For large texts, map the field with index_options: offsets and highlight with unified or fvh.`,
    );
  }

  #tokens(
    field: Field,
    text: string,
  ): ReturnType<ReturnType<ShardContext["mapping"]["analysis"]["analyzer"]>["tokens"]> {
    if (field.type === "text") return this.#shard.mapping.analysis.analyzer(field.analyzer).tokens(text);
    const term =
      field.normalizer === undefined ? text : this.#shard.mapping.analysis.normalize(field.normalizer, text);
    return [{ text: term, startOffset: 0, endOffset: text.length, type: "word", position: 0 }];
  }
}

function noMatch(value: string | undefined, options: HighlightField): string[] {
  if (value === undefined || options.noMatchSize === 0) return [];
  const space = value.indexOf(" ", options.noMatchSize);
  return [encode(value.slice(0, space < 0 ? undefined : space), options)];
}

function mark(
  value: string,
  start: number,
  end: number,
  marks: readonly Mark[],
  options: HighlightField,
): string {
  let text = "";
  let at = start;
  for (const each of marks) {
    text += encode(value.slice(at, each.start), options);
    text += `${options.preTag}${encode(value.slice(each.start, each.end), options)}${options.postTag}`;
    at = each.end;
  }
  return text + encode(value.slice(at, end), options);
}

const ESCAPES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#x27;",
  "/": "&#x2F;",
};

function encode(text: string, { encodeHtml }: HighlightField): string {
  return encodeHtml ? text.replace(/[&<>"'/]/g, (character) => ESCAPES[character]!) : text;
}

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
  // Maximum end of the marks up to each because one may be inside another.
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
