/** Refuses parts of new settings and of requests that would occupy a thread for long. */

import { type Options, readInteger, readList, readString } from "./parts/options.ts";
import { compilePattern, compileSimplePattern, type Pattern } from "./parts/pattern.ts";
import { MAX_GRAM_DIFFERENCE } from "./token-filters/grams.ts";
import { MAX_SHINGLE_DIFFERENCE, shingleSizes } from "./token-filters/neighbours.ts";

/** Throws RangeError, with the remedy. */
export function checkPart(type: string, options: Options): void {
  if (/^n_?gram$/i.test(type)) checkGrams(options);
  if (type === "shingle") checkShingles(options);
  for (const { source, pattern } of patternsOf(type, options)) {
    if (pattern.fault !== undefined)
      throw new RangeError(
        `pattern [${source}] of [${type}] can't run in time linear in the text: ${pattern.fault}; write it without`,
      );
  }
}

function checkGrams(options: Options): void {
  const difference = readInteger(options, "max_gram", 2) - readInteger(options, "min_gram", 1);
  if (difference > MAX_GRAM_DIFFERENCE)
    throw new RangeError(
      `The difference between max_gram and min_gram in NGram Tokenizer must be less than or equal to: [${MAX_GRAM_DIFFERENCE}] but was [${difference}]. Set them closer together, or use edge_ngram, which has no such limit.`,
    );
}

function checkShingles(options: Options): void {
  const { min, max, hasUnigrams } = shingleSizes(options);
  const difference = max - min + (hasUnigrams ? 1 : 0);
  if (difference > MAX_SHINGLE_DIFFERENCE)
    throw new RangeError(
      `In Shingle TokenFilter the difference between max_shingle_size and min_shingle_size (and +1 if outputting unigrams) must be less than or equal to: [${MAX_SHINGLE_DIFFERENCE}] but was [${difference}]. Set them closer together.`,
    );
}

function patternsOf(type: string, options: Options): { source: string; pattern: Pattern }[] {
  const flags = readString(options, "flags", "");
  const source = readString(options, type === "keyword_marker" ? "keywords_pattern" : "pattern", "");
  switch (type) {
    case "pattern":
    case "pattern_replace":
      return [{ source, pattern: compilePattern(source, flags) }];
    case "keyword_marker":
      return [{ source, pattern: compilePattern(`^(?:${source})$`) }];
    case "simple_pattern":
    case "simple_pattern_split":
      return [{ source, pattern: compileSimplePattern(source) }];
    case "pattern_capture":
      return readList(options, "patterns", []).map((each) => ({
        source: each,
        pattern: compilePattern(each),
      }));
    default:
      return [];
  }
}
