/**
 * Many people at one hub: 32 clients, each asking again as soon as it is answered, a term over a span of time with a
 * histogram by time, as dashboards do. The spans differ, so that no answer is kept from another; beside it the same
 * question by all, as after a link was sent round.
 */

import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { Agent, request as httpRequest } from "node:http";
import { HOUR_MS } from "#proto/kit/units.ts";
import { ask } from "#test/harness/http.ts";
import { startHub, type TestHub } from "#test/harness/hub.ts";
import { cpuSeconds } from "#test/harness/processes.ts";
import { randomFrom } from "#test/harness/random.ts";
import { type Benchmark, type BenchmarkContext, percentile, type Result } from "./benchmark.ts";
import { bulkBodies, sendAll } from "./bulk-bodies.ts";
import { BLOCK_DOCS, CORPUS_MAPPING, CORPUS_START_MS, corpusBlock } from "./log-corpus.ts";

const DOCUMENTS = 1_000_000;
const CLIENTS = 32;
/** Of a case, before it and while it is measured. */
const WARM_MS = 2_000;
const CASE_MS = 8_000;
/** Blocks of documents that stand in memory as bodies at a time. */
const PART_BLOCKS = 100;
const SPAN_HOURS = 7 * 24;
/** What 99 of 100 answers may take. */
const P99 = { atMost: 100 };

const HOSTS = ["web-00", "web-01", "web-02", "app-00", "app-01"];

type Random = () => number;

interface Case {
  readonly name: string;
  /** Whether it is what the target is about. */
  readonly promised: boolean;
  readonly body: (random: Random) => object;
}

const histogram = { hours: { date_histogram: { field: "@timestamp", interval: "hour" } } };

/** Some hours of the week, to the millisecond. */
function span(random: Random): object {
  const from = Math.floor(CORPUS_START_MS + random() * (SPAN_HOURS / 2) * HOUR_MS);
  const to = Math.floor(from + (1 + random() * (SPAN_HOURS / 2)) * HOUR_MS);
  return { range: { "@timestamp": { gte: from, lt: to, format: "epoch_millis" } } };
}

function oneOf<T>(values: readonly T[], random: Random): T {
  return values[Math.floor(random() * values.length)]!;
}

const CASES: readonly Case[] = [
  {
    name: "term + date_histogram",
    promised: true,
    body: (random) => ({ size: 0, query: { term: { "host.name": oneOf(HOSTS, random) } }, aggs: histogram }),
  },
  {
    name: "term in a span + date_histogram",
    promised: true,
    body: (random) => ({
      size: 0,
      query: { bool: { filter: [{ term: { "host.name": oneOf(HOSTS, random) } }, span(random)] } },
      aggs: histogram,
    }),
  },
  {
    name: "words in a span, 50 newest + date_histogram",
    promised: false,
    body: (random) => ({
      size: 50,
      query: {
        bool: { must: [{ match: { message: oneOf(["post", "chrome", "failure"], random) } }, span(random)] },
      },
      sort: [{ "@timestamp": "desc" }],
      aggs: histogram,
    }),
  },
];

export const clients: Benchmark = {
  name: "clients",
  about: `${CLIENTS} clients at once, a term with a date_histogram over 1 M documents by HTTP: milliseconds; --keep FOLDER`,
  async run(context) {
    const blocks = Math.ceil((context.docs ?? DOCUMENTS * context.scale) / BLOCK_DOCS);
    const hub = await fullHub(context, blocks);
    const results: Result[] = [];
    for (const each of CASES) {
      await askAll(hub, each, WARM_MS);
      const cpu = cpuSeconds(hub.pid);
      const times = await askAll(hub, each, CASE_MS);
      const cpuMs = ((cpuSeconds(hub.pid) - cpu) * 1000) / times.length;
      context.progress(`${each.name}: ${times.length} answers`);
      results.push(
        {
          case: `${each.name}, p99`,
          value: percentile(times, 0.99),
          unit: "ms",
          reference: null,
          target: P99,
        },
        { case: `${each.name}, median`, value: percentile(times, 0.5), unit: "ms", reference: null },
        { case: `${each.name}, hub`, value: cpuMs, unit: "CPU-ms an answer", reference: null },
      );
    }
    return results;
  },
};

/** Starts a hub whose index holds the corpus; what a kept folder holds already isn't sent again. */
async function fullHub({ workspace, keep, progress }: BenchmarkContext, blocks: number): Promise<TestHub> {
  const dataDir = keep ?? workspace.path("hub-data");
  mkdirSync(dataDir, { recursive: true });
  const hub = await startHub({ dataDir, logFile: workspace.path("hub.log") });
  workspace.defer(() => hub.stop());
  const url = `${hub.searchUrl}/bench`;
  const known = await fetch(`${url}/_count`);
  const { count: there = -1 } = (await known.json()) as { count?: number };
  if (there === blocks * BLOCK_DOCS) return hub;
  assert.equal(there, -1, "the kept folder holds another number of documents");
  await ask("PUT", url, { settings: { number_of_shards: 1 }, mappings: { _doc: CORPUS_MAPPING } });
  for (let from = 0; from < blocks; from += PART_BLOCKS) {
    await sendAll(
      `${url}/_doc/_bulk`,
      bulkBodies(from, Math.min(blocks, from + PART_BLOCKS), (block) =>
        corpusBlock(block, blocks * BLOCK_DOCS),
      ),
    );
    progress(`${Math.min(blocks, from + PART_BLOCKS) * BLOCK_DOCS} documents`);
  }
  await ask("POST", `${url}/_forcemerge?max_num_segments=1`);
  await ask("POST", `${url}/_refresh`);
  const { count } = await ask<{ count: number }>("GET", `${url}/_count`);
  assert.equal(count, blocks * BLOCK_DOCS);
  return hub;
}

/** Lets all clients ask for so long; returns the milliseconds of each answer. */
async function askAll(hub: TestHub, { body }: Case, durationMs: number): Promise<number[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: CLIENTS });
  const end = performance.now() + durationMs;
  const times: number[] = [];
  const client = async (_: unknown, number: number): Promise<void> => {
    const random = randomFrom(number + durationMs);
    while (performance.now() < end) {
      const text = JSON.stringify(body(random));
      const start = performance.now();
      const answer = await post(agent, `${hub.searchUrl}/bench/_search`, text);
      times.push(performance.now() - start);
      assert.match(answer, /^\{"took":\d+,"timed_out":false,/);
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
  agent.destroy();
  return times;
}

/** Sends a search over a kept connection; returns the answer as text. */
export function post(agent: Agent, url: string, body: string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
  const sent = httpRequest(url, { method: "POST", agent, headers }, (response) => {
    const chunks: Buffer[] = [];
    response.on("data", (chunk: Buffer) => chunks.push(chunk));
    response.on("error", reject);
    response.on("end", () => resolve(Buffer.concat(chunks).toString()));
  });
  sent.on("error", reject);
  sent.end(body);
  return promise;
}
