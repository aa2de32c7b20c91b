/** Analyzers of an index: the built-in ones of 6.5 and those of its settings. */

import { AppError } from "#proto/kit/errors.ts";
import { isObject } from "#proto/kit/json.ts";
import { BUILT_IN } from "./built-in.ts";
import { type Analyzer, chainOf, type ShingleSizes } from "./chain.ts";
import { CHAR_FILTERS, NORMALIZER_CHAR_FILTERS } from "./char-filters.ts";
import { checkPart } from "./cost.ts";
import { type Options, readInteger, readList, readString } from "./parts/options.ts";
import type { ChainSoFar, CharFilter, TokenFilter, Tokenizer } from "./parts/token.ts";
import { KEYWORD_FILTERS, NORMALIZER_FILTERS, TOKEN_FILTERS, WORDWISE_FILTERS } from "./token-filters/all.ts";
import { shingleSizes } from "./token-filters/neighbours.ts";
import { TOKENIZERS } from "./tokenizers/all.ts";

export type { Analyzer } from "./chain.ts";
export type { Token } from "./parts/token.ts";

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

/** Parts whose words never reach over a white space, and that take each token by itself. */
const WORDWISE: Readonly<Record<PartKind, ReadonlySet<string>>> = {
  tokenizer: new Set(["standard", "classic", "uax_url_email", "whitespace", "letter", "lowercase"]),
  filter: WORDWISE_FILTERS,
  char_filter: new Set(),
};

/** Parts that a normalizer may have; other filters would cut its one word. */
const IN_NORMALIZERS = { filter: NORMALIZER_FILTERS, char_filter: NORMALIZER_CHAR_FILTERS } as const;

/** Warnings of 6.5, in its words. */
const WIDE_GRAMS =
  "Deprecated big difference between max_gram and min_gram in NGram Tokenizer,expected difference must be less than or equal to: [1]";
const OLD_STRIP =
  "The [htmpStrip] char filter name is deprecated and will be removed in a future version. Please change the filter name to [html_strip] instead.";
const OLD_PAYLOADS = "delimited_payload_filter";
const PAYLOADS = `Deprecated [${OLD_PAYLOADS}] used, replaced by [delimited_payload]`;

/** Filters of filters in one another: a multiplexer may name another. */
const MAX_DEPTH = 8;

/** The analyzers, normalizers and parts that a field or a request of one index can name. */
export class Analysis {
  readonly #settings: Options;
  /** True for the settings of an index that is there already. */
  readonly isStored: boolean;
  readonly #analyzers = new Map<string, Analyzer>();
  readonly #normalizers = new Map<string, Analyzer>();

  /**
   * `settings`: the `analysis` object of the index settings, nested; nothing for the built-in analyzers alone.
   * All it defines is built, so that a mistake shows now.
   * `isStored`: settings of an index that is there already; they may have parts that are refused now. Throws settings_invalid.
   */
  constructor(settings: unknown = {}, { isStored = false }: { readonly isStored?: boolean } = {}) {
    this.isStored = isStored;
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
        asSettingsError(() => this.#normalizerOf(name, asOptions(spec))),
      );
    }
  }

  /** What a request that stores these settings is warned of. */
  get warnings(): readonly string[] {
    const names = Object.keys(asOptions(this.#settings["filter"]));
    return names.some((name) => this.#resolved("filter", name).type === OLD_PAYLOADS) ? [PAYLOADS] : [];
  }

  /** Returns an analyzer. Throws request_invalid if there is none. */
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

  /** Whether a name means the built-in analyzer `standard`, without options of the settings. */
  isStandard(name: string): boolean {
    const isDefined = Object.hasOwn(asOptions(this.#settings["analyzer"]), name);
    return !isDefined && (name === "standard" || name === "default");
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
    return asRequestError(() => this.#built("_custom_", spec));
  }

  /** Builds a chain of filters alone, which takes a text as one word. Throws request_invalid. */
  normalizerChain(spec: Omit<ChainSpec, "tokenizer">): Analyzer {
    return asRequestError(() => {
      this.#checkNormalizer(spec);
      return this.#built("_custom_", { ...spec, tokenizer: "keyword" });
    });
  }

  /** Whether a token filter reads or sets which tokens stemmers leave as they are. */
  usesKeywords(filter: PartSpec): boolean {
    return KEYWORD_FILTERS.has(this.#resolved("filter", filter).type);
  }

  #analyzerOf(name: string, spec: Options): Analyzer {
    const type = readString(spec, "type", "custom");
    if (type !== "custom") {
      const make = Object.hasOwn(BUILT_IN, type) ? BUILT_IN[type] : undefined;
      if (make === undefined) throw new RangeError(`Unknown analyzer type [${type}] for [${name}]`);
      if (!this.isStored) checkPart(type, spec);
      return make(name, spec);
    }
    const tokenizer = spec["tokenizer"];
    if (tokenizer === undefined) {
      throw new RangeError(`analyzer [${name}] must specify either an analyzer type, or a tokenizer`);
    }
    return this.#built(name, { ...partsOf(spec), tokenizer: tokenizer as PartSpec });
  }

  #normalizerOf(name: string, spec: Options): Analyzer {
    const parts = partsOf(spec);
    this.#checkNormalizer(parts);
    return this.#built(name, { ...parts, tokenizer: "keyword" });
  }

  #checkNormalizer({ filters, charFilters }: Omit<ChainSpec, "tokenizer">): void {
    for (const [kind, parts] of [["filter", filters] as const, ["char_filter", charFilters] as const]) {
      for (const part of parts) {
        const { type } = this.#resolved(kind, part);
        if (IN_NORMALIZERS[kind].has(type) || !Object.hasOwn(makersOf(kind), type)) continue;
        const name = typeof part === "string" ? part : type;
        throw new RangeError(
          `Custom normalizer may not use ${kind === "filter" ? "filter" : "char filter"} [${name}]`,
        );
      }
    }
  }

  #built(name: string, spec: ChainSpec): Analyzer {
    const charFilters = spec.charFilters.map((part) => this.#part("char_filter", part) as CharFilter);
    const tokenizer = this.#part("tokenizer", spec.tokenizer) as Tokenizer;
    const filters: TokenFilter[] = [];
    for (const part of spec.filters)
      filters.push(this.#filter(part, chainOf("", charFilters, tokenizer, [...filters]), 0));
    return chainOf(name, charFilters, tokenizer, filters, {
      isWordwise: this.#isWordwise(spec),
      warnings: this.#warnings(spec),
      shingles: this.#shingles(spec),
    });
  }

  #shingles({ filters }: ChainSpec): ShingleSizes | undefined {
    const parts = filters.map((part) => this.#resolved("filter", part));
    const options = parts.find(({ type }) => type === "shingle")?.options;
    return options === undefined ? undefined : shingleSizes(options);
  }

  #warnings({ tokenizer, filters, charFilters }: ChainSpec): string[] {
    const { type, options } = this.#resolved("tokenizer", tokenizer);
    const difference = readInteger(options, "max_gram", 2) - readInteger(options, "min_gram", 1);
    const isStrip = charFilters.some((part) => this.#resolved("char_filter", part).type === "htmlStrip");
    return [
      ...(/^n_?gram$/i.test(type) && difference > 1 ? [WIDE_GRAMS] : []),
      ...(isStrip ? [OLD_STRIP] : []),
      ...(filters.some((part) => this.#resolved("filter", part).type === OLD_PAYLOADS) ? [PAYLOADS] : []),
    ];
  }

  #isWordwise({ tokenizer, filters, charFilters }: ChainSpec): boolean {
    const all: readonly (readonly [PartKind, PartSpec])[] = [
      ["tokenizer", tokenizer],
      ...filters.map((part) => ["filter", part] as const),
      ...charFilters.map((part) => ["char_filter", part] as const),
    ];
    return all.every(([kind, part]) => WORDWISE[kind].has(this.#resolved(kind, part).type));
  }

  /** Makes a part of its name or its settings. Throws RangeError if it is unknown. */
  #part(kind: PartKind, spec: PartSpec): Tokenizer | TokenFilter | CharFilter {
    if (kind === "filter") return this.#filter(spec, chainOf("", [], TOKENIZERS["standard"]!({}), []), 0);
    const { type, options } = this.#checked(kind, spec);
    return maker(kind, type)(options, NO_CHAIN);
  }

  #filter(spec: PartSpec, before: Analyzer, depth: number): TokenFilter {
    if (depth > MAX_DEPTH) throw new RangeError("filters name one another in a circle, or too deeply");
    const { type, options } = this.#checked("filter", spec);
    return maker("filter", type)(options, {
      tokens: (text) => before.tokens(text),
      filter: (name) => this.#filter(name, before, depth + 1),
    }) as TokenFilter;
  }

  #checked(kind: PartKind, spec: PartSpec): { readonly type: string; readonly options: Options } {
    const part = this.#resolved(kind, spec);
    if (!this.isStored || typeof spec !== "string") checkPart(part.type, part.options);
    return part;
  }

  #resolved(kind: PartKind, spec: PartSpec): { readonly type: string; readonly options: Options } {
    if (typeof spec !== "string") return { type: readString(spec, "type", ""), options: spec };
    const own = asOptions(this.#settings[kind]);
    if (!Object.hasOwn(own, spec)) return { type: spec, options: {} };
    const options = asOptions(own[spec]);
    return { type: readString(options, "type", spec), options };
  }
}

type PartMaker = (options: Options, chain: ChainSoFar) => Tokenizer | TokenFilter | CharFilter;

function makersOf(kind: PartKind): Readonly<Record<string, PartMaker>> {
  return kind === "tokenizer" ? TOKENIZERS : kind === "filter" ? TOKEN_FILTERS : CHAR_FILTERS;
}

function maker(kind: PartKind, type: string): PartMaker {
  const makers = makersOf(kind);
  if (!Object.hasOwn(makers, type))
    throw new RangeError(`failed to find global ${KIND_NAMES[kind]} under [${type}]`);
  return makers[type]!;
}

/** Tokenizers and char filters come before all filters. */
const NO_CHAIN: ChainSoFar = {
  tokens: () => [],
  filter: (name) => {
    throw new RangeError(`failed to find token filter under [${name}]`);
  },
};

function partsOf(spec: Options): Omit<ChainSpec, "tokenizer"> {
  return { filters: readList(spec, "filter", []), charFilters: readList(spec, "char_filter", []) };
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

function asRequestError<T>(make: () => T): T {
  try {
    return make();
  } catch (error) {
    throw new AppError("request_invalid", messageOf(error), { cause: error });
  }
}
