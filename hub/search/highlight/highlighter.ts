/** Marks what the query found in the fields of a hit, by the highlighter that each field asks for. */

import type { Field } from "#hub/engine/mapping/field.ts";
import type { Query, ShardContext } from "#hub/search/query/query.ts";
import { sourcePath, valuesAt } from "#hub/search/source/source-values.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { vectorFragments } from "./fast-vector.ts";
import type { HighlightField, HighlightRequest } from "./highlight-request.ts";
import type { MatchedValue } from "./markup.ts";
import { QueryWords } from "./matches.ts";
import { plainFragments } from "./plain.ts";
import { unifiedFragments } from "./unified.ts";

/** Characters of a text that are highlighted unless index.highlight.max_analyzed_offset is set. */
const MAX_ANALYZED = 1_000_000;

/** Marks hits of one shard. */
export class Highlighter {
  readonly #request: HighlightRequest;
  readonly #shard: ShardContext;
  readonly #words: QueryWords;
  readonly #own = new Map<HighlightField, QueryWords>();

  constructor(request: HighlightRequest, query: Query, shard: ShardContext) {
    this.#request = request;
    this.#shard = shard;
    this.#words = new QueryWords(query, shard);
    for (const field of request.fields) {
      if (field.query !== undefined) this.#own.set(field, new QueryWords(field.query, shard));
    }
  }

  /** Returns fragments by field; undefined if nothing is to be shown. */
  highlight(source: JsonObject): Record<string, string[]> | undefined {
    const found: Record<string, string[]> = {};
    for (const options of this.#request.fields) {
      for (const field of this.#fields(options.name)) {
        const fragments = this.#fragments(source, field, options);
        if (fragments.length > 0) found[options.name.includes("*") ? field.path : options.name] = fragments;
      }
    }
    return Object.keys(found).length === 0 ? undefined : found;
  }

  /** Patterns mean text and keyword fields only. */
  #fields(name: string): Field[] {
    if (name.includes("*")) {
      return this.#shard.mapping
        .match(name)
        .filter((field) => field.type === "text" || field.type === "keyword");
    }
    const field = this.#shard.mapping.resolve(name);
    return field === undefined ? [] : [field];
  }

  #fragments(source: JsonObject, field: Field, options: HighlightField): string[] {
    const words = this.#own.get(options) ?? this.#words;
    const values = valuesAt(source, sourcePath(field, this.#shard))
      .map(String)
      .filter((value) => value.length <= field.ignoreAbove);
    const path = options.requireFieldMatch ? field.path : undefined;
    const matched = values.map((value): MatchedValue => {
      this.#checkLength(value, field, options);
      const tokens = this.#tokens(field, value.slice(0, MAX_ANALYZED));
      // Only `plain` needs the other tokens: those of all values take much more memory than the text.
      return {
        text: value,
        tokens: options.type === "plain" ? tokens : [],
        matches: words.matches(tokens, path),
      };
    });
    if (options.type === "plain") return plainFragments(matched, options);
    if (options.type === "fvh") return vectorFragments(matched, options);
    return unifiedFragments(matched, options);
  }

  /** Throws request_invalid if an index limits the text that is analysed and its mapping has no offsets instead. */
  #checkLength(value: string, field: Field, { type }: HighlightField): void {
    const { index, maxAnalyzedOffset: limit = Number.POSITIVE_INFINITY } = this.#shard;
    if (value.length <= limit || (field.offsets && type !== "plain")) return;
    throw new AppError(
      "request_invalid",
      `The length of [${field.path}] of a document of [${index}] index has exceeded [${limit}] - maximum allowed to be analyzed for highlighting. This maximum can be set by changing the [index.highlight.max_analyzed_offset] index level setting. For large texts, map the field with index_options: offsets and highlight with unified or fvh.`,
    );
  }

  #tokens(
    field: Field,
    text: string,
  ): ReturnType<ReturnType<ShardContext["mapping"]["analysis"]["analyzer"]>["tokens"]> {
    if (field.type === "text") return this.#shard.mapping.analysis.analyzer(field.analyzer).tokens(text);
    const term =
      field.normalizer === undefined ? text : this.#shard.mapping.analysis.normalize(field.normalizer, text);
    return [{ text: term, startOffset: 0, endOffset: text.length, type: "word", position: 0 }];
  }
}
