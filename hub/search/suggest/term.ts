/** `term`: words of a field that are spelt like those of a text. */

import type { Analyzer } from "#hub/engine/analysis/analysis.ts";
import type { Token } from "#hub/engine/analysis/parts/token.ts";
import {
  flag,
  hint,
  integer,
  number,
  oneOf,
  readOptions,
  required,
  text,
  withoutEffect,
} from "#hub/search/options/options.ts";
import type { SearchControl } from "#hub/search/query/search-control.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { singleFraction } from "#proto/kit/number-text.ts";
import { similarTerms } from "./similar-terms.ts";
import type { Suggested, Suggester, SuggestShard } from "./suggester.ts";

/** Maximum number of words of a text that are examined; others are left out. */
const MAX_WORDS = 100;

/** Options of a term suggestion. */
export const TERM_SUGGESTION_OPTIONS = {
  field: required(text("field whose words are suggested", undefined)),
  analyzer: text("analyzer of the text instead of the field's", undefined),
  size: integer("suggestions of each", 5, 1),
  shard_size: hint(integer("each shard returns as many as an exact answer needs", undefined)),
  sort: oneOf("what comes first", ["score", "frequency"], "score"),
  suggest_mode: oneOf("which words get suggestions", ["missing", "popular", "always"], "missing"),
  accuracy: number("lowest score of a suggestion, 0 to 1", 0.5),
  max_edits: integer("letters that may differ, 1 or 2", 2, 1),
  prefix_length: integer("letters at the beginning that must be as given", 1),
  min_word_length: integer("length of a word from which on it gets suggestions", 4, 1),
  min_doc_freq: number("documents that a suggestion is in at least", 0),
  max_term_freq: withoutEffect(number("frequent words get suggestions by suggest_mode", 0.01)),
  max_inspections: hint(integer("all terms of a shard are compared", 5)),
  string_distance: withoutEffect(text("the number of edits counts", "internal")),
  lowercase_terms: withoutEffect(flag("words are as the analyzer makes them", true)),
} as const;

interface WordRules {
  readonly maxEdits: number;
  readonly prefixLength: number;
  readonly minLength: number;
  readonly minDocs: number;
  /** Lowest score. */
  readonly accuracy: number;
  /** missing: only words that no document has; popular: only words in more documents than the one given. */
  readonly mode: "missing" | "popular" | "always";
}

/** Result of one host. Plain data. */
interface TermState {
  /** Of the first shard that has the field; undefined if none has. */
  readonly order: number | undefined;
  readonly words: readonly WordState[];
}

/** A word of the text, and words similar to it. */
interface WordState extends SimilarWords {
  readonly text: string;
  /** UTF-16 units. */
  readonly offset: number;
  readonly length: number;
}

interface SimilarWords {
  /** Documents that have the word itself. */
  readonly own: number;
  readonly similar: readonly { readonly text: string; readonly distance: number; readonly freq: number }[];
}

interface Candidate extends JsonObject {
  readonly text: string;
  /** 1 for the word itself, less with each edit. */
  readonly score: number;
  /** Documents that have it. */
  readonly freq: number;
}

/** Reads a term suggestion for `given`. Throws parsing. */
export function termSuggester(given: string, body: JsonObject): Suggester<TermState> {
  const options = readOptions("term", body, TERM_SUGGESTION_OPTIONS, "option");
  const { size, sort, min_doc_freq: minDocs } = options;
  const rules: WordRules = {
    maxEdits: Math.min(2, options.max_edits),
    prefixLength: options.prefix_length,
    minLength: options.min_word_length,
    minDocs,
    accuracy: options.accuracy,
    mode: options.suggest_mode,
  };
  return {
    kind: "term",
    async collect(shards, control) {
      const words: WordState[] = [];
      for (const { text: word, startOffset, endOffset } of wordsOf(shards, given, options)) {
        const found = await similar(shards, options.field, word, rules, control);
        words.push({ text: word, offset: startOffset, length: endOffset - startOffset, ...found });
      }
      const first = shards.find(({ context }) => context.mapping.resolve(options.field) !== undefined);
      return { order: first?.order, words };
    },
    merge(states) {
      return wordsOfFirst(states, options.field).map(({ text: word, offset, length }): Suggested => {
        const same = states.flatMap(({ words }) => words.find((each) => each.text === word) ?? []);
        const likely = likeliest(word, same, rules);
        const ordered = sort === "score" ? likely : likely.toSorted((a, b) => b.freq - a.freq);
        const shown = ordered.slice(0, size).map((each) => ({ ...each, score: singleFraction(each.score) }));
        return { text: word, offset, length, options: shown };
      });
    },
  };
}

/** The words as the first shard with the field has them. Throws request_invalid if no shard has it. */
function wordsOfFirst(states: readonly TermState[], field: string): readonly WordState[] {
  const known = states.filter(({ order }) => order !== undefined);
  if (known.length === 0 && states.length > 0)
    throw new AppError("request_invalid", `no mapping found for field [${field}]`);
  return known.toSorted((a, b) => a.order! - b.order!)[0]?.words ?? [];
}

/** The words of a text as the field's analyzer has them; none if no shard has the field. */
function wordsOf(
  shards: readonly SuggestShard[],
  given: string,
  { field: name, analyzer }: { readonly field: string; readonly analyzer?: string | undefined },
): Token[] {
  const analyzers = shards.flatMap(({ context: { mapping } }): Analyzer[] => {
    const field = mapping.resolve(name);
    return field === undefined ? [] : [mapping.analysis.analyzer(analyzer ?? field.searchAnalyzer)];
  });
  const [first] = analyzers;
  return first?.tokens(given).slice(0, MAX_WORDS) ?? [];
}

/** Returns words similar to `word` in shards of one host. */
async function similar(
  shards: readonly SuggestShard[],
  name: string,
  word: string,
  rules: WordRules,
  control: SearchControl,
): Promise<SimilarWords> {
  const own = shards.reduce((sum, { context }) => sum + context.docFreq(pathOf(context, name), word), 0);
  if (word.length < rules.minLength || (own > 0 && rules.mode === "missing")) return { own, similar: [] };
  const found = new Map<string, { distance: number; freq: number }>();
  for (const { context } of shards) {
    const limits = { maxEdits: rules.maxEdits, prefixLength: rules.prefixLength };
    for (const term of await similarTerms(context, pathOf(context, name), word, limits, control))
      found.set(term.text, {
        distance: term.distance,
        freq: (found.get(term.text)?.freq ?? 0) + term.docFreq,
      });
  }
  return { own, similar: Array.from(found, ([text, counts]) => ({ text, ...counts })) };
}

/** Returns words similar to `word` over all hosts, the likeliest first. */
function likeliest(word: string, states: readonly SimilarWords[], rules: WordRules): Candidate[] {
  const own = states.reduce((sum, state) => sum + state.own, 0);
  if (own > 0 && rules.mode === "missing") return [];
  const found = new Map<string, { distance: number; freq: number }>();
  for (const { text: term, distance, freq } of states.flatMap(({ similar: words }) => words))
    found.set(term, { distance, freq: (found.get(term)?.freq ?? 0) + freq });
  return [...found]
    .map(([term, { distance, freq }]): Candidate => {
      return { text: term, score: 1 - distance / Math.min(term.length, word.length), freq };
    })
    .filter(({ score }) => score >= rules.accuracy)
    .filter(({ freq }) => freq >= rules.minDocs && (rules.mode !== "popular" || freq > own))
    .sort((a, b) => b.score - a.score || b.freq - a.freq || (a.text < b.text ? -1 : 1));
}

function pathOf({ mapping }: SuggestShard["context"], name: string): string {
  return mapping.resolve(name)?.path ?? name;
}
