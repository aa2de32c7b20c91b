/** `phrase`: suggests texts that are more likely than the given one, by the words and shingles of a field. */

import type { Analyzer } from "#hub/engine/analysis/analysis.ts";
import { NO_MORE_DOCS } from "#hub/engine/searcher/searcher.ts";
import { TemplateBudget } from "#hub/scripts/mustache.ts";
import { withPauses } from "#hub/search/aggregations/tree/steps.ts";
import { parseJson } from "#hub/search/options/json.ts";
import { QUERIES_BY_NAME } from "#hub/search/parse/queries/all.ts";
import { QueryParser } from "#hub/search/parse/query-parser.ts";
import type { SearchControl } from "#hub/search/query/search-control.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { singleFraction } from "#proto/kit/number-text.ts";
import { CandidateGenerator, type CandidateSet, readGenerator } from "./phrase-candidates.ts";
import { type Collation, type PhraseOptions, type PhraseRules, readRules } from "./phrase-request.ts";
import { type Correction, PhraseScorer, TermFrequencies } from "./phrase-scores.ts";
import type { Suggested, Suggester, SuggestNotes, SuggestShard } from "./suggester.ts";

interface PhraseOption extends JsonObject {
  readonly text: string;
  readonly highlighted?: string;
  readonly score: number;
  readonly collate_match?: boolean;
}

/** Result of one shard. Plain data. */
interface ShardPhrases {
  /** Score that others must exceed. */
  readonly cutoff: number;
  readonly options: readonly PhraseOption[];
}

/** Reads a phrase suggestion for `given`. Throws parsing, request_invalid. */
export function phraseSuggester(given: string, body: JsonObject): Suggester<readonly ShardPhrases[]> {
  const rules = readRules(body);
  return {
    kind: "phrase",
    check: ({ context }) => {
      unigramsOf(analyzerOf(context, rules.options), given, rules);
      generatorsOf(context, rules);
    },
    async collect(shards, control, notes) {
      const states: ShardPhrases[] = [];
      for (const shard of shards) states.push(await phrasesOf(shard, given, rules, control, notes));
      return states;
    },
    merge(states) {
      const shards = states.flat();
      return shards.length === 0 ? [] : [merged(given, shards, rules.options.size)];
    },
  };
}

function analyzerOf(
  { mapping }: SuggestShard["context"],
  { field: name, analyzer }: PhraseOptions,
): Analyzer {
  const field = mapping.resolve(name);
  if (field === undefined) throw new AppError("request_invalid", `no mapping found for field [${name}]`);
  return mapping.analysis.analyzer(analyzer ?? field.searchAnalyzer);
}

/** A word of the text, and others that an analyzer puts in its position. */
interface Words {
  readonly text: string;
  readonly synonyms: string[];
}

/** Returns the words of a text without their shingles. Throws request_invalid if there are shingles alone. */
function unigramsOf(analyzer: Analyzer, given: string, { options, generators }: PhraseRules): Words[] {
  const { force_unigrams: isForced, field } = options;
  if (isForced && generators.length === 0 && analyzer.shingles?.hasUnigrams === false)
    throw new AppError(
      "request_invalid",
      `The default candidate generator for phrase suggest can't operate on field: [${field}] since it doesn't emit unigrams. If this is intentional try to set the candidate generator field explicitly`,
    );
  const tokens = analyzer.tokens(given);
  const words: Words[] = [];
  let before = -1;
  for (const { text: word, type, position } of tokens) {
    const isSynonym = type === "SYNONYM" && position === before;
    before = position;
    if (isForced && type === "shingle") continue;
    if (isSynonym && words.length > 0) words.at(-1)!.synonyms.push(word);
    else words.push({ text: word, synonyms: [] });
  }
  if (tokens.length === 0 || words.length > 0) return words;
  throw new AppError("request_invalid", "At least one unigram is required but all tokens were ngrams");
}

function generatorsOf(context: SuggestShard["context"], rules: PhraseRules): CandidateGenerator[] {
  const { generators, options, realWord } = rules;
  const wanted = generators.length > 0 ? generators : [readGenerator({ field: options.field })];
  return wanted
    .map((each) => new CandidateGenerator(context, each, realWord))
    .filter((generator) => generator.hasTerms);
}

async function phrasesOf(
  shard: SuggestShard,
  given: string,
  rules: PhraseRules,
  control: SearchControl,
  notes: SuggestNotes,
): Promise<ShardPhrases> {
  const { context } = shard;
  const { options, model, realWord, shardSize } = rules;
  const nothing = { cutoff: Number.MIN_VALUE, options: [] };
  const analyzer = analyzerOf(context, options);
  const generators = generatorsOf(context, rules);
  const words = unigramsOf(analyzer, given, rules);
  const path = context.mapping.resolve(options.field)!.path;
  const terms = new TermFrequencies(context, path, options.separator);
  if (terms.distinct === 0 || generators.length === 0) return nothing;
  if (words.length === 0 || words.length >= options.token_limit) return nothing;
  const sets = await candidatesOf(words, generators, rules, control);
  const gramSize = options.gram_size ?? analyzer.shingles?.max ?? 1;
  const scorer = new PhraseScorer(terms, { model, gramSize, realWord }, sets);
  const confidence = Math.fround(options.confidence);
  const cutoff = confidence > 0 ? scorer.inputScore * confidence : Number.MIN_VALUE;
  const steps = scorer.corrections(Math.fround(options.max_errors), shardSize, cutoff);
  const corrections = await withPauses(steps, control);
  notes.isCut ||= scorer.isCut;
  return { cutoff, options: await printed(shard, corrections, rules, control) };
}

async function candidatesOf(
  words: readonly Words[],
  generators: readonly CandidateGenerator[],
  { realWord, shardSize }: PhraseRules,
  control: SearchControl,
): Promise<CandidateSet[]> {
  const sets: CandidateSet[] = [];
  for (const { text: word, synonyms } of words) {
    const candidates = synonyms.map((each) => generators[0]!.candidate(each, realWord, false));
    const set: CandidateSet = {
      original: generators[0]!.candidate(word, 1, true),
      candidates: candidates.filter(({ docFreq }) => docFreq > 0),
    };
    for (const generator of generators) await generator.draw(set, control);
    set.candidates = set.candidates.slice(0, shardSize);
    sets.push(set);
  }
  return sets;
}

/** Prints corrections; those without a document are left out or marked. */
async function printed(
  shard: SuggestShard,
  corrections: readonly Correction[],
  { collation, tags }: PhraseRules,
  control: SearchControl,
): Promise<PhraseOption[]> {
  const budget = new TemplateBudget();
  const options: PhraseOption[] = [];
  for (const { words, score } of corrections) {
    if (control.timedOut) break;
    const phrase = words.map(({ term }) => term).join(" ");
    const matches = collation === undefined || (await hasDocument(shard, phrase, collation, budget, control));
    if (!matches && !collation.isMarked) continue;
    options.push({
      text: phrase,
      ...(tags !== undefined && { highlighted: highlighted(words, tags) }),
      score: Math.fround(score),
      ...(collation?.isMarked === true && { collate_match: matches }),
    });
  }
  return options;
}

/** Neighbouring words that were corrected share a pair of tags. */
function highlighted(words: Correction["words"], [pre, post]: readonly [string, string]): string {
  return words
    .map(({ term, isInput }, at) => {
      if (isInput) return term;
      return `${words[at - 1]?.isInput === false ? "" : pre}${term}${words[at + 1]?.isInput === false ? "" : post}`;
    })
    .join(" ");
}

/**
 * Returns whether the query that a collation makes from a phrase matches a document of the shard. Throws parsing,
 * request_invalid.
 */
async function hasDocument(
  shard: SuggestShard,
  phrase: string,
  { template, params }: Collation,
  budget: TemplateBudget,
  control: SearchControl,
): Promise<boolean> {
  const { context } = shard;
  const parser = new QueryParser(QUERIES_BY_NAME);
  const query = parser.parse(parseJson(template.render({ ...params, suggestion: phrase }, budget)));
  for (const path of parser.nestedPaths) await withPauses(context.scope.prepare(path), control);
  const weight = query.weight(context, { scores: false, boost: 1 });
  for (const segment of context.searcher.segments) {
    await weight.prepare?.(segment, control);
    if (control.isDue) await control.pause();
    const seen = shard.visible(segment);
    const scorer = weight.scorer(segment);
    for (let doc = scorer?.next() ?? NO_MORE_DOCS; doc !== NO_MORE_DOCS; doc = scorer!.next()) {
      if (segment.isLive(doc) && (seen === null || seen.has(doc))) return true;
      if (control.isDue) await control.pause();
      if (control.timedOut) return false;
    }
  }
  return false;
}

/** Returns the phrases of all shards that are likelier than the text is on any shard. */
function merged(given: string, shards: readonly ShardPhrases[], size: number): Suggested {
  const cutoff = Math.max(...shards.map((shard) => shard.cutoff));
  const best = new Map<string, PhraseOption>();
  for (const option of shards.flatMap(({ options }) => options)) {
    const known = best.get(option.text);
    if (known === undefined) best.set(option.text, option);
    else
      best.set(option.text, {
        ...known,
        score: Math.max(known.score, option.score),
        ...(known.collate_match !== undefined && {
          collate_match: known.collate_match || option.collate_match === true,
        }),
      });
  }
  const options = [...best.values()]
    .filter(({ score }) => score > cutoff)
    .sort((a, b) => b.score - a.score || (a.text < b.text ? -1 : 1))
    .slice(0, size)
    .map((option) => ({ ...option, score: singleFraction(option.score) }));
  return { text: given, offset: 0, length: given.length, options };
}
