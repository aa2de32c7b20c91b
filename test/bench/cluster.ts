/**
 * One question to three hubs, of which each has one of three shards, and to one hub that has all three: what the way over the
 * other hubs adds, and whether both answer the same. They are asked in turn.
 */

import { Agent } from "node:http";
import { TestCluster } from "#test/harness/cluster.ts";
import { ask } from "#test/harness/http.ts";
import { startHub, type TestHub } from "#test/harness/hub.ts";
import { until } from "#test/harness/until.ts";
import { type Benchmark, type BenchmarkContext, percentile, type Result, type Target } from "./benchmark.ts";
import { sendAll } from "./bulk-bodies.ts";
import { post } from "./clients.ts";
import { BLOCK_DOCS, CORPUS_MAPPING, corpusBlock } from "./log-corpus.ts";

const DOCUMENTS = 200_000;
const HUBS = 3;
const INDEX = "bench";
/** Requests before those that count: functions are compiled once they ran some hundred times, at three hubs instead of one. */
const WARM = 600;
/** Requests that count, of each case and place. */
const ASKED = 200;
const SPREAD_MS = 120_000;
/** More than the corpus takes: a hub refuses documents that the log has no room for. */
const LOG_BYTES = "256mb";

/** What the way over the hubs may add. */
const ADDED_MS: Target = { atMost: 3 };

interface Case {
  readonly name: string;
  readonly body: object;
  /** Its aggregations are exact: the answers must be equal byte for byte. */
  readonly exact: boolean;
}

const errors = { match: { message: "failure" } };

const CASES: readonly Case[] = [
  {
    name: "50 newest with a word",
    body: { size: 50, query: errors, sort: [{ "@timestamp": "desc" }, { "log.offset": "asc" }] },
    exact: false,
  },
  {
    name: "date_histogram of a term",
    body: {
      size: 0,
      query: { term: { "host.name": "web-01" } },
      aggs: { hours: { date_histogram: { field: "@timestamp", interval: "hour" } } },
    },
    exact: true,
  },
  {
    name: "statistics by status and host",
    body: {
      size: 0,
      aggs: {
        status: {
          terms: { field: "http.response.status_code", size: 100 },
          aggs: {
            bytes: { stats: { field: "http.response.body.bytes" } },
            hosts: { terms: { field: "host.name", size: 100 } },
          },
        },
        first: { min: { field: "@timestamp" } },
        files: { value_count: { field: "log.file.path" } },
      },
    },
    exact: true,
  },
];

export const cluster: Benchmark = {
  name: "cluster",
  about:
    "searches over three hubs with one shard each, beside one hub with the three: milliseconds, equal answers",
  async run(context) {
    const blocks = Math.ceil((context.docs ?? DOCUMENTS * context.scale) / BLOCK_DOCS);
    const { one, three } = await openPlaces(context);
    for (const hub of [one, three]) await createIndex(hub);
    // A shard that moves is closed where it was, and refuses to be merged.
    await untilSpread(three);
    for (const hub of [one, three]) await fill(hub, blocks);
    const agent = new Agent({ keepAlive: true });
    const results: Result[] = [];
    for (const each of CASES) {
      if (!each.name.includes(context.only)) continue;
      results.push(...(await measure(each, { agent, one, three })));
      context.progress(each.name);
    }
    agent.destroy();
    return results;
  },
};

async function openPlaces({
  workspace,
  progress,
}: BenchmarkContext): Promise<{ one: TestHub; three: TestHub }> {
  const members = await TestCluster.start(workspace);
  for (let number = 1; number <= HUBS; number++)
    await members.startHub(`hub-${number}`, { "cluster.copies": "replicas", "journal.max_bytes": LOG_BYTES });
  const one = await startHub({ dataDir: workspace.path("one") });
  workspace.defer(() => one.destroy());
  progress(`${HUBS + 1} hubs run`);
  return { one, three: members.hubs[0]! };
}

async function createIndex({ searchUrl }: TestHub): Promise<void> {
  await ask("PUT", `${searchUrl}/${INDEX}`, {
    settings: { number_of_shards: HUBS, number_of_replicas: 0 },
    mappings: { _doc: CORPUS_MAPPING },
  });
}

/** Ids are those of the corpus, so that each document is in the same shard at both places. */
async function fill({ searchUrl }: TestHub, blocks: number): Promise<void> {
  const url = `${searchUrl}/${INDEX}`;
  const body = (block: number): string =>
    corpusBlock(block, blocks * BLOCK_DOCS)
      .map(({ id, json }) => `${JSON.stringify({ index: { _id: id } })}\n${json}\n`)
      .join("");
  const bodies = Array.from({ length: blocks }, (_, block) => body(block));
  await sendAll(`${url}/_doc/_bulk`, bodies);
  await ask("POST", `${url}/_refresh`);
  await ask("POST", `${url}/_forcemerge?max_num_segments=1`);
}

async function untilSpread({ searchUrl }: TestHub): Promise<void> {
  type Row = { readonly node: string; readonly state: string };
  await until(
    "a shard at each hub",
    async () => {
      const rows = await ask<Row[]>("GET", `${searchUrl}/_cat/shards/${INDEX}?format=json&h=node,state`);
      const nodes = new Set(rows.filter(({ state }) => state === "STARTED").map(({ node }) => node));
      return rows.length === HUBS && nodes.size === HUBS;
    },
    { deadlineMs: SPREAD_MS, everyMs: 500 },
  );
}

async function measure(
  { name, body, exact }: Case,
  { agent, one, three }: { readonly agent: Agent; readonly one: TestHub; readonly three: TestHub },
): Promise<Result[]> {
  const text = JSON.stringify(body);
  const [alone, spread]: [number[], number[]] = [[], []];
  for (let number = 0; number < WARM + ASKED; number++)
    for (const [hub, times] of [
      [one, alone],
      [three, spread],
    ] as const) {
      const startMs = performance.now();
      const answer = await post(agent, `${hub.searchUrl}/${INDEX}/_search?request_cache=false`, text);
      if (number >= WARM) times.push(performance.now() - startMs);
      if (!answer.includes(`"_shards":{"total":${HUBS},"successful":${HUBS},`))
        throw new Error(`not all shards answered: ${answer.slice(0, 500)}`);
    }
  const p50 = percentile(alone, 0.5);
  const results: Result[] = [
    {
      case: `${name}, three hubs, median`,
      value: percentile(spread, 0.5),
      unit: "ms",
      reference: { name: "one hub", value: p50 },
    },
    {
      case: `${name}, added by three hubs`,
      value: percentile(spread, 0.5) - p50,
      unit: "ms",
      reference: null,
      target: ADDED_MS,
    },
  ];
  if (exact) results.push(await compare(name, text, { agent, one, three }));
  return results;
}

async function compare(
  name: string,
  text: string,
  { agent, one, three }: { readonly agent: Agent; readonly one: TestHub; readonly three: TestHub },
): Promise<Result> {
  const [here, there] = await Promise.all(
    [one, three].map(async ({ searchUrl }) => {
      const answer = await post(agent, `${searchUrl}/${INDEX}/_search`, text);
      return answer.slice(answer.indexOf('"hits":'));
    }),
  );
  const differing = here === there && here !== "" ? 0 : 1;
  return {
    case: `${name}, answers that differ from one hub's`,
    value: differing,
    unit: "of 1",
    reference: null,
    target: { atMost: 0 },
  };
}
