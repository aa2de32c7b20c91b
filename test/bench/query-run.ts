/**
 * The searching process of the benchmark `query`: opens the shard, asks every case and says what it found, as one line of
 * JSON. A process of its own with the hub's switches, so that its memory is what a hub needs:
 * `node --expose-gc … test/bench/query-run.ts FOLDER [CASE]`.
 */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { extentCache } from "#hub/engine/files/extent-cache.ts";
import { filterCache } from "#hub/engine/segment/filter-cache.ts";
import type { Shard } from "#hub/engine/shard.ts";
import type { SearchResponse } from "#hub/search/phases/contract.ts";
import { DEFAULT_LIMITS } from "#hub/search/query/query.ts";
import { parseSearchRequest } from "#hub/search/request/search-request.ts";
import { searchShards } from "#hub/search/search.ts";
import { DocOperation } from "#proto/messages.ts";
import { percentile } from "./benchmark.ts";
import { corpusBlock } from "./log-corpus.ts";
import { CASES, type Case } from "./query-cases.ts";
import { openNestedShard, openShard } from "./query-data.ts";

/** As the launcher of the hub (hub/bin) sets them. */
const HUB_SWITCHES = [
  "--expose-gc",
  "--no-parallel-scavenge",
  "--external-memory-accounted-in-global-limit",
  "--initial-old-space-size=32",
  "--max-semi-space-size=8",
] as const;

/** Askings before the measured ones: compilers and caches are warm then. */
const WARM_UP = 5;
/** A case is asked until it had so much time, at least and at most so often. */
const CASE_MS = 1500;
const MIN_ASKED = 5;
const MAX_ASKED = 60;
/** Refreshes that are measured, and documents of the last ones, which are in no file. */
const REFRESHES = 20;
const MEGABYTE = 2 ** 20;

/** What a case's askings gave. */
export interface Asked {
  readonly name: string;
  /** The best of several, with filters that are remembered and with all found again. */
  readonly hotMs: number;
  readonly anewMs: number;
  /** The longest time for which nothing else got the thread, in the asking in which that was least. */
  readonly heldMs: number;
  readonly answer: unknown;
}

/** What the process says. */
export interface Asking {
  readonly openMs: number;
  readonly segments: number;
  readonly cases: readonly Asked[];
  /** After all cases. */
  readonly rssMegabytes: number;
  readonly memory: Readonly<Record<string, number>>;
  readonly refreshMs: number;
}

/** Asks in a process of its own; `only`: the cases whose names hold it. */
export async function askApart(folder: string, documents: number, only = ""): Promise<Asking> {
  const script = fileURLToPath(import.meta.url);
  const child = spawn(process.execPath, [...HUB_SWITCHES, script, folder, String(documents), only], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  const output = await text(child.stdout);
  assert.equal(await ended, 0, "the searching process failed");
  return JSON.parse(output) as Asking;
}

async function askAll(folder: string, documents: number, only: string): Promise<Asking> {
  const openedAt = performance.now();
  const shard = openShard(folder);
  const openMs = performance.now() - openedAt;
  const nested = openNestedShard(folder);
  const cases: Asked[] = [];
  for (const each of CASES)
    if (each.name.includes(only)) cases.push(await askCase(each.nested === true ? nested : shard, each));
  const usage = process.memoryUsage();
  const megabytes = (bytes: number): number => Math.round(bytes / MEGABYTE);
  const asking = {
    openMs,
    segments: shard.stats().segments,
    cases,
    rssMegabytes: usage.rss / MEGABYTE,
    memory: {
      heap: megabytes(usage.heapUsed),
      heapTotal: megabytes(usage.heapTotal),
      arrayBuffers: megabytes(usage.arrayBuffers),
      extents: megabytes(extentCache().stats().bytes),
      filters: megabytes(filterCache().stats().bytes),
    },
    refreshMs: refresh(shard, documents),
  };
  shard.close();
  nested.close();
  return asking;
}

async function askCase(shard: Shard, each: Case): Promise<Asked> {
  const hot = await ask(shard, each, true);
  const anew = await ask(shard, each, false);
  assert.deepEqual(anew.answer, hot.answer, `"${each.name}": remembered filters change the answer`);
  return {
    name: each.name,
    hotMs: hot.milliseconds,
    anewMs: anew.milliseconds,
    heldMs: Math.max(hot.heldMs, anew.heldMs),
    answer: hot.answer,
  };
}

interface Measured {
  readonly milliseconds: number;
  readonly heldMs: number;
  readonly answer: unknown;
}

/** `remembering`: filters that were found are kept from one asking to the next, as they are for users. */
async function ask(shard: Shard, { body, answer }: Case, remembering: boolean): Promise<Measured> {
  const searcher = shard.searcher();
  let heldMs = Number.POSITIVE_INFINITY;
  try {
    const shards = [{ index: { name: "bench", uuid: "bench", typeName: "_doc" }, shard: 0, searcher }];
    const once = async (): Promise<SearchResponse> =>
      await searchShards(parseSearchRequest(body, DEFAULT_LIMITS), shards, {
        signal: new AbortController().signal,
        limits: DEFAULT_LIMITS,
      });
    for (let run = 0; run < WARM_UP; run++) await once();
    const times: number[] = [];
    let response: SearchResponse | undefined;
    const end = performance.now() + CASE_MS;
    while (times.length < MIN_ASKED || (times.length < MAX_ASKED && performance.now() < end)) {
      if (!remembering) filterCache().clear();
      const from = performance.now();
      const held = new LongestHold();
      response = await held.during(once);
      times.push(performance.now() - from);
      heldMs = Math.min(heldMs, held.longestMs);
    }
    return { milliseconds: Math.min(...times), heldMs, answer: answer(response!) };
  } finally {
    searcher.close();
  }
}

/** Records how long others have to wait for the thread. */
class LongestHold {
  longestMs = 0;

  /** Runs `work`. */
  async during<T>(work: () => Promise<T>): Promise<T> {
    let last = performance.now();
    let isRunning = true;
    const look = (): void => {
      const now = performance.now();
      this.longestMs = Math.max(this.longestMs, now - last);
      last = now;
      if (isRunning) setImmediate(look);
    };
    setImmediate(look);
    try {
      return await work();
    } finally {
      isRunning = false;
      look();
    }
  }
}

/** Makes 1,000 documents visible some times; none of them is committed. Returns the median, ms. */
function refresh(shard: Shard, documents: number): number {
  const times: number[] = [];
  for (let run = 0; run < REFRESHES; run++) {
    const operations = corpusBlock(documents / 1000 + run, 2 * documents).map(({ id, json }) => ({
      kind: DocOperation.Kind.INDEX,
      id,
      source: Buffer.from(json),
      appendOnly: true,
    }));
    const { incarnation, sequence } = shard.position;
    shard.apply({ operations, timeMs: 1, lenient: true }, { incarnation, sequence: sequence + 1 });
    const from = performance.now();
    shard.refresh();
    times.push(performance.now() - from);
  }
  return percentile(times, 0.5);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [folder = "", documents = "", only = ""] = process.argv.slice(2);
  const asking = await askAll(folder, Number(documents), only);
  process.stdout.write(`${JSON.stringify(asking)}\n`);
}
