/** `ip_range`: documents by given intervals of addresses. */

import { formatIp, parseIp, parseIpBlock } from "#hub/engine/bytes/ip.ts";
import type { KeywordColumn, SegmentReader } from "#hub/engine/searcher/searcher.ts";
import {
  byKey,
  emptyFixed,
  FixedCollector,
  type FixedState,
  mergeFixed,
  type Sorter,
} from "#hub/search/aggregations/buckets/fixed-buckets.ts";
import type {
  Aggregation,
  AggregationTree,
  BucketBudget,
  CollectBudget,
  Collector,
} from "#hub/search/aggregations/tree/aggregation.ts";
import { type AggregationType, readAggregation } from "#hub/search/aggregations/tree/aggregation-parser.ts";
import { renderTree } from "#hub/search/aggregations/tree/aggregation-tree.ts";
import { fieldTypeFault, requireField } from "#hub/search/aggregations/tree/field-option.ts";
import type { Steps } from "#hub/search/aggregations/tree/steps.ts";
import { columnField, KeywordValues } from "#hub/search/columns/column-values.ts";
import { objectOf } from "#hub/search/options/json.ts";
import { flag, list, readOptions, required, text } from "#hub/search/options/options.ts";
import type { ShardContext } from "#hub/search/query/query.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { checkRangeCount } from "./range.ts";
import { SortedRanges } from "./sorted-ranges.ts";

const OPTIONS = {
  field: text("field of addresses", undefined),
  ranges: required(list("intervals {key, from, to} or {key, mask}; from inclusive, to exclusive")),
  keyed: flag("whether buckets are an object by key", false),
} as const;

const RANGE_OPTIONS = {
  key: text("name of the bucket", undefined),
  from: text("first address", undefined),
  to: text("first address behind", undefined),
  mask: text("block: 10.0.0.0/8", undefined),
} as const;

/** Bounds as 16 bytes; undefined: open. */
interface AddressRange {
  readonly key: string;
  readonly from: Uint8Array | undefined;
  readonly to: Uint8Array | undefined;
}

export const ipRange: AggregationType = {
  name: "ip_range",
  summary: "Documents by given intervals of addresses; from inclusive, to exclusive.",
  options: OPTIONS,
  buckets: true,
  parse(body, { name, below }) {
    const options = readAggregation("ip_range", body, OPTIONS);
    checkRangeCount(options.ranges?.length ?? 0, "ip_range");
    const ranges = (options.ranges ?? []).map((each) => readRange(each));
    if (ranges.length === 0)
      throw new AppError("request_invalid", "No [ranges] specified for the [ip_range] aggregation");
    ranges.sort((a, b) => compareBounds(a.from, b.from, -1) || compareBounds(a.to, b.to, 1));
    return new AddressRanges(requireField(options.field, name), ranges, options.keyed ?? false, below);
  },
};

function maskFault(mask: string): AppError {
  const [, address = "", length] = /^([\d.]+|[\da-f:.]*:[\da-f:.]*)\/(\d+)$/i.exec(mask) ?? [];
  const hasAddress = parseIpBlock(`${address}/0`) !== null;
  return new AppError(
    "request_invalid",
    hasAddress
      ? `Illegal prefix length [${length}] in [${mask}]. Must be 0-32 for IPv4 ranges, 0-128 for IPv6 ranges`
      : `Expected [ip/prefix] but was [${mask}]`,
  );
}

function readRange(json: unknown): AddressRange {
  const { key, from, to, mask } = readOptions(
    "ip_range",
    objectOf(json, "ip_range] [ranges"),
    RANGE_OPTIONS,
    "aggregation",
  );
  if (mask !== undefined) {
    const block = parseIpBlock(mask);
    if (block === null) throw maskFault(mask);
    const [first, last] = block;
    return { key: key ?? mask, from: isZero(first) ? undefined : first, to: following(last) };
  }
  return { key: key ?? `${from ?? "*"}-${to ?? "*"}`, from: address(from), to: address(to) };
}

function address(given: string | undefined): Uint8Array | undefined {
  if (given === undefined) return undefined;
  const bytes = parseIp(given);
  if (bytes !== null) return bytes;
  throw new AppError("request_invalid", `'${given}' is not an IP string literal.`);
}

function isZero(bytes: Uint8Array): boolean {
  return bytes.every((byte) => byte === 0);
}

/** The address after; undefined after the last one. */
function following(last: Uint8Array): Uint8Array | undefined {
  const next = last.slice();
  for (let at = next.length - 1; at >= 0; at--) {
    next[at] = (next[at]! + 1) & 0xff;
    if (next[at] !== 0) return next;
  }
  return undefined;
}

/** Open bounds come first (-1) or last (1). */
function compareBounds(a: Uint8Array | undefined, b: Uint8Array | undefined, open: -1 | 1): number {
  if (a === undefined || b === undefined) return a === b ? 0 : a === undefined ? open : -open;
  return Buffer.compare(a, b);
}

class AddressRanges implements Aggregation<FixedState> {
  readonly #field: string;
  readonly #ranges: readonly AddressRange[];
  readonly #keyed: boolean;
  readonly #below: AggregationTree;

  constructor(field: string, ranges: readonly AddressRange[], keyed: boolean, below: AggregationTree) {
    this.#field = field;
    this.#ranges = ranges;
    this.#keyed = keyed;
    this.#below = below;
  }

  collector(shard: ShardContext, budget: CollectBudget): Collector<FixedState> {
    const field = columnField(shard, this.#field);
    if (field !== undefined && field.type !== "ip") throw fieldTypeFault(field, "ip_range");
    const sorter = new AddressSorter(field?.path, this.#ranges);
    return new FixedCollector(this.#ranges.length, sorter, this.#below, shard, budget);
  }

  merge(states: readonly FixedState[]): Steps<FixedState> {
    return mergeFixed(states, this.#below);
  }

  *render(state: FixedState, budget: BucketBudget): Steps<JsonObject> {
    budget.add(state.length);
    const buckets: (JsonObject & { readonly key: string })[] = [];
    for (const [at, { key, from, to }] of this.#ranges.entries()) {
      yield;
      buckets.push({
        key,
        ...(from !== undefined && { from: formatIp(from) }),
        ...(to !== undefined && { to: formatIp(to) }),
        doc_count: state[at]!.count,
        ...(yield* renderTree(this.#below, state[at]!.below, budget)),
      });
    }
    return { buckets: this.#keyed ? byKey(buckets) : buckets };
  }

  empty(): FixedState {
    return emptyFixed(this.#ranges.length, this.#below);
  }

  typedName(): string {
    return "ip_range";
  }
}

/** Compares ordinals: addresses are in their order within a segment. */
class AddressSorter implements Sorter {
  readonly #path: string | undefined;
  readonly #ranges: readonly AddressRange[];
  readonly #values = new KeywordValues();
  /** Of ordinals; those below 0 aren't values. */
  #limits = new SortedRanges([]);

  constructor(path: string | undefined, ranges: readonly AddressRange[]) {
    this.#path = path;
    this.#ranges = ranges;
  }

  segment(segment: SegmentReader): void {
    const column = this.#path === undefined ? null : segment.keywordColumn(this.#path);
    this.#values.open(column);
    this.#limits = new SortedRanges(
      this.#ranges.map(({ from, to }) => ({
        from: from === undefined ? 0 : place(column, from),
        to: to === undefined ? null : place(column, to),
      })),
    );
  }

  sort(docs: Int32Array, length: number, put: (place: number, bucket: number) => void): void {
    const count = this.#values.read(docs, length);
    const { ordinals, places } = this.#values;
    this.#limits.put({ values: ordinals, places, count }, put);
  }
}

/** First ordinal at or after an address. */
function place(column: KeywordColumn | null, bytes: Uint8Array): number {
  const ordinal = column?.ordOf(bytes) ?? 0;
  return ordinal < 0 ? -ordinal - 1 : ordinal;
}
