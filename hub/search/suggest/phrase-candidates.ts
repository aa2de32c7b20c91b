/**
 * Finds candidates for each word of a phrase among the terms of a field, as `direct_generator` of 6.5 does: by edits,
 * then by how frequent they are.
 */

import type { Analyzer } from "#hub/engine/analysis/analysis.ts";
import {
  flag,
  integer,
  number,
  oneOf,
  readOptions,
  required,
  text,
  withoutEffect,
} from "#hub/search/options/options.ts";
import type { ShardContext } from "#hub/search/query/query.ts";
import type { SearchControl } from "#hub/search/query/search-control.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { similarTerms } from "./similar-terms.ts";

/** Maximum number of candidates of a word that a generator may return. */
const MAX_SIZE = 1_000;

/** Options of one generator of a phrase suggestion. */
export const DIRECT_GENERATOR_OPTIONS = {
  field: required(text("field whose terms are candidates", undefined)),
  size: integer("candidates of each word", 5, 1),
  suggest_mode: oneOf("which words get candidates", ["missing", "popular", "always"], "missing"),
  max_edits: integer("letters that may differ, 1 or 2", 2, 1),
  prefix_length: integer("letters at the beginning that must be as given", 1),
  min_word_length: integer("length of a word from which on it gets candidates", 4),
  max_inspections: integer("factor of [size]: number of candidates from which the best are chosen", 5, 1),
  min_doc_freq: number("documents that a candidate is in, as a number or a share", 0),
  max_term_freq: number(
    "maximum document frequency of a word with candidates, as a number or a fraction",
    0.01,
  ),
  accuracy: number("similarity that a candidate has at least, 0 to 1", 0.5),
  sort: oneOf("which candidates come first", ["score", "frequency"], "score"),
  string_distance: withoutEffect(
    oneOf("the number of edits counts", ["internal", "damerau_levenshtein"], "internal"),
  ),
  lowercase_terms: withoutEffect(flag("words are as the analyzer makes them", false)),
  pre_filter: text("analyzer of each word before candidates are drawn", undefined),
  post_filter: text("analyzer of each candidate", undefined),
} as const;

/** A generator as a request has it. */
export type GeneratorOptions = ReturnType<typeof readGenerator>;

/** A word of a phrase, or a candidate for it. */
export interface Candidate {
  readonly term: string;
  readonly docFreq: number;
  readonly totalTermFreq: number;
  /** Likelihood that the word was meant by what was typed, 0 to 1; 1 for what was typed itself. */
  readonly channel: number;
  /** Orders the candidates of a word. */
  readonly score: number;
  readonly isInput: boolean;
}

/** A word of the phrase with its candidates, the best first. */
export interface CandidateSet {
  readonly original: Candidate;
  candidates: readonly Candidate[];
}

interface TermCounts {
  readonly docFreq: number;
  readonly totalTermFreq: number;
}

/** Reads one generator. Throws parsing, request_invalid. */
export function readGenerator(body: JsonObject) {
  const options = readOptions("direct_generator", body, DIRECT_GENERATOR_OPTIONS, "option");
  const { max_edits: maxEdits, size } = options;
  if (maxEdits > 2) throw new AppError("request_invalid", `Illegal max_edits value ${maxEdits}`);
  if (size > MAX_SIZE)
    throw new AppError(
      "request_invalid",
      `[direct_generator] [size] may be ${MAX_SIZE} at most, but is ${size}`,
    );
  for (const key of ["min_doc_freq", "max_term_freq"] as const)
    if (options[key] >= 1 && !Number.isInteger(options[key]))
      throw new AppError("request_invalid", "Fractional absolute document frequencies are not allowed");
  return options;
}

/** A generator on one shard. */
export class CandidateGenerator {
  readonly #shard: ShardContext;
  readonly #path: string;
  readonly #options: GeneratorOptions;
  readonly #realWord: number;
  readonly #maxDoc: number;
  readonly #allTerms: number;
  readonly #preFilter: Analyzer | undefined;
  readonly #postFilter: Analyzer | undefined;

  /** `realWord`: likelihood of a word that is in the index. Throws request_invalid for an unknown analyzer. */
  constructor(shard: ShardContext, options: GeneratorOptions, realWord: number) {
    const { mapping, searcher } = shard;
    this.#shard = shard;
    this.#options = options;
    this.#realWord = realWord;
    this.#path = mapping.resolve(options.field)?.path ?? options.field;
    this.#maxDoc = searcher.segments.reduce((sum, { docCount }) => sum + docCount, 0);
    this.#allTerms = shard.fieldStats(this.#path).sumTotalTermFreq;
    const { pre_filter: pre, post_filter: post } = options;
    this.#preFilter = pre === undefined ? undefined : mapping.analysis.analyzer(pre);
    this.#postFilter = post === undefined ? undefined : mapping.analysis.analyzer(post);
  }

  /** Whether the shard has terms of the field. */
  get hasTerms(): boolean {
    return this.#shard.searcher.segments.some((segment) => segment.terms(this.#path) !== null);
  }

  /** Returns a word of the phrase in the form of the generator's field. */
  candidate(term: string, channel: number, isInput: boolean): Candidate {
    const counts = this.#counts(this.#filtered(term));
    return { term, ...counts, channel, score: this.#score(counts, channel), isInput };
  }

  /** Adds the candidates of a word to its set. Throws cancelled. */
  async draw(set: CandidateSet, control: SearchControl): Promise<void> {
    const { suggest_mode: mode, min_doc_freq: minDocs } = this.#options;
    const rare = mode === "always" ? 0 : this.#rareThreshold(set.original.docFreq);
    const word = this.#filtered(set.original.term);
    const similar = await this.#similar(word, Math.max(minDocs, rare), control);
    const drawn = similar.flatMap((each) => this.#postFiltered(each));
    const all = new Map<string, Candidate>();
    for (const each of [...drawn, ...set.candidates]) if (!all.has(each.term)) all.set(each.term, each);
    set.candidates = [...all.values()].sort((a, b) => b.score - a.score || (a.term < b.term ? -1 : 1));
  }

  async #similar(word: string, threshold: number, control: SearchControl): Promise<Candidate[]> {
    const { min_word_length: minLength, suggest_mode: mode, max_term_freq: maxFreq } = this.#options;
    const length = Array.from(word).length;
    const { docFreq } = this.#counts(word);
    const isFrequent = docFreq > (maxFreq >= 1 ? maxFreq : Math.ceil(Math.fround(maxFreq) * this.#maxDoc));
    if (length < minLength || (mode === "missing" && docFreq > 0) || isFrequent) return [];
    const atLeast = threshold >= 1 ? Math.trunc(threshold) : Math.trunc(threshold * this.#maxDoc) - 1;
    const minFreq = Math.max(mode === "popular" ? docFreq : 0, threshold > 0 ? atLeast : 0);
    const { max_edits: maxEdits, prefix_length: prefixLength, max_inspections: factor, size } = this.#options;
    const terms = await similarTerms(this.#shard, this.#path, word, { maxEdits, prefixLength }, control);
    const scored = terms.flatMap(({ text: term, distance, ...counts }) => {
      const channel = Math.fround(1 - Math.fround(distance / Math.min(length, Array.from(term).length)));
      if (channel <= 0 || channel < Math.fround(this.#options.accuracy) || counts.docFreq <= minFreq)
        return [];
      return [{ term, distance, ...counts, channel, score: this.#score(counts, channel), isInput: false }];
    });
    const nearest = scored.sort((a, b) => b.channel - a.channel || (a.term < b.term ? -1 : 1));
    const looked = size * factor;
    const once = nearest.filter(({ distance }) => distance === 1).slice(0, looked);
    const isTwice = maxEdits > 1 && once.length < looked;
    // Words that differ by two letters begin with the same letter in any case.
    const sameStart = nearest.filter(({ term }) => term.codePointAt(0) === word.codePointAt(0));
    const found = isTwice ? [...new Set([...once, ...sameStart.slice(0, looked)])] : once;
    const byFrequency = this.#options.sort === "frequency";
    return found
      .sort(
        (a, b) =>
          (byFrequency ? b.docFreq - a.docFreq : 0) ||
          b.channel - a.channel ||
          b.docFreq - a.docFreq ||
          (a.term < b.term ? -1 : 1),
      )
      .slice(0, size);
  }

  #postFiltered(candidate: Candidate): Candidate[] {
    if (this.#postFilter === undefined) return [candidate];
    let before = -1;
    return this.#postFilter.tokens(candidate.term).map(({ text: term, position }) => {
      const isNext = position > before;
      before = position;
      const { score } = candidate;
      if (isNext && term === candidate.term) return { ...candidate, ...this.#counts(term), score };
      return { ...candidate, term, channel: this.#realWord, score };
    });
  }

  /** Documents above which a candidate counts as more popular than a word in `docFreq` of them. */
  #rareThreshold(docFreq: number): number {
    const { min_doc_freq: minDocs } = this.#options;
    const plateau = Math.trunc(minDocs >= 1 ? minDocs : this.#maxDoc * minDocs);
    if (docFreq === 0 || docFreq <= plateau) return 0;
    return Math.max(0, Math.round((docFreq * Math.log10(docFreq - plateau)) / Math.log10(5) + 1));
  }

  #score({ totalTermFreq }: TermCounts, channel: number): number {
    return channel * ((totalTermFreq + 1) / (this.#allTerms + 1));
  }

  /** The last word that [pre_filter] makes of one. */
  #filtered(term: string): string {
    return this.#preFilter?.tokens(term).at(-1)?.text ?? term;
  }

  #counts(term: string): TermCounts {
    let [docFreq, totalTermFreq] = [0, 0];
    for (const segment of this.#shard.searcher.segments) {
      const found = segment.terms(this.#path)?.find(term);
      docFreq += found?.docFreq ?? 0;
      totalTermFreq += found?.totalTermFreq ?? 0;
    }
    return { docFreq, totalTermFreq };
  }
}
