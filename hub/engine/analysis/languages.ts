/** The analyzers of languages: the tokenizer, the filters and the stop list of each, as 6.5 has them. */

import { TOKEN_FILTERS } from "./filters/all.ts";
import { elide, FRENCH_ARTICLES, markWords, overrideStems } from "./filters/single-words.ts";
import { type Options, readList } from "./parts/options.ts";
import { stopWords } from "./parts/stop-words.ts";
import {
  type ChainSoFar,
  type CharFilter,
  mapText,
  type TokenFilter,
  type Tokenizer,
} from "./parts/token.ts";
import { TOKENIZERS } from "./tokenizers/all.ts";

/** Steps of a chain: the name of a filter, `stop` for the stop words, `keywords` for `stem_exclusion`, or a filter. */
type Step = string | TokenFilter;

/** The parts of an analyzer. */
export interface LanguageParts {
  readonly charFilters: readonly CharFilter[];
  readonly tokenizer: Tokenizer;
  readonly filters: readonly TokenFilter[];
}

const CATALAN_ARTICLES = "d l m n s t".split(" ");
const IRISH_ARTICLES = "d m b".split(" ");
const ITALIAN_ARTICLES =
  "c l all dall dell nell sull coll pell gl agl dagl degl negl sugl un m t s v d".split(" ");
/** What stands before a hyphen in Irish words and is no word of its own. */
const IRISH_HYPHENATIONS = new Set(["h", "n", "t"]);

const DUTCH_STEMS = new Map([
  ["fiets", "fiets"],
  ["bromfiets", "bromfiets"],
  ["ei", "eier"],
  ["kind", "kinder"],
]);

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

/** Returns the names of the languages. */
export function languageNames(): string[] {
  return Object.keys(LANGUAGES);
}

/** Makes the parts of a language's analyzer with its settings `stopwords` and `stem_exclusion`. Throws RangeError. */
export function languageParts(language: string, options: Options): LanguageParts {
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
export function withoutWords(words: ReadonlySet<string>): TokenFilter {
  return words.size === 0 ? (tokens) => tokens : (tokens) => tokens.filter(({ text }) => !words.has(text));
}

/** Persian: the zero-width non-joiner parts words. */
const joinersAsSpaces: CharFilter = ({ text, offsets }) => ({
  text: text.replaceAll("\u200c", " "),
  offsets,
});

/** The `snowball` analyzer's filters: stop words of some languages, and the language's stemmer. Throws RangeError. */
export function snowballFilters(options: Options, language: string): TokenFilter[] {
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
