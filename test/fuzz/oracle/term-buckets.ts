/** Random terms aggregations. */

import { type Aggregation, grouped, type Scope } from "./aggregation.ts";
import { comparison, type Item, itemsAt, type Json, KINDS, type Value, written } from "./documents.ts";
import { fieldsOf, someValue } from "./question.ts";
import { withMissing } from "./replaced-values.ts";
import { KEYWORD_SCRIPT } from "./scripts.ts";
import type { SubAggregations } from "./sub-aggregations.ts";
import { DEFAULT_ORDER, randomOrder } from "./term-orders.ts";

/** Which keys stay. */
interface Choice {
  readonly options: Json;
  readonly keeps: (key: Value) => boolean;
}

/** Each shard returns all its terms: which ones are left out otherwise depends on how documents are spread. */
const ALL_OF_A_SHARD = 60_000;

export function termBuckets(scope: Scope, sub: SubAggregations): Aggregation {
  const { dice } = scope.subject;
  const source = randomSource(scope);
  const { field } = source;
  const size = dice.pick([3, 10, 5_000]);
  const least = dice.pick([1, 1, 1, 1, 2, 3, ...(mayBeEmpty(scope, source) ? [0, 0] : [])]);
  const choice = source.isScripted ? ALL : randomChoice(scope, field);
  const order = randomOrder(scope, field);
  const terms: Json = { ...source.options, size, shard_size: ALL_OF_A_SHARD, ...choice.options };
  if (order.order !== DEFAULT_ORDER) terms["order"] = order.order;
  if (least !== 1) terms["min_doc_count"] = least;
  if (dice.chance(0.2)) terms["collect_mode"] = dice.pick(["breadth_first", "depth_first"]);
  const aggs = { ...order.aggs, ...(sub.body["aggs"] as Json | undefined) };
  const compare = comparison(field);
  return {
    body: { terms, ...(Object.keys(aggs).length === 0 ? {} : { aggs }) },
    expect(items) {
      // A bucket that fills a gap of a histogram has none of the empty ones, other than one of filters.
      if (least === 0 && items.length === 0) return undefined;
      const groups = grouped(items, source.keysOf);
      if (least === 0) addEmpty(groups, scope, source);
      const found = [...groups].filter(([key, group]) => choice.keeps(key) && group.length >= least);
      found.sort((a, b) => order.compare(a, b) || compare(a[0], b[0]));
      const rest = found.slice(size).reduce((count, [, group]) => count + group.length, 0);
      const shown = found.slice(0, size);
      return {
        sum_other_doc_count: least > 1 ? undefined : rest,
        buckets: shown.map(([key, group]) => ({ ...keyOf(field, key), ...sub.expectBucket(group) })),
      };
    },
  };
}

/** Where keys come from. */
interface Source {
  readonly options: Json;
  readonly field: string;
  readonly isScripted: boolean;
  readonly missing: Value | undefined;
  readonly keysOf: (item: Item) => Value[];
}

function randomSource(scope: Scope): Source {
  const { subject, level } = scope;
  const { dice } = subject;
  if (level === "root" && dice.chance(0.08)) {
    const options = { script: { source: KEYWORD_SCRIPT.source } };
    return {
      options,
      field: "k",
      isScripted: true,
      missing: undefined,
      keysOf: (item) => [KEYWORD_SCRIPT.of(item)],
    };
  }
  const field = dice.pick(fieldsOf(level));
  const { missing, valuesOf: keysOf, options: replaced } = withMissing(scope, field);
  const options: Json = { field, ...replaced };
  if (KINDS[field] === "keyword" && dice.chance(0.2))
    options["execution_hint"] = dice.pick(["map", "global_ordinals"]);
  return { options, field, isScripted: false, missing, keysOf };
}

/**
 * Whether buckets without documents can be asked for: deleted documents may still give some, and shards without documents in a
 * bucket give none below it. Where no document lacks a value, the value for missing ones has a bucket of its own by the ordinals
 * of 6.5, and none by its map.
 */
function mayBeEmpty({ subject }: Scope, { missing, options }: Source): boolean {
  const isKnown = subject.shards === 1 && !subject.hasDeleted;
  return isKnown && (missing === undefined || options["execution_hint"] !== "map");
}

/** Adds the keys of all documents of the index, without any of them. */
function addEmpty(groups: Map<Value, Item[]>, scope: Scope, { field, missing, keysOf }: Source): void {
  const keys = allOf(scope).flatMap(keysOf);
  if (missing !== undefined && KINDS[field] === "keyword") keys.push(missing);
  for (const key of keys) if (!groups.has(key)) groups.set(key, []);
}

function allOf({ subject, level }: Scope): readonly Item[] {
  return subject.items.flatMap((item) => itemsAt(item, level));
}

function keyOf(field: string, key: Value): Json {
  return KINDS[field] === "boolean" ? { key, key_as_string: String(written(field, key)) } : { key };
}

const ALL: Choice = { options: {}, keeps: () => true };

function randomChoice({ subject }: Scope, field: string): Choice {
  const { dice } = subject;
  if (!dice.chance(0.25) || !["keyword", "number"].includes(KINDS[field]!)) return ALL;
  const values = [someValue(subject, field), someValue(subject, field)];
  const lists: readonly Choice[] = [
    { options: { include: values }, keeps: (key) => values.includes(key) },
    { options: { exclude: values }, keeps: (key) => !values.includes(key) },
    {
      options: { include: values, exclude: [values[0]] },
      keeps: (key) => values.includes(key) && key !== values[0],
    },
  ];
  const expressions: readonly Choice[] = [
    { options: { include: ".*[13]" }, keeps: (key) => /^.*[13]$/.test(String(key)) },
    { options: { exclude: "[a-k].*|w1.*" }, keeps: (key) => !/^(?:[a-k].*|w1.*)$/.test(String(key)) },
    {
      options: { include: ".[0-5]", exclude: ".*[24]" },
      keeps: (key) => /^.[0-5]$/.test(String(key)) && !/[24]$/.test(String(key)),
    },
  ];
  return dice.pick(KINDS[field] === "keyword" ? [...lists, ...expressions] : lists);
}
