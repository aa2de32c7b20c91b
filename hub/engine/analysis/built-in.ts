/**
 * The analyzers that every index has, and those of languages: the tokenizer, the filters and the stop list of each, as
 * 6.5 has them.
 */

import { type Analyzer, chainOf } from "./chain.ts";
import { type Options, readBoolean, readInteger, readList, readString } from "./parts/options.ts";
import { stopWords } from "./parts/stop-words.ts";
import {
  type ChainSoFar,
  type CharFilter,
  mapText,
  type TokenFilter,
  type Tokenizer,
} from "./parts/token.ts";
import { TOKEN_FILTERS } from "./token-filters/all.ts";
import { foldToAscii, lowercase } from "./token-filters/folding.ts";
import {
  elide,
  FRENCH_ARTICLES,
  fingerprintFilter,
  markWords,
  overrideStems,
} from "./token-filters/single-words.ts";
import { TOKENIZERS } from "./tokenizers/all.ts";
import { MAX_TOKEN_LENGTH } from "./tokenizers/standard-tokenizer.ts";

/** Steps of a chain: the name of a filter, `stop` for the stop words, `keywords` for `stem_exclusion`, or a filter. */
type Step = string | TokenFilter;

/** The parts of an analyzer. */
interface LanguageParts {
  readonly charFilters: readonly CharFilter[];
  readonly tokenizer: Tokenizer;
  readonly filters: readonly TokenFilter[];
}

const CATALAN_ARTICLES = "d l m n s t".split(" ");
const IRISH_ARTICLES = "d m b".split(" ");
const ITALIAN_ARTICLES =
  "c l all dall dell nell sull coll pell gl agl dagl degl negl sugl un m t s v d".split(" ");
/** A prefix before a hyphen in Irish words that isn't a word of its own. */
const IRISH_HYPHENATIONS = new Set(["h", "n", "t"]);

const DUTCH_STEMS = new Map([
  ["fiets", "fiets"],
  ["bromfiets", "bromfiets"],
  ["ei", "eier"],
  ["kind", "kinder"],
]);

/** These filters need nothing of the chain that they are in. */
const NO_CHAIN: ChainSoFar = {
  tokens: () => [],
  filter: (name) => TOKEN_FILTERS[name]!({}, NO_CHAIN),
};

const LANGUAGES: Readonly<Record<string, readonly Step[]>> = {
  arabic: ["lowercase", "decimal_digit", "stop", "arabic_normalization", "keywords", stem("arabic")],
  armenian: usual("armenian"),
  basque: usual("basque"),
  bengali: [
    "lowercase",
    "decimal_digit",
    "keywords",
    "indic_normalization",
    "bengali_normalization",
    "stop",
    stem("bengali"),
  ],
  brazilian: usual("brazilian"),
  bulgarian: usual("bulgarian"),
  catalan: [elide(CATALAN_ARTICLES), ...usual("catalan")],
  cjk: ["cjk_width", "lowercase", "cjk_bigram", "stop"],
  czech: usual("czech"),
  danish: usual("danish"),
  dutch: ["lowercase", "stop", "keywords", overrideStems(DUTCH_STEMS), stem("dutch")],
  english: [stem("possessive_english"), ...usual("porter")],
  finnish: usual("finnish"),
  french: [elide(FRENCH_ARTICLES), ...usual("light_french")],
  galician: usual("galician"),
  german: ["lowercase", "stop", "keywords", "german_normalization", stem("light_german")],
  greek: [(tokens) => greekLowercase(tokens), "stop", stem("greek")],
  hindi: [
    "lowercase",
    "decimal_digit",
    "keywords",
    "indic_normalization",
    "hindi_normalization",
    "stop",
    stem("hindi"),
  ],
  hungarian: usual("hungarian"),
  indonesian: usual("indonesian"),
  irish: [
    (tokens) => tokens.filter(({ text }) => !IRISH_HYPHENATIONS.has(text.toLowerCase())),
    elide(IRISH_ARTICLES),
    lazily(() => TOKEN_FILTERS["lowercase"]!({ language: "irish" }, NO_CHAIN)),
    "stop",
    "keywords",
    stem("irish"),
  ],
  italian: [elide(ITALIAN_ARTICLES), ...usual("light_italian")],
  latvian: usual("latvian"),
  lithuanian: usual("lithuanian"),
  norwegian: usual("norwegian"),
  persian: ["lowercase", "decimal_digit", "arabic_normalization", "persian_normalization", "stop"],
  portuguese: usual("light_portuguese"),
  romanian: usual("romanian"),
  russian: usual("russian"),
  sorani: ["sorani_normalization", "lowercase", "decimal_digit", "stop", "keywords", stem("sorani")],
  spanish: usual("light_spanish"),
  swedish: usual("swedish"),
  thai: ["lowercase", "decimal_digit", "stop"],
  turkish: [
    "apostrophe",
    lazily(() => TOKEN_FILTERS["lowercase"]!({ language: "turkish" }, NO_CHAIN)),
    "stop",
    "keywords",
    stem("turkish"),
  ],
};

const greekLowercase = lazily(() => TOKEN_FILTERS["lowercase"]!({ language: "greek" }, NO_CHAIN));

/** Analyzers of other names than their stop list's, and those of the list `_english_`. */
const ENGLISH_STOPS: ReadonlySet<string> = new Set(["english"]);

/** Persian: the zero-width non-joiner parts words. */
const joinersAsSpaces: CharFilter = ({ text, offsets }) => ({
  text: text.replaceAll("\u200c", " "),
  offsets,
});

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

/** Lower case, stop words, exclusions and the stemmer: what most languages have. */
function usual(stemmer: string): Step[] {
  return ["lowercase", "stop", "keywords", stem(stemmer)];
}

function stem(language: string): TokenFilter {
  return lazily(() => TOKEN_FILTERS["stemmer"]!({ language }, NO_CHAIN));
}

/** Makes a filter with its first use: a table of languages must not load their stemmers. */
function lazily(make: () => TokenFilter): TokenFilter {
  let made: TokenFilter | undefined;
  return (tokens) => {
    made ??= make();
    return made(tokens);
  };
}

/** Returns the names of the languages. */
function languageNames(): string[] {
  return Object.keys(LANGUAGES);
}

/** Makes the parts of a language's analyzer with its settings `stopwords` and `stem_exclusion`. Throws RangeError. */
function languageParts(language: string, options: Options): LanguageParts {
  const list = `_${ENGLISH_STOPS.has(language) ? "english" : language}_`;
  return {
    charFilters: language === "persian" ? [joinersAsSpaces] : [],
    tokenizer: TOKENIZERS[language === "thai" ? "thai" : "standard"]!({}),
    filters: LANGUAGES[language]!.flatMap((step) => {
      if (typeof step !== "string") return [step];
      if (step === "stop") return [withoutWords(stopWords(options, list))];
      if (step === "keywords") {
        const excluded = readList(options, "stem_exclusion", []);
        return excluded.length === 0 ? [] : [markWords(new Set(excluded))];
      }
      return [TOKEN_FILTERS[step]!({}, NO_CHAIN)];
    }),
  };
}

/** Returns a filter that drops the words; none are dropped for an empty set. */
function withoutWords(words: ReadonlySet<string>): TokenFilter {
  return words.size === 0 ? (tokens) => tokens : (tokens) => tokens.filter(({ text }) => !words.has(text));
}

/** The `snowball` analyzer's filters: stop words of some languages, and the language's stemmer. Throws RangeError. */
function snowballFilters(options: Options, language: string): TokenFilter[] {
  const lists: Readonly<Record<string, string>> = {
    dutch: "_dutch_",
    german: "_german_",
    german2: "_german_",
    french: "_french_",
  };
  const name = language.toLowerCase();
  const fallback = Object.hasOwn(lists, name) ? lists[name]! : "_english_";
  return [
    mapText((text) => text.toLowerCase()),
    withoutWords(stopWords(options, fallback)),
    TOKEN_FILTERS["snowball"]!({ language }, NO_CHAIN),
  ];
}
