/**
 * The process of the growth by distinct values: indexes documents with a keyword of so many values unless the folder has
 * them, asks each question and prints what that took as one line of JSON:
 * `node … test/bench/growth/values-run.ts FOLDER DOCUMENTS VALUES`.
 */

import assert from "node:assert/strict";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Analysis } from "#hub/engine/analysis/analysis.ts";
import { Mapping } from "#hub/engine/mapping/mapping.ts";
import { Shard } from "#hub/engine/shard.ts";
import type { SearchResponse } from "#hub/search/phases/contract.ts";
import { DEFAULT_LIMITS } from "#hub/search/query/query.ts";
import { parseSearchRequest } from "#hub/search/request/search-request.ts";
import { searchShards } from "#hub/search/search.ts";
import { silentLogger } from "#proto/kit/log.ts";
import { DocOperation } from "#proto/messages.ts";
import { randomFrom } from "#test/harness/random.ts";
import { percentile } from "../benchmark.ts";

/** What a question took. */
export interface ValueFigures {
  readonly name: string;
  readonly firstMs: number;
  readonly medianMs: number;
  /** CPU of the process for each asking. */
  readonly cpuMs: number;
}

const MAPPING = {
  properties: { id: { type: "keyword" }, ms: { type: "long" }, "@timestamp": { type: "date" } },
};
const BLOCK_DOCS = 1000;
const COMMIT_BLOCKS = 100;
/** Askings before the measured ones, and measured ones. */
const WARM_UP = 20;
const ASKED = 20;
/** One of so many documents has one of the few values that are frequent. */
const FREQUENT_SHARE = 4;
const FREQUENT = 100;
const ESTIMATE_SHARE = 0.06;

const below = { mean: { avg: { field: "ms" } }, last: { max: { field: "@timestamp" } } };
const top = { terms: { field: "id", size: 20 } };

const QUESTIONS = [
  { name: "top 20", body: { by: top } },
  { name: "top 20 with mean and maximum", body: { by: { ...top, aggs: below } } },
  { name: "unique values", body: { by: { cardinality: { field: "id" } } } },
  {
    name: "composite, first 100",
    body: { by: { composite: { size: 100, sources: [{ id: { terms: { field: "id" } } }] } } },
  },
] as const;

function idOf(number: number): string {
  return `req-${Math.imul(number, 0x9e3779b1).toString(16)}-${number}`;
}

function openShard(folder: string): Shard {
  const mapping = Mapping.parse(MAPPING, { index: "bench", analysis: new Analysis() });
  return Shard.open(join(folder, "shard"), { index: "bench", mapping, log: silentLogger() });
}

/** Returns the value of each document by number: each value is met, some often. */
function* valuesOf(documents: number, values: number): Generator<number> {
  const random = randomFrom(values);
  for (let at = 0; at < documents; at++) {
    const isFrequent = at % FREQUENT_SHARE === 0;
    yield isFrequent ? Math.floor(random() ** 2 * Math.min(values, FREQUENT)) : (at * 7919) % values;
  }
}

/** Indexes the documents unless the folder has them. */
function makeData(folder: string, documents: number, values: number): void {
  const marker = join(folder, "made");
  if (existsSync(marker)) return;
  mkdirSync(join(folder, "shard"), { recursive: true });
  const shard = openShard(folder);
  const numbers = valuesOf(documents, values);
  const random = randomFrom(documents);
  for (let block = 0; block * BLOCK_DOCS < documents; block++) {
    const length = Math.min(BLOCK_DOCS, documents - block * BLOCK_DOCS);
    const operations = Array.from({ length }, (_, at) => {
      const number = block * BLOCK_DOCS + at;
      const source = {
        "@timestamp": 1_767_225_600_000 + number,
        id: idOf(numbers.next().value as number),
        ms: Math.floor(random() * 2000),
      };
      const id = Buffer.from(String(number)).toString("base64url");
      return {
        kind: DocOperation.Kind.INDEX,
        id,
        source: Buffer.from(JSON.stringify(source)),
        appendOnly: true,
      };
    });
    shard.apply({ operations, timeMs: 1, lenient: true }, { incarnation: 1, sequence: block + 1 });
    if ((block + 1) % COMMIT_BLOCKS !== 0) continue;
    shard.commit();
    while (shard.mergeStep());
  }
  shard.commit();
  while (shard.mergeStep());
  shard.trim();
  shard.close();
  writeFileSync(marker, "");
}

/** Returns the largest counts and the number of values. */
function expectedOf(
  documents: number,
  values: number,
): { readonly counts: number[]; readonly unique: number } {
  const counts = new Int32Array(values);
  for (const value of valuesOf(documents, values)) counts[value]!++;
  const met = counts.filter((count) => count > 0);
  return { counts: Array.from(met.toSorted().reverse().subarray(0, 20)), unique: met.length };
}

type Answer = { readonly buckets: { readonly doc_count: number }[]; readonly value: number };

async function ask(
  shard: Shard,
  { name, body }: (typeof QUESTIONS)[number],
  { counts, unique }: ReturnType<typeof expectedOf>,
): Promise<ValueFigures> {
  const searcher = shard.searcher();
  try {
    const shards = [{ index: { name: "bench", uuid: "bench", typeName: "_doc" }, shard: 0, searcher }];
    const once = async (): Promise<SearchResponse> =>
      await searchShards(parseSearchRequest({ size: 0, aggs: body }, DEFAULT_LIMITS), shards, {
        signal: new AbortController().signal,
        limits: DEFAULT_LIMITS,
      });
    const startedAt = performance.now();
    const by = (await once()).aggregations!["by"] as Answer;
    const firstMs = performance.now() - startedAt;
    if (name.startsWith("top"))
      assert.deepEqual(
        by.buckets.map((bucket) => bucket.doc_count),
        counts,
        name,
      );
    if (name.startsWith("unique")) assert.ok(Math.abs(by.value / unique - 1) < ESTIMATE_SHARE, name);
    for (let run = 0; run < WARM_UP; run++) await once();
    const times: number[] = [];
    const before = process.cpuUsage();
    for (let run = 0; run < ASKED; run++) {
      const from = performance.now();
      await once();
      times.push(performance.now() - from);
    }
    const { user, system } = process.cpuUsage(before);
    return { name, firstMs, medianMs: percentile(times, 0.5), cpuMs: (user + system) / 1000 / ASKED };
  } finally {
    searcher.close();
  }
}

const [folder = "", documents = "", values = ""] = process.argv.slice(2);
makeData(folder, Number(documents), Number(values));
const expected = expectedOf(Number(documents), Number(values));
const shard = openShard(folder);
const figures: ValueFigures[] = [];
for (const question of QUESTIONS) figures.push(await ask(shard, question, expected));
shard.close();
process.stdout.write(`${JSON.stringify(figures)}\n`);
