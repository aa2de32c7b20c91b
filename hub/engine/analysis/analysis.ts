/** Analyzers of an index: the built-in ones of 6.5 and those of its settings. */

import { AppError } from "#proto/kit/errors.ts";
import { isObject } from "#proto/kit/json.ts";
import { CHAR_FILTERS } from "./char-filters.ts";
import { stopWords, TOKEN_FILTERS } from "./filters.ts";
import { type Options, readBoolean, readInteger, readList, readString } from "./options.ts";
import { MAX_TOKEN_LENGTH } from "./standard-tokenizer.ts";
import type { CharFilter, Token, TokenFilter, Tokenizer } from "./token.ts";
import { TOKENIZERS } from "./tokenizers.ts";

export type { Token } from "./token.ts";

/** Makes terms of text. */
export interface Analyzer {
  readonly name: string;
  /** True for the standard tokenizer with lower case and nothing else: ASCII text may take the fast path. */
  readonly isStandard: boolean;
  tokens(text: string): Token[];
  /** Like `tokens`, piece by piece where the chain takes each word by itself; else all at once. */
  pieces(text: string): Iterable<Token[]>;
}

/** A part of a chain: the name of one that is defined, or its settings with `type`. */
export type PartSpec = string | Options;

/** Parts of a chain made for one request. */
interface ChainSpec {
  readonly tokenizer: PartSpec;
  readonly filters: readonly PartSpec[];
  readonly charFilters: readonly PartSpec[];
}

type PartKind = "tokenizer" | "filter" | "char_filter";

/** Names of the kinds in messages. */
const KIND_NAMES = { tokenizer: "tokenizer", filter: "token filter", char_filter: "char filter" } as const;

/** Tokenizers whose words never reach over a white space, and filters that take each token by itself. */
const WORDWISE: Readonly<Record<PartKind, ReadonlySet<string>>> = {
  tokenizer: new Set(["standard", "classic", "uax_url_email", "whitespace", "letter", "lowercase"]),
  filter: new Set([
    "lowercase",
    "uppercase",
    "asciifolding",
    "stop",
    "trim",
    "length",
    "truncate",
    "reverse",
    "stemmer",
    "porter_stem",
    "snowball",
    "apostrophe",
    "decimal_digit",
  ]),
  char_filter: new Set(),
};

/** The analyzers, normalizers and parts that a field or a request of one index can name. */
export class Analysis {
  readonly #settings: Options;
  readonly #analyzers = new Map<string, Analyzer>();
  readonly #normalizers = new Map<string, Analyzer>();

  /**
   * `settings`: the `analysis` object of the index settings, nested; nothing for the built-in analyzers alone.
   * All it defines is built, so that a mistake shows now. Throws settings_invalid.
   */
  constructor(settings: unknown = {}) {
    this.#settings = asOptions(settings);
    for (const kind of ["tokenizer", "filter", "char_filter"] as const) {
      for (const name of Object.keys(asOptions(this.#settings[kind])))
        asSettingsError(() => this.#part(kind, name));
    }
    for (const [name, spec] of Object.entries(asOptions(this.#settings["analyzer"]))) {
      this.#analyzers.set(
        name,
        asSettingsError(() => this.#analyzerOf(name, asOptions(spec))),
      );
    }
    for (const [name, spec] of Object.entries(asOptions(this.#settings["normalizer"]))) {
      this.#normalizers.set(
        name,
        asSettingsError(() => this.#customOf(name, asOptions(spec), "keyword")),
      );
    }
  }

  /** Returns an analyzer. Throws request_invalid where there is none. */
  analyzer(name: string): Analyzer {
    const known = this.#analyzers.get(name);
    if (known !== undefined) return known;
    const make = name === "default" ? BUILT_IN["standard"] : BUILT_IN[name];
    if (make === undefined || !Object.hasOwn(BUILT_IN, name === "default" ? "standard" : name)) {
      throw new AppError("request_invalid", `failed to find global analyzer [${name}]`);
    }
    const analyzer = make(name, {});
    this.#analyzers.set(name, analyzer);
    return analyzer;
  }

  has(name: string): boolean {
    return this.#analyzers.has(name) || name === "default" || Object.hasOwn(BUILT_IN, name);
  }

  hasNormalizer(name: string): boolean {
    return this.#normalizers.has(name) || name === "lowercase";
  }

  /** Returns the one term that a normalizer makes of a value. */
  normalize(name: string, text: string): string {
    const normalizer = this.#normalizers.get(name);
    if (normalizer === undefined) return name === "lowercase" ? text.toLowerCase() : text;
    return normalizer.tokens(text)[0]?.text ?? "";
  }

  /** Builds a chain for one request. Throws request_invalid with the wording of 6.5. */
  chain(spec: ChainSpec): Analyzer {
    try {
      return chainOf(
        "_custom_",
        spec.charFilters.map((part) => this.#part("char_filter", part) as CharFilter),
        this.#part("tokenizer", spec.tokenizer) as Tokenizer,
        spec.filters.map((part) => this.#part("filter", part) as TokenFilter),
        { isWordwise: this.#isWordwise(spec) },
      );
    } catch (error) {
      throw new AppError("request_invalid", messageOf(error), { cause: error });
    }
  }

  #analyzerOf(name: string, spec: Options): Analyzer {
    const type = readString(spec, "type", "custom");
    if (type !== "custom") {
      const make = Object.hasOwn(BUILT_IN, type) ? BUILT_IN[type] : undefined;
      if (make === undefined) throw new RangeError(`Unknown analyzer type [${type}] for [${name}]`);
      return make(name, spec);
    }
    const tokenizer = spec["tokenizer"];
    if (tokenizer === undefined) {
      throw new RangeError(`analyzer [${name}] must specify either an analyzer type, or a tokenizer`);
    }
    return this.#customOf(name, spec, tokenizer as PartSpec);
  }

  #customOf(name: string, spec: Options, tokenizer: PartSpec): Analyzer {
    const charFilters = readList(spec, "char_filter", []);
    const filters = readList(spec, "filter", []);
    return chainOf(
      name,
      charFilters.map((part) => this.#part("char_filter", part) as CharFilter),
      this.#part("tokenizer", tokenizer) as Tokenizer,
      filters.map((part) => this.#part("filter", part) as TokenFilter),
      { isWordwise: this.#isWordwise({ tokenizer, filters, charFilters }) },
    );
  }

  #isWordwise({ tokenizer, filters, charFilters }: ChainSpec): boolean {
    const all: readonly (readonly [PartKind, PartSpec])[] = [
      ["tokenizer", tokenizer],
      ...filters.map((part) => ["filter", part] as const),
      ...charFilters.map((part) => ["char_filter", part] as const),
    ];
    return all.every(([kind, part]) => WORDWISE[kind].has(this.#resolved(kind, part).type));
  }

  /** Makes a part of its name or its settings. Throws RangeError where it is unknown. */
  #part(kind: PartKind, spec: PartSpec): Tokenizer | TokenFilter | CharFilter {
    const makers: Readonly<Record<string, (options: Options) => Tokenizer | TokenFilter | CharFilter>> =
      kind === "tokenizer" ? TOKENIZERS : kind === "filter" ? TOKEN_FILTERS : CHAR_FILTERS;
    const { type, options } = this.#resolved(kind, spec);
    if (!Object.hasOwn(makers, type)) {
      throw new RangeError(`failed to find global ${KIND_NAMES[kind]} under [${type}]`);
    }
    return makers[type]!(options);
  }

  #resolved(kind: PartKind, spec: PartSpec): { readonly type: string; readonly options: Options } {
    if (typeof spec !== "string") return { type: readString(spec, "type", ""), options: spec };
    const own = asOptions(this.#settings[kind]);
    if (!Object.hasOwn(own, spec)) return { type: spec, options: {} };
    const options = asOptions(own[spec]);
    return { type: readString(options, "type", spec), options };
  }
}

/** The analyzers that every index has, made of the settings that they take. */
const BUILT_IN: Readonly<Record<string, (name: string, options: Options) => Analyzer>> = {
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
  english: (name, options) =>
    chainOf(
      name,
      [],
      TOKENIZERS["standard"]!({}),
      [
        (tokens) =>
          tokens.map((token) => ({ ...token, text: token.text.replace(/['\u2019\uff07][sS]$/, "") })),
        lower(),
        ...stops(options, "_english_"),
        TOKEN_FILTERS["porter_stem"]!({}),
      ],
      { isWordwise: true },
    ),
};

function lower(): TokenFilter {
  return TOKEN_FILTERS["lowercase"]!({});
}

function stops(options: Options, fallback: string): TokenFilter[] {
  const words = stopWords(options, fallback);
  return words.size === 0 ? [] : [(tokens) => tokens.filter((token) => !words.has(token.text))];
}

interface ChainKind {
  readonly isStandard?: boolean;
  /** Each token depends on its word alone, and no word holds a white space. */
  readonly isWordwise?: boolean;
}

function chainOf(
  name: string,
  charFilters: readonly CharFilter[],
  tokenizer: Tokenizer,
  filters: readonly TokenFilter[],
  { isStandard = false, isWordwise = false }: ChainKind = {},
): Analyzer {
  const filtered = (tokens: Token[]): Token[] => filters.reduce((each, filter) => filter(each), tokens);
  const tokens = (text: string): Token[] => {
    let input: { text: string; offsets: Int32Array | null } = { text, offsets: null };
    for (const filter of charFilters) input = filter(input);
    const found = filtered(tokenizer(input.text));
    const { offsets } = input;
    if (offsets === null) return found;
    return found.map((token) => ({
      ...token,
      startOffset: offsets[token.startOffset] ?? text.length,
      endOffset: offsets[token.endOffset] ?? text.length,
    }));
  };
  return {
    name,
    isStandard,
    tokens,
    *pieces(text) {
      if (!isWordwise) {
        yield tokens(text);
        return;
      }
      let position = 0;
      for (let from = 0; from < text.length; ) {
        const to = pieceEnd(text, from);
        const words = tokenizer(text.slice(from, to)).map((token) => moved(token, from, position));
        position = (words.at(-1)?.position ?? position - 1) + 1;
        yield filtered(words);
        from = to;
      }
    },
  };
}

/** UTF-16 units of a piece of text, some milliseconds of work. */
const PIECE_LENGTH = 16_384;
/** Where a text may be cut whatever stands around it: a mark that follows a space belongs to the space. */
const CUT = /[\t\n\r ](?=[0-9A-Za-z])/g;

function pieceEnd(text: string, from: number): number {
  if (text.length - from <= PIECE_LENGTH) return text.length;
  CUT.lastIndex = from + PIECE_LENGTH;
  return CUT.test(text) ? CUT.lastIndex : text.length;
}

function moved(token: Token, offset: number, position: number): Token {
  return {
    ...token,
    startOffset: token.startOffset + offset,
    endOffset: token.endOffset + offset,
    position: token.position + position,
  };
}

function asOptions(value: unknown): Options {
  return isObject(value) ? (value as Options) : {};
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function asSettingsError<T>(make: () => T): T {
  try {
    return make();
  } catch (error) {
    if (error instanceof AppError) throw error;
    throw new AppError("settings_invalid", messageOf(error), { cause: error });
  }
}
