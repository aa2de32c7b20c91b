/** `string_stats`: lengths of texts, and how evenly their characters are spread. */

import type { KeywordColumn, SegmentReader } from "#hub/engine/searcher/searcher.ts";
import type { Aggregation, CollectBudget, Collector } from "#hub/search/aggregations/tree/aggregation.ts";
import { type AggregationType, readAggregation } from "#hub/search/aggregations/tree/aggregation-parser.ts";
import { fieldTypeFault, requireField } from "#hub/search/aggregations/tree/field-option.ts";
import { columnField, isNumeric, KeywordValues } from "#hub/search/columns/column-values.ts";
import { flag, text } from "#hub/search/options/options.ts";
import type { ShardContext } from "#hub/search/query/query.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { fraction } from "#proto/kit/number-text.ts";

/** Counts of characters take about as much memory as this many buckets. */
const STATE_BUCKETS = 16;

const OPTIONS = {
  field: text("field of keywords", undefined),
  show_distribution: flag("whether the share of each character is shown", false),
  missing: text("text of documents without one", undefined),
} as const;

export const stringStats: AggregationType = {
  name: "string_stats",
  summary: "Shortest, longest and mean length of texts, and the entropy of their characters.",
  options: OPTIONS,
  buckets: false,
  parse(body, { name }) {
    const options = readAggregation("string_stats", body, OPTIONS);
    const { missing, show_distribution: showsDistribution } = options;
    return new StringStats(requireField(options.field, name), missing, showsDistribution);
  },
};

/** Counts of the texts of a bucket. */
interface TextCounts {
  readonly count: number;
  readonly shortest: number;
  readonly longest: number;
  /** Characters, each with how often it occurs. */
  readonly characters: readonly (readonly [string, number])[];
}

const NOTHING: TextCounts = { count: 0, shortest: Number.POSITIVE_INFINITY, longest: 0, characters: [] };

class StringStats implements Aggregation<TextCounts> {
  readonly #field: string;
  readonly #missing: string | undefined;
  readonly #showsDistribution: boolean;

  constructor(field: string, missing: string | undefined, showsDistribution: boolean) {
    this.#field = field;
    this.#missing = missing;
    this.#showsDistribution = showsDistribution;
  }

  collector(shard: ShardContext, budget: CollectBudget): Collector<TextCounts> {
    return new TextCounter(shard, budget, this.#field, this.#missing);
  }

  merge(states: readonly TextCounts[]): TextCounts {
    const characters = new Map<string, number>();
    for (const [character, count] of states.flatMap((state) => state.characters))
      characters.set(character, count + (characters.get(character) ?? 0));
    return {
      count: states.reduce((sum, { count }) => sum + count, 0),
      shortest: Math.min(...states.map(({ shortest }) => shortest)),
      longest: Math.max(...states.map(({ longest }) => longest)),
      characters: [...characters],
    };
  }

  render(state: TextCounts): JsonObject {
    const { count, shortest, longest } = state;
    const shares = sharesOf(state);
    return {
      count,
      min_length: count === 0 ? null : shortest,
      max_length: count === 0 ? null : longest,
      avg_length: fraction(count === 0 ? null : totalOf(state) / count),
      entropy: fraction(entropyOf(shares)),
      ...(this.#showsDistribution && { distribution: Object.fromEntries(shares) }),
    };
  }

  empty(): TextCounts {
    return NOTHING;
  }

  metric(state: TextCounts, name: string): number | undefined {
    const { count, shortest, longest } = state;
    switch (name) {
      case "count":
        return count;
      case "min_length":
        return shortest;
      case "max_length":
        return longest;
      case "avg_length":
        return totalOf(state) / count;
      case "entropy":
        return entropyOf(sharesOf(state));
      default:
        return undefined;
    }
  }

  typedName(): string {
    return "string_stats";
  }
}

function totalOf({ characters }: TextCounts): number {
  return characters.reduce((sum, [, count]) => sum + count, 0);
}

/** Shares of the characters, the largest first. */
function sharesOf(state: TextCounts): (readonly [string, number])[] {
  const total = totalOf(state);
  return state.characters
    .map(([character, count]) => [character, count / total] as const)
    .toSorted(([, a], [, b]) => b - a);
}

/** Bits of information in a character (Shannon). */
function entropyOf(shares: readonly (readonly [string, number])[]): number {
  return shares.reduce((sum, [, share]) => sum - share * Math.log2(share), 0);
}

interface OpenCounts {
  count: number;
  shortest: number;
  longest: number;
  /** By UTF-16 unit, as texts are measured. */
  readonly characters: Map<string, number>;
}

class TextCounter implements Collector<TextCounts> {
  readonly #field: ReturnType<typeof columnField>;
  readonly #missing: string | undefined;
  readonly #budget: CollectBudget;
  readonly #keywords = new KeywordValues();
  readonly #counts: OpenCounts[] = [];
  #column: KeywordColumn | null = null;

  constructor(shard: ShardContext, budget: CollectBudget, name: string, missing: string | undefined) {
    this.#field = columnField(shard, name);
    if (this.#field !== undefined && (isNumeric(this.#field) || this.#field.type === "geo_point"))
      throw fieldTypeFault(this.#field, "string_stats");
    this.#missing = missing;
    this.#budget = budget;
  }

  segment(segment: SegmentReader): void {
    this.#column = this.#field === undefined ? null : segment.keywordColumn(this.#field.path);
    this.#keywords.open(this.#column);
  }

  collect(docs: Int32Array, buckets: Int32Array, length: number): void {
    const count = this.#keywords.read(docs, length);
    for (let at = 0; at < count; at++) {
      const ordinal = this.#keywords.ordinals[at]!;
      const found = ordinal < 0 ? this.#missing : this.#column!.text(ordinal);
      if (found !== undefined) this.#add(buckets[this.#keywords.places[at]!]!, found);
    }
  }

  state(bucket: number): TextCounts {
    const counts = this.#counts[bucket];
    return counts === undefined ? NOTHING : { ...counts, characters: [...counts.characters] };
  }

  #add(bucket: number, found: string): void {
    let counts = this.#counts[bucket];
    if (counts === undefined) {
      this.#budget.add(STATE_BUCKETS);
      counts = this.#counts[bucket] = { count: 0, shortest: Infinity, longest: 0, characters: new Map() };
    }
    counts.count++;
    counts.shortest = Math.min(counts.shortest, found.length);
    counts.longest = Math.max(counts.longest, found.length);
    const { characters } = counts;
    for (let at = 0; at < found.length; at++)
      characters.set(found[at]!, 1 + (characters.get(found[at]!) ?? 0));
  }
}
