/** The analyzers that every index has. */

import { type Analyzer, chainOf } from "./chain.ts";
import { foldToAscii } from "./filters/folding.ts";
import { lowercase } from "./filters/lowercase.ts";
import { fingerprintFilter } from "./filters/single-words.ts";
import { languageNames, languageParts, snowballFilters, withoutWords } from "./languages.ts";
import { type Options, readBoolean, readInteger, readString } from "./parts/options.ts";
import { stopWords } from "./parts/stop-words.ts";
import { mapText, type TokenFilter } from "./parts/token.ts";
import { TOKENIZERS } from "./tokenizers/all.ts";
import { MAX_TOKEN_LENGTH } from "./tokenizers/standard-tokenizer.ts";

/** Makes an analyzer of its name and the settings that it takes. Throws RangeError. */
type AnalyzerMaker = (name: string, options: Options) => Analyzer;

/** The analyzers by type. */
export const BUILT_IN: Readonly<Record<string, AnalyzerMaker>> = {
  standard(name, options) {
    const stopFilters = stops(options, "_none_");
    const maxLength = readInteger(options, "max_token_length", MAX_TOKEN_LENGTH);
    const isPlain = stopFilters.length === 0 && maxLength === MAX_TOKEN_LENGTH;
    return chainOf(name, [], TOKENIZERS["standard"]!(options), [lower(), ...stopFilters], {
      isStandard: isPlain,
      isWordwise: true,
    });
  },
  simple: (name) => chainOf(name, [], TOKENIZERS["lowercase"]!({}), [], { isWordwise: true }),
  whitespace: (name) => chainOf(name, [], TOKENIZERS["whitespace"]!({}), [], { isWordwise: true }),
  keyword: (name) => chainOf(name, [], TOKENIZERS["keyword"]!({}), []),
  stop: (name, options) =>
    chainOf(name, [], TOKENIZERS["lowercase"]!({}), stops(options, "_english_"), { isWordwise: true }),
  pattern: (name, options) =>
    chainOf(name, [], TOKENIZERS["pattern"]!(options), [
      ...(readBoolean(options, "lowercase", true) ? [lower()] : []),
      ...stops(options, "_none_"),
    ]),
  // Despite its name it strips no markup, as in 6.5.
  standard_html_strip: (name, options) =>
    chainOf(name, [], TOKENIZERS["standard"]!({}), [lower(), ...stops(options, "_none_")]),
  chinese: (name) =>
    chainOf(name, [], TOKENIZERS["standard"]!({}), [lower(), ...stops({}, "_english_")], {
      isWordwise: true,
    }),
  fingerprint: (name, options) =>
    chainOf(name, [], TOKENIZERS["standard"]!({}), [
      lower(),
      mapText(foldToAscii),
      ...stops(options, "_none_"),
      fingerprintFilter(options),
    ]),
  snowball: (name, options) =>
    chainOf(
      name,
      [],
      TOKENIZERS["standard"]!({}),
      snowballFilters(options, readString(options, "language", readString(options, "name", "English"))),
      { isWordwise: true },
    ),
  ...Object.fromEntries(languageNames().map((language) => [language, languageMaker(language)])),
};

/** Languages whose filters look at more than one word. */
const NOT_WORDWISE: ReadonlySet<string> = new Set(["cjk", "thai", "persian"]);

function languageMaker(language: string): AnalyzerMaker {
  return (name, options) => {
    const { charFilters, tokenizer, filters } = languageParts(language, options);
    return chainOf(name, charFilters, tokenizer, filters, { isWordwise: !NOT_WORDWISE.has(language) });
  };
}

function lower(): TokenFilter {
  return mapText(lowercase);
}

function stops(options: Options, fallback: string): TokenFilter[] {
  const words = stopWords(options, fallback);
  return words.size === 0 ? [] : [withoutWords(words)];
}
