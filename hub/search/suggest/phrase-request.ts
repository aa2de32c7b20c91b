/** Reads the request of a phrase suggestion. */

import { compileMustache, type MustacheTemplate } from "#hub/scripts/mustache.ts";
import { writeJson } from "#hub/search/options/json-writer.ts";
import {
  flag,
  integer,
  list,
  number,
  object,
  readOptions,
  required,
  text,
  type Values,
} from "#hub/search/options/options.ts";
import { AppError } from "#proto/kit/errors.ts";
import { isObject, type JsonObject } from "#proto/kit/json.ts";
import { type GeneratorOptions, readGenerator } from "./phrase-candidates.ts";
import { readSmoothing, SMOOTHING, type WordModel } from "./phrase-scores.ts";

/** Maximum number of phrases of each shard; more are refused. */
const MAX_PHRASES = 1_000;
/** Maximum number of words of a text that may be corrected; a higher [token_limit] is refused. */
const MAX_WORDS = 100;
const MAX_GENERATORS = 10;

/** Options of a phrase suggestion. */
const PHRASE_SUGGESTION_OPTIONS = {
  field: required(text("field whose terms and shingles give the probability of words", undefined)),
  analyzer: text("analyzer of the text instead of the field's", undefined),
  size: integer("phrases to return", 5, 1),
  shard_size: integer("phrases of each shard", undefined, 1),
  gram_size: integer(
    "number of words considered together; default: that of the field's shingles",
    undefined,
    1,
  ),
  confidence: number("factor of the given text's score, which others must exceed", 1),
  max_errors: number("words that may be corrected, as a number or, below 1, a share", 0.5),
  real_word_error_likelihood: number("probability that a word in the index is spelled correctly", 0.95),
  separator: text("separator between the words of a shingle", " "),
  force_unigrams: flag("whether words are corrected alone, never shingles", true),
  token_limit: integer("a text with this many words or more isn't corrected", 10, 1),
  smoothing: SMOOTHING,
  direct_generator: list("sources of candidates; default: the field"),
  highlight: object("[pre_tag] and [post_tag], put around corrected words"),
  collate: object("[query], a template that must match a document for a phrase, [params] and [prune]"),
} as const;

const HIGHLIGHT_OPTIONS = { pre_tag: text("", undefined), post_tag: text("", undefined) } as const;

export type PhraseOptions = Values<typeof PHRASE_SUGGESTION_OPTIONS>;

export interface Collation {
  readonly template: MustacheTemplate;
  readonly params: JsonObject;
  /** Phrases without a document are kept and marked. */
  readonly isMarked: boolean;
}

/** A parsed phrase suggestion. */
export interface PhraseRules {
  readonly options: PhraseOptions;
  readonly model: WordModel;
  readonly generators: readonly GeneratorOptions[];
  readonly collation: Collation | undefined;
  readonly tags: readonly [pre: string, post: string] | undefined;
  /** Rounded to a float, as in 6.5. */
  readonly realWord: number;
  readonly shardSize: number;
}

export function readRules(body: JsonObject): PhraseRules {
  const options = readOptions("phrase", body, PHRASE_SUGGESTION_OPTIONS, "option");
  const { size, shard_size: given, highlight, direct_generator: generators } = options;
  const shardSize = given ?? Math.max(size, 5);
  const checks: readonly (readonly [boolean, string])[] = [
    [options.max_errors <= 0, "max_error must be > 0.0"],
    [options.confidence < 0, "confidence must be >= 0.0"],
    [options.real_word_error_likelihood <= 0, "real_word_error_likelihood must be > 0.0"],
    [Math.max(size, shardSize) > MAX_PHRASES, `[phrase] [size] may be ${MAX_PHRASES} at most`],
    [options.token_limit > MAX_WORDS, `[phrase] [token_limit] may be ${MAX_WORDS} at most`],
    [(generators?.length ?? 0) > MAX_GENERATORS, `[phrase] may have ${MAX_GENERATORS} generators at most`],
  ];
  for (const [isWrong, message] of checks) if (isWrong) throw new AppError("request_invalid", message);
  return {
    options,
    shardSize,
    realWord: Math.fround(options.real_word_error_likelihood),
    model: readSmoothing(options.smoothing),
    generators: (generators ?? []).map((each) => readGenerator(isObject(each) ? each : {})),
    collation: options.collate === undefined ? undefined : readCollation(options.collate),
    tags: highlight === undefined ? undefined : readTags(highlight),
  };
}

function readTags(given: JsonObject): readonly [pre: string, post: string] | undefined {
  const { pre_tag: pre, post_tag: post } = readOptions("highlight", given, HIGHLIGHT_OPTIONS, "option");
  if (pre !== undefined && post !== undefined) return [pre, post];
  if (pre === undefined && post === undefined) return undefined;
  throw new AppError("request_invalid", "Pre and post tag must both be null or both not be null.");
}

function readCollation(given: JsonObject): Collation {
  const { query, params = {}, prune = false, ...others } = given;
  const unknown = Object.keys(others)[0];
  if (unknown !== undefined)
    throw new AppError("parsing", `suggester[phrase][collate] doesn't support field [${unknown}]`);
  if (typeof prune !== "boolean")
    throw new AppError("parsing", "suggester[phrase][collate] prune must be either 'true' or 'false'");
  const source = isObject(query) ? (query["source"] ?? query["inline"]) : query;
  if (!isObject(params) || (typeof source !== "string" && !isObject(source)))
    throw new AppError("parsing", "suggester[phrase][collate] needs [query], a template with its [source]");
  const template = compileMustache(typeof source === "string" ? source : writeJson(source));
  const own = isObject(query) && isObject(query["params"]) ? query["params"] : {};
  return { template, params: { ...own, ...params }, isMarked: prune };
}
