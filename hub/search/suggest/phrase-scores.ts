/**
 * Scores corrected phrases by a noisy channel: the probability that each word was meant, times the probability that it
 * follows the words before it (one of three models over the field's terms and shingles). The best are found depth
 * first.
 */

import type { Steps } from "#hub/search/aggregations/tree/steps.ts";
import { number, object, readOptions, type Values } from "#hub/search/options/options.ts";
import type { ShardContext } from "#hub/search/query/query.ts";
import { AppError } from "#proto/kit/errors.ts";
import { isObject, type JsonObject } from "#proto/kit/json.ts";
import { didYouMean } from "#proto/kit/nearest.ts";
import type { Candidate, CandidateSet } from "./phrase-candidates.ts";

/**
 * Maximum number of words scored for one phrase, shard and number of corrected words; with more combinations the answer is
 * that of fewer corrected words.
 */
const MAX_SCORED = 200_000;

/** Words that are scored between two checks of the time. */
const SCORED_A_LOOK = 128;

/** Avoids a division by a count of 0. */
const EPSILON = 1e-11;

/** Options of the models, by their names. */
export const SMOOTHING_OPTIONS = {
  stupid_backoff: { discount: number("factor of the next shorter shingle", 0.4) },
  laplace: { alpha: number("added to each count", 0.5) },
  linear_interpolation: {
    trigram_lambda: number("weight of three words; the weights are 1 together", 0),
    bigram_lambda: number("weight of two words", 0),
    unigram_lambda: number("weight of a word", 0),
  },
} as const;

/** The models by name. */
export const SMOOTHING = object(
  "the model: stupid_backoff, laplace or linear_interpolation with its options",
);

/** Counts of a shard's terms. */
export class TermFrequencies {
  readonly #shard: ShardContext;
  readonly #path: string;
  readonly #separator: string;
  readonly #known = new Map<string, number>();
  /** Occurrences of all terms. */
  readonly all: number;
  /** Terms; if there are several segments, those of the one with most. */
  readonly distinct: number;

  constructor(shard: ShardContext, path: string, separator: string) {
    this.#shard = shard;
    this.#path = path;
    this.#separator = separator;
    this.all = shard.fieldStats(path).sumTotalTermFreq;
    this.distinct = Math.max(0, ...shard.searcher.segments.map((segment) => segment.terms(path)?.size ?? 0));
  }

  /** Occurrences of words as one term, in all documents. */
  of(...words: readonly Candidate[]): number {
    const term = words.map((word) => word.term).join(this.#separator);
    let count = this.#known.get(term);
    if (count !== undefined) return count;
    count = 0;
    for (const segment of this.#shard.searcher.segments)
      count += segment.terms(this.#path)?.find(term)?.totalTermFreq ?? 0;
    this.#known.set(term, count);
    return count;
  }
}

/** How likely a word is, alone or after one or two others (the nearest first). */
export interface WordModel {
  unigram(terms: TermFrequencies, word: Candidate): number;
  bigram(terms: TermFrequencies, word: Candidate, before: Candidate): number;
  trigram(terms: TermFrequencies, word: Candidate, before: Candidate, first: Candidate): number;
}

/** Reads [smoothing]; stupid_backoff without it. Throws parsing, request_invalid. */
export function readSmoothing(given: JsonObject | undefined): WordModel {
  const entries = Object.entries(given ?? { stupid_backoff: {} });
  const [name, body] = entries[0] ?? ["", {}];
  if (entries.length !== 1) throw new AppError("request_invalid", "only one smoothing model supported");
  const read = <O extends (typeof SMOOTHING_OPTIONS)[keyof typeof SMOOTHING_OPTIONS]>(
    options: O,
  ): Values<O> => {
    if (!isObject(body))
      throw new AppError("parsing", `[smoothing] the options of [${name}] must be an object`);
    return readOptions(name, body, options, "option");
  };
  if (name === "stupid_backoff") return stupidBackoff(read(SMOOTHING_OPTIONS.stupid_backoff).discount);
  if (name === "laplace") return laplace(read(SMOOTHING_OPTIONS.laplace).alpha);
  if (name === "linear_interpolation") return linear(read(SMOOTHING_OPTIONS.linear_interpolation));
  const hint = didYouMean(name, Object.keys(SMOOTHING_OPTIONS));
  throw new AppError("parsing", `suggester[phrase][smoothing] doesn't support [${name}]${hint}`);
}

function plainUnigram(terms: TermFrequencies, word: Candidate): number {
  return (1 + terms.of(word)) / (terms.all + terms.distinct);
}

function stupidBackoff(discount: number): WordModel {
  return {
    unigram: plainUnigram,
    bigram(terms, word, before) {
      const count = terms.of(before, word);
      return count === 0 ? discount * plainUnigram(terms, word) : count / (before.totalTermFreq + EPSILON);
    },
    trigram(terms, word, before, first) {
      const two = terms.of(before, word);
      if (two === 0) return discount * plainUnigram(terms, word);
      const three = terms.of(first, before, word);
      return three === 0 ? discount * (two / (before.totalTermFreq + EPSILON)) : three / (two + EPSILON);
    },
  };
}

function laplace(alpha: number): WordModel {
  return {
    unigram: (terms, word) => (alpha + terms.of(word)) / (terms.all + alpha * terms.distinct),
    bigram: (terms, word, before) =>
      (alpha + terms.of(before, word)) / (before.totalTermFreq + alpha * terms.distinct),
    trigram: (terms, word, before, first) =>
      (alpha + terms.of(first, before, word)) / (terms.of(before, word) + alpha * terms.distinct),
  };
}

function linear(lambdas: {
  readonly unigram_lambda: number;
  readonly bigram_lambda: number;
  readonly trigram_lambda: number;
}): WordModel {
  const { unigram_lambda: one, bigram_lambda: two, trigram_lambda: three } = lambdas;
  const sum = one + two + three;
  if (Math.abs(sum - 1) > 0.001)
    throw new AppError("request_invalid", `linear smoothing lambdas must sum to 1, but are ${sum}`);
  const bigram: WordModel["bigram"] = (terms, word, before) => {
    const count = terms.of(before, word);
    const alone = (one / sum) * plainUnigram(terms, word);
    return count === 0 ? alone : (two / sum) * (count / (0.5 + before.totalTermFreq)) + alone;
  };
  return {
    unigram: plainUnigram,
    bigram,
    trigram(terms, word, before, first) {
      // 6.5 looks the words up from the last to the first.
      const count = terms.of(word, before, first);
      if (count === 0) return bigram(terms, word, before);
      return (three / sum) * (count / (1 + terms.of(word, before))) + bigram(terms, word, before);
    },
  };
}

/** A corrected phrase. */
export interface Correction {
  readonly score: number;
  readonly words: readonly Candidate[];
}

interface ScoringRules {
  readonly model: WordModel;
  /** Maximum number of words taken together, from 1; 3 and more mean 3. */
  readonly gramSize: number;
  /** Likelihood of a word that is in the index. */
  readonly realWord: number;
}

/** Finds the best corrections of one phrase on one shard. */
export class PhraseScorer {
  readonly #terms: TermFrequencies;
  readonly #rules: ScoringRules;
  readonly #sets: readonly CandidateSet[];
  readonly #path: Candidate[] = [];
  #best: Correction[] = [];
  #scored = 0;

  constructor(terms: TermFrequencies, rules: ScoringRules, sets: readonly CandidateSet[]) {
    this.#terms = terms;
    this.#rules = rules;
    this.#sets = sets;
  }

  /** Whether there were more combinations than are scored. */
  get isCut(): boolean {
    return this.#scored >= MAX_SCORED;
  }

  /** Score of the phrase as it was given. */
  get inputScore(): number {
    let score = 0;
    for (const [at, { original }] of this.#sets.entries()) {
      this.#path[at] = original;
      score += this.#scoreAt(at);
    }
    return Math.exp(score);
  }

  /** Returns the best corrections above `cutoff`, the best first. `maxErrors`: words, or from below 1 a share of them. */
  *corrections(maxErrors: number, most: number, cutoff: number): Steps<readonly Correction[]> {
    const share = Math.round(Math.fround(maxErrors * this.#sets.length));
    const correctable = this.#sets.filter(({ candidates }) => candidates.length > 0).length;
    const errors = Math.max(1, Math.min(correctable, maxErrors >= 1 ? Math.trunc(maxErrors) : share));
    for (let allowed = 1; allowed <= errors; allowed++) {
      const ofFewer = this.#best;
      this.#best = [];
      this.#scored = 0;
      yield* this.#walk(0, allowed, 0, most, cutoff);
      if (this.isCut) return allowed > 1 ? ofFewer : this.#best;
    }
    return this.#best;
  }

  *#walk(at: number, errorsLeft: number, before: number, most: number, cutoff: number): Steps<void> {
    const { original, candidates } = this.#sets[at]!;
    for (const word of errorsLeft > 0 ? [original, ...candidates] : [original]) {
      if (this.isCut) return;
      if (this.#scored % SCORED_A_LOOK === 0) yield;
      this.#path[at] = word;
      const score = before + this.#scoreAt(at);
      if (at === this.#sets.length - 1) this.#offer(Math.exp(score), most, cutoff);
      else yield* this.#walk(at + 1, word === original ? errorsLeft : errorsLeft - 1, score, most, cutoff);
    }
  }

  #offer(score: number, most: number, cutoff: number): void {
    if (!(score > cutoff)) return;
    const words = this.#path.slice(0, this.#sets.length);
    const isWorse = (other: Correction): boolean =>
      other.score < score || (other.score === score && isBefore(words, other.words));
    const at = this.#best.findIndex(isWorse);
    if (at < 0 && this.#best.length >= most) return;
    this.#best.splice(at < 0 ? this.#best.length : at, 0, { score, words });
    if (this.#best.length > most) this.#best.pop();
  }

  #scoreAt(at: number): number {
    this.#scored++;
    const { model, gramSize, realWord } = this.#rules;
    const [word, before, first] = [this.#path[at]!, this.#path[at - 1]!, this.#path[at - 2]!];
    const channel = word.channel === 1 ? realWord : word.channel;
    if (at === 0 || gramSize === 1) return Math.log10(channel * model.unigram(this.#terms, word));
    if (at === 1 || gramSize === 2) return Math.log10(channel * model.bigram(this.#terms, word, before));
    return Math.log10(channel * model.trigram(this.#terms, word, before, first));
  }
}

function isBefore(a: readonly Candidate[], b: readonly Candidate[]): boolean {
  for (const [at, { term }] of a.entries()) if (term !== b[at]!.term) return term < b[at]!.term;
  return false;
}
