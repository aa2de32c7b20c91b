/**
 * The token filters by the names that settings have for them. Positions stay as they are, so removed tokens leave gaps.
 *
 * A new one is a `FilterMaker` (../parts/token.ts) in the file of its kind, and a line in TOKEN_FILTERS. Three sets below it
 * name the filters of a kind:
 *
 * - NORMALIZER_FILTERS, if it works character by character: normalizers refuse all others;
 * - WORDWISE_FILTERS, if each token depends on one word alone: a long text is then analyzed piece by piece;
 * - KEYWORD_FILTERS, if it stems, or reads or sets which tokens stemmers leave as they are: `_analyze` then shows that.
 */

import {
  type Options,
  readBoolean,
  readInteger,
  readList,
  readString,
} from "#hub/engine/analysis/parts/options.ts";
import { type FilterMaker, mapText, mapWords, type TokenFilter } from "#hub/engine/analysis/parts/token.ts";
import { snowballStemmerOf, stemmerOf } from "#hub/engine/analysis/stemmers/all.ts";
import { cjkBigram, cjkWidth } from "./cjk.ts";
import { decompounder } from "./decompounder.ts";
import { flattenGraph } from "./flatten-graph.ts";
import { asciiDigits, foldToAscii, lowercaseOf } from "./folding.ts";
import { edgeNgramFilter, ngramFilter } from "./grams.ts";
import { minHashFilter } from "./min-hash.ts";
import { commonGramsFilter, shingleFilter } from "./neighbours.ts";
import { NORMALIZATIONS } from "./normalizations.ts";
import {
  classicFilter,
  delimitedPayloadFilter,
  elisionFilter,
  fingerprintFilter,
  keepFilter,
  keepTypesFilter,
  keywordMarker,
  keywordRepeat,
  lengthFilter,
  limitFilter,
  patternCaptureFilter,
  patternReplaceFilter,
  stemmerOverride,
  stopFilter,
  uniqueFilter,
} from "./single-words.ts";
import { synonymFilter, synonymGraphFilter } from "./synonyms.ts";
import { wordDelimiter, wordDelimiterGraph } from "./word-delimiter.ts";

/** Filters of other servers that aren't offered, and what helps instead. */
const REFUSED: Readonly<Record<string, string>> = {
  hyphenation_decompounder: "use dictionary_decompounder",
  hunspell: "use stemmer",
  kstem: "use stemmer with the language english",
  condition: "write an analyzer for each case",
  predicate_token_filter: "use keep, keep_types or length",
  phonetic: "use fuzziness in the query",
};

/** Makes a token filter of its settings. Throws settings_invalid or RangeError. */
export const TOKEN_FILTERS: Readonly<Record<string, FilterMaker>> = {
  lowercase: (options) => mapText(lowercaseOf(readString(options, "language", ""))),
  uppercase: () => mapText((text) => text.toUpperCase()),
  asciifolding: foldingFilter,
  stop: stopFilter,
  unique: uniqueFilter,
  trim: () => mapText((text) => text.trim()),
  // Changes nothing; analyzers written for versions before 7.0 often name it.
  standard: () => (tokens) => tokens,
  length: lengthFilter,
  limit: limitFilter,
  truncate: (options) => {
    const max = readInteger(options, "length", 10);
    return mapText((text) => text.slice(0, max));
  },
  reverse: () => mapText((text) => Array.from(text).reverse().join("")),
  stemmer: (options) =>
    stemming(stemmerOf(readString(options, "language", readString(options, "name", "porter")))),
  snowball: (options) =>
    stemming(snowballStemmerOf(readString(options, "language", readString(options, "name", "English")))),
  porter_stem: () => stemming(stemmerOf("porter")),
  arabic_stem: () => stemming(stemmerOf("arabic")),
  brazilian_stem: () => stemming(stemmerOf("brazilian")),
  czech_stem: () => stemming(stemmerOf("czech")),
  dutch_stem: () => stemming(stemmerOf("dutch")),
  french_stem: () => stemming(stemmerOf("french")),
  german_stem: () => stemming(stemmerOf("german")),
  russian_stem: () => stemming(stemmerOf("russian")),
  ngram: ngramFilter,
  nGram: ngramFilter,
  edge_ngram: edgeNgramFilter,
  edgeNGram: edgeNgramFilter,
  shingle: shingleFilter,
  common_grams: commonGramsFilter,
  apostrophe: () => mapText((text) => text.split(/['\u2019]/)[0]!),
  elision: elisionFilter,
  decimal_digit: () => mapText(asciiDigits),
  classic: classicFilter,
  cjk_width: () => mapText(cjkWidth),
  cjk_bigram: cjkBigram,
  keyword_marker: keywordMarker,
  keyword_repeat: keywordRepeat,
  stemmer_override: stemmerOverride,
  keep: keepFilter,
  keep_types: keepTypesFilter,
  pattern_replace: patternReplaceFilter,
  pattern_capture: patternCaptureFilter,
  fingerprint: fingerprintFilter,
  min_hash: minHashFilter,
  dictionary_decompounder: decompounder,
  delimited_payload: delimitedPayloadFilter,
  delimited_payload_filter: delimitedPayloadFilter,
  remove_duplicates: () => uniqueFilter({ only_on_same_position: true }),
  word_delimiter: wordDelimiter,
  word_delimiter_graph: wordDelimiterGraph,
  flatten_graph: () => flattenGraph,
  synonym: synonymFilter,
  synonym_graph: synonymGraphFilter,
  multiplexer,
  ...Object.fromEntries(
    Object.entries(NORMALIZATIONS).map(([name, change]) => [name, () => mapText(change)]),
  ),
  ...Object.fromEntries(
    Object.entries(REFUSED).map(([name, instead]) => [
      name,
      () => {
        throw new RangeError(`token filter [${name}] is not offered; ${instead}`);
      },
    ]),
  ),
};

/** Filters that take a value of a keyword field, too: they work character by character. */
export const NORMALIZER_FILTERS: ReadonlySet<string> = new Set([
  ...Object.keys(NORMALIZATIONS),
  "lowercase",
  "uppercase",
  "asciifolding",
  "cjk_width",
  "decimal_digit",
  "elision",
  "trim",
]);

/** Filters that read or set which tokens stemmers leave as they are. */
export const KEYWORD_FILTERS: ReadonlySet<string> = new Set([
  ...Object.keys(TOKEN_FILTERS).filter((name) => name.endsWith("_stem")),
  "stemmer",
  "snowball",
  "keyword_marker",
  "keyword_repeat",
  "stemmer_override",
]);

/** Filters that neither drop positions nor look at other words: a text may be cut between words. */
export const WORDWISE_FILTERS: ReadonlySet<string> = new Set([
  ...NORMALIZER_FILTERS,
  "standard",
  "stop",
  "length",
  "truncate",
  "reverse",
  "stemmer",
  "snowball",
  "porter_stem",
  "apostrophe",
  "keyword_marker",
  "stemmer_override",
  "keep",
  "keep_types",
  "classic",
  "pattern_replace",
  "dictionary_decompounder",
]);

function stemming(stem: (word: string) => string): TokenFilter {
  return mapWords(stem);
}

function foldingFilter(options: Options): TokenFilter {
  if (!readBoolean(options, "preserve_original", false)) return mapText(foldToAscii);
  return (tokens) =>
    tokens.flatMap((token) => {
      const text = foldToAscii(token.text);
      return text === token.text ? [token] : [{ ...token, text }, token];
    });
}

/** `multiplexer`: the words as each of several lists of filters makes them, at one position, each once. */
function multiplexer(options: Options, chain: Parameters<FilterMaker>[1]): TokenFilter {
  const keepsOriginal = readBoolean(options, "preserve_original", true);
  const ways = readList({ filters: options["filters"] }, "filters", []).map((list) =>
    list
      .split(",")
      .map((name) => name.trim())
      .filter((name) => name !== "")
      .map((name) => chain.filter(name)),
  );
  return (tokens, most) =>
    tokens.flatMap((token) => {
      const found = keepsOriginal ? [token] : [];
      for (const filters of ways)
        found.push(...filters.reduce((each, filter) => filter(each, most), [token]));
      const seen = new Set<string>();
      return found.filter(({ text }) => !seen.has(text) && seen.add(text));
    });
}
