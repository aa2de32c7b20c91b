/** `more_like_this`: documents that share the most characteristic words of texts or other documents. */

import type { Field } from "#hub/engine/mapping/field.ts";
import { BooleanNode } from "#hub/search/execute/nodes/boolean.ts";
import { IdsNode, NoneNode } from "#hub/search/execute/nodes/documents.ts";
import { TermNode } from "#hub/search/execute/nodes/term.ts";
import { boosted, MappedNode } from "#hub/search/execute/nodes/wrapped-query.ts";
import { minimumShouldMatch } from "#hub/search/fields/minimum-should-match.ts";
import { analyze } from "#hub/search/fields/text-query.ts";
import { describe } from "#hub/search/options/json.ts";
import { anything, flag, integer, number, required, text, texts } from "#hub/search/options/options.ts";
import { type QueryType, readBody, withBoost } from "#hub/search/parse/query-parser.ts";
import { compileWildcard } from "#hub/search/patterns/wildcard.ts";
import type { Query, ShardContext } from "#hub/search/query/query.ts";
import { sourcePath, valuesAt } from "#hub/search/source/source-values.ts";
import { AppError } from "#proto/kit/errors.ts";
import { isObject, type JsonObject } from "#proto/kit/json.ts";

/** Texts and documents that one query compares with. */
const MAX_LIKES = 100;
/** Maximum UTF-16 units of a value that are analysed. */
const MAX_ANALYZED = 100_000;
/** Different words of a field that are weighed; those after them aren't. */
const MAX_WORDS = 10_000;

const OPTIONS = {
  fields: texts("fields of text or keywords, with *; all of them without it"),
  like: required(anything("texts, documents by _id, or documents in doc")),
  unlike: anything("the same; their words don't count"),
  max_query_terms: integer("words that are sought", 25, 1),
  min_term_freq: integer("minimum frequency of a word in the given texts or documents", 2),
  min_doc_freq: integer("documents that a word has to be in", 5),
  max_doc_freq: integer("documents that a word may be in", Number.MAX_SAFE_INTEGER),
  min_word_length: integer("letters of a word at least", 0),
  max_word_length: integer("maximum length of a word; 0: no limit", 0),
  stop_words: texts("words that don't count"),
  analyzer: text("analyzer instead of the fields'", undefined),
  minimum_should_match: text("how many of the words have to be found", "30%"),
  boost_terms: number("weight of a word by how telling it is; 0: all alike", 0),
  include: flag("whether the documents compared with are found too", false),
  fail_on_unsupported_field: flag("whether a field of another type is an error", true),
} as const;

type Options = Omit<ReturnType<typeof readOptionsOf>, "boost" | "_name">;

/** What is compared with. */
interface Likes {
  readonly texts: readonly string[];
  readonly documents: readonly JsonObject[];
  /** Of documents that are stored. */
  readonly ids: readonly string[];
}

interface Telling {
  readonly field: string;
  readonly word: string;
  readonly score: number;
}

export const moreLikeThis: QueryType = {
  name: "more_like_this",
  aliases: ["mlt"],
  summary: "Documents that share the telling words of texts or other documents.",
  options: OPTIONS,
  parse(body) {
    const options = readOptionsOf(body);
    const like = readLikes(options.like, "like");
    const unlike = readLikes(options.unlike ?? [], "unlike");
    if (like.texts.length + like.documents.length === 0)
      throw new AppError(
        "parsing",
        "more_like_this requires either 'like' texts or documents to be specified",
      );
    if (options.fields?.length === 0)
      throw new AppError("parsing", "more_like_this requires 'fields' to be non-empty");
    const minimum = minimumShouldMatch(options.minimum_should_match);
    const query = new MappedNode((shard) => {
      const words = tellingWords(shard, options, like, unlike);
      if (words.length === 0) return new NoneNode();
      return new BooleanNode({
        should: words.map((each) => wordQuery(each, words[0]!, options.boost_terms)),
        mustNot: options.include || like.ids.length === 0 ? [] : [new IdsNode(like.ids)],
        ...(minimum !== undefined && { minimumShouldMatch: minimum }),
      });
    });
    return withBoost(query, options);
  },
};

function readOptionsOf(body: unknown) {
  return readBody("more_like_this", body, OPTIONS);
}

function readLikes(given: unknown, option: string): Likes {
  const items: unknown[] = Array.isArray(given) ? given : [given];
  if (items.length > MAX_LIKES)
    throw new AppError("request_invalid", `[more_like_this] [${option}] may have at most ${MAX_LIKES} items`);
  const documents = items.filter((item) => isObject(item));
  const other = items.find((item) => !isObject(item) && typeof item !== "string");
  if (other !== undefined)
    throw new AppError("parsing", `[${option}] must hold texts and documents, but holds ${describe(other)}`);
  return {
    texts: items.filter((item) => typeof item === "string"),
    documents: documents.map((item) => (isObject(item["doc"]) ? item["doc"] : {})),
    ids: documents.flatMap(({ _id: id }) =>
      typeof id === "string" || typeof id === "number" ? [String(id)] : [],
    ),
  };
}

/** The most significant words of what is compared with, the most significant first. */
function tellingWords(shard: ShardContext, options: Options, like: Likes, unlike: Likes): Telling[] {
  const found: Telling[] = [];
  shard.requireOne(); // the rarest words of each shard
  const total = shard.searcher.segments.reduce((sum, { docCount }) => sum + docCount, 0);
  const stops = new Set(options.stop_words);
  for (const field of wantedFields(shard, options)) {
    const avoided = wordsOf(shard, field, unlike, options.analyzer);
    for (const [word, frequency] of wordsOf(shard, field, like, options.analyzer)) {
      if (frequency < options.min_term_freq || avoided.has(word) || stops.has(word)) continue;
      if (word.length < options.min_word_length) continue;
      if (options.max_word_length > 0 && word.length > options.max_word_length) continue;
      const documents = shard.docFreq(field.path, word);
      if (documents < options.min_doc_freq || documents > options.max_doc_freq || documents === 0) continue;
      // Rare words have a larger weight, as in BM25.
      const rarity = Math.log(1 + (total - documents + 0.5) / (documents + 0.5));
      found.push({ field: field.path, word, score: frequency * rarity });
    }
  }
  found.sort((a, b) => b.score - a.score || (a.word < b.word ? -1 : 1));
  return found.slice(0, options.max_query_terms);
}

function wantedFields(shard: ShardContext, { fields, fail_on_unsupported_field: fails }: Options): Field[] {
  const hasWords = ({ type, index }: Field): boolean => index && (type === "text" || type === "keyword");
  const all = [...shard.mapping.fields()];
  if (fields === undefined) return all.filter(hasWords);
  return fields.flatMap((name) => {
    if (name.includes("*")) {
      const pattern = compileWildcard(name);
      return all.filter((field) => hasWords(field) && pattern.matches(field.path));
    }
    const field = shard.mapping.resolve(name);
    if (field === undefined) return [];
    if (hasWords(field)) return [field];
    if (!fails) return [];
    throw new AppError("query_shard", `more_like_this only supports text/keyword fields: [${name}]`);
  });
}

/** How often each word of a field is in texts and documents. */
function wordsOf(
  shard: ShardContext,
  field: Field,
  { texts: plain, documents }: Likes,
  analyzer: string | undefined,
): ReadonlyMap<string, number> {
  const path = sourcePath(field, shard);
  const values = [...plain, ...documents.flatMap((document) => valuesAt(document, path))];
  const words = new Map<string, number>();
  for (const value of values) {
    for (const word of wordsOfValue(shard, field, String(value).slice(0, MAX_ANALYZED), analyzer)) {
      if (words.size >= MAX_WORDS && !words.has(word)) continue;
      words.set(word, 1 + (words.get(word) ?? 0));
    }
  }
  return words;
}

function wordsOfValue(
  shard: ShardContext,
  field: Field,
  value: string,
  analyzer: string | undefined,
): string[] {
  if (field.type === "keyword" && analyzer === undefined) {
    const { analysis } = shard.mapping;
    return [field.normalizer === undefined ? value : analysis.normalize(field.normalizer, value)];
  }
  return analyze(shard, field, value, analyzer ?? field.analyzer).map(({ text: word }) => word);
}

function wordQuery({ field, word, score }: Telling, best: Telling, boost: number): Query {
  const query = new TermNode(field, word);
  return boost > 0 ? boosted(query, (boost * score) / best.score) : query;
}
