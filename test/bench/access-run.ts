/**
 * The process of the benchmark `access`: indexes access logs into a shard unless the folder has them, asks every case and
 * prints what that took as one line of JSON: `node … test/bench/access-run.ts FOLDER DOCUMENTS [CASE]`.
 */

import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
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
import { ACCESS_CASES, type AccessCase, answerOf, ExpectedAnswers } from "./access-cases.ts";
import { ACCESS_MAPPING, accessBlock } from "./access-corpus.ts";
import { percentile } from "./benchmark.ts";
import { BLOCK_DOCS } from "./log-corpus.ts";

/** What a case took. */
export interface AccessFigures {
  readonly name: string;
  /** The first asking, with cold caches of the process; the median of those after it. */
  readonly firstMs: number;
  readonly medianMs: number;
  /** CPU of the process for each asking. */
  readonly cpuMs: number;
}

/**
 * Askings before the measured ones: by then the compilers, whose threads count as CPU of the process, are done. After 20
 * they took as much again as the search itself.
 */
const WARM_UP = 300;
/** Askings that are measured. */
const ASKED = 100;
/** Blocks between two commits. */
const COMMIT_BLOCKS = 100;
/** A number of values is estimated this well. */
const ESTIMATE_SHARE = 0.06;

function openShard(folder: string): Shard {
  const mapping = Mapping.parse(ACCESS_MAPPING, { index: "bench", analysis: new Analysis() });
  return Shard.open(join(folder, "access"), { index: "bench", mapping, log: silentLogger() });
}

/** Indexes the documents; returns what the answers have to be. */
function makeData(folder: string, total: number): unknown[] {
  const file = join(folder, `expected-${total}.json`);
  if (existsSync(file)) return JSON.parse(readFileSync(file, "utf8")) as unknown[];
  mkdirSync(join(folder, "access"), { recursive: true });
  const shard = openShard(folder);
  const expected = new ExpectedAnswers();
  for (let block = 0; block * BLOCK_DOCS < total; block++) {
    const documents = accessBlock(block, total);
    for (const document of documents) expected.add(document);
    const operations = documents.map(({ id, json }) => ({
      kind: DocOperation.Kind.INDEX,
      id,
      source: Buffer.from(json),
      appendOnly: true,
    }));
    shard.apply({ operations, timeMs: 1, lenient: true }, { incarnation: 1, sequence: block + 1 });
    if ((block + 1) % COMMIT_BLOCKS !== 0) continue;
    shard.commit();
    while (shard.mergeStep());
  }
  shard.trim();
  shard.close();
  writeFileSync(file, JSON.stringify(expected.all()));
  return expected.all();
}

async function ask(shard: Shard, each: AccessCase, expected: unknown): Promise<AccessFigures> {
  const searcher = shard.searcher();
  try {
    const shards = [{ index: { name: "bench", uuid: "bench", typeName: "_doc" }, shard: 0, searcher }];
    const once = async (): Promise<SearchResponse> =>
      await searchShards(parseSearchRequest(each.body, DEFAULT_LIMITS), shards, {
        signal: new AbortController().signal,
        limits: DEFAULT_LIMITS,
      });
    const startedAt = performance.now();
    check(each, answerOf(each, await once()), expected);
    const firstMs = performance.now() - startedAt;
    for (let run = 0; run < WARM_UP; run++) await once();
    const times: number[] = [];
    const before = process.cpuUsage();
    for (let run = 0; run < ASKED; run++) {
      const from = performance.now();
      await once();
      times.push(performance.now() - from);
    }
    const { user, system } = process.cpuUsage(before);
    return {
      name: each.name,
      firstMs,
      medianMs: percentile(times, 0.5),
      cpuMs: (user + system) / 1000 / ASKED,
    };
  } finally {
    searcher.close();
  }
}

function check({ name, isEstimate }: AccessCase, answer: unknown, expected: unknown): void {
  const share = isEstimate === true ? Math.abs(Number(answer) / Number(expected) - 1) : 0;
  if (isEstimate === true) assert.ok(share < ESTIMATE_SHARE, `"${name}": ${String(answer)}`);
  else assert.deepEqual(answer, expected, `"${name}": the answer isn't the generator's`);
}

const [folder = "", documents = "", only = ""] = process.argv.slice(2);
const expected = makeData(folder, Number(documents));
const shard = openShard(folder);
const figures: AccessFigures[] = [];
for (const [number, each] of ACCESS_CASES.entries())
  if (each.name.includes(only)) figures.push(await ask(shard, each, expected[number]));
shard.close();
process.stdout.write(`${JSON.stringify(figures)}\n`);
