/** More and more indices of five shards: what one more costs when it is made, asked, kept and opened. */

import { ACCESS_MAPPING, accessBlock } from "../access-corpus.ts";
import type { BenchmarkContext, Result } from "../benchmark.ts";
import { sendAll } from "../bulk-bodies.ts";
import { BLOCK_DOCS } from "../log-corpus.ts";
import { GrowingHub } from "./growing-hub.ts";
import { LEVEL, LINEAR, type Sample, Series, sizesUpTo } from "./series.ts";

const INDICES = 100;
const SHARDS = 5;
const SIZES = 3;
const FACTOR = 10;
/** Documents that are spread over all indices at each size. */
const SPREAD = 20_000;

const errors = { query: { match: { message: "cart" } }, size: 10 };
const byHost = { size: 0, aggs: { by: { terms: { field: "host" } } } };

export async function growIndices(context: BenchmarkContext): Promise<Result[]> {
  const { workspace, scale, progress } = context;
  const sizes = sizesUpTo(Math.max(1, Math.round(INDICES * scale)), SIZES, FACTOR);
  const growing = await GrowingHub.start(workspace, "indices");
  const series = new Series("shards");
  let [made, cpuSeconds] = [0, 0];
  for (const size of sizes) {
    cpuSeconds += await growing.cpuOf(async () => {
      for (; made < size; made++) await createIndex(growing, `many-${made}`);
    });
    series.add(size * SHARDS, [
      { measure: "making the indices", unit: "CPU-s", value: cpuSeconds, growth: LINEAR },
      ...(await samplesOf(growing, size)),
    ]);
    progress(`${size * SHARDS} shards\n${series.table()}`);
  }
  return series.results();
}

async function createIndex(growing: GrowingHub, name: string): Promise<void> {
  await growing.ask("PUT", `/${name}`, {
    settings: { number_of_shards: SHARDS },
    mappings: { _doc: ACCESS_MAPPING },
  });
}

/** Sends documents to all indices in turn, as daily indices of many sources get them. */
async function spread(growing: GrowingHub, indices: number): Promise<void> {
  const bodies = Array.from({ length: SPREAD / BLOCK_DOCS }, (_, block) =>
    accessBlock(block, SPREAD)
      .map(({ json }, at) => `{"index":{"_index":"many-${at % indices}"}}\n${json}\n`)
      .join(""),
  );
  await sendAll(growing.url("/_doc/_bulk"), bodies);
  await growing.ask("POST", "/_refresh");
}

async function samplesOf(growing: GrowingHub, indices: number): Promise<Sample[]> {
  const ingest = await growing.cpuOf(() => spread(growing, indices));
  await growing.untilAtRest();
  const samples: Sample[] = [
    {
      measure: `${SPREAD.toLocaleString("en")} documents over all`,
      unit: "CPU-s",
      value: ingest,
      growth: LINEAR,
    },
    { measure: "at rest", unit: "CPU-ms a second", value: await growing.idleCpuMs(), growth: LINEAR },
    growing.memory(),
    { measure: "start", unit: "CPU-s", value: await growing.restart(), growth: LINEAR },
    { measure: "memory after the start", unit: "MiB", value: growing.memory().value, growth: LINEAR },
  ];
  const asked = [
    ["_search of all, a word", "/_search?request_cache=false", errors],
    ["_search of all, top 10", "/_search?request_cache=false", byHost],
    ["_cluster/health", "/_cluster/health", undefined],
    ["_cat/indices", "/_cat/indices", undefined],
    ["_cat/shards", "/_cat/shards", undefined],
    ["_stats", "/_stats", undefined],
    ["_cluster/state", "/_cluster/state", undefined],
    ["_refresh of all", "/_refresh", ""],
  ] as const;
  for (const [measure, path, body] of asked) {
    const value = await growing.cpuMsOf(body === undefined ? { path } : { path, body });
    samples.push({ measure, unit: "CPU-ms", value, growth: LINEAR });
  }
  const metrics = await growing.cpuMsOf({ path: "/metrics", site: growing.hub.dashboardUrl });
  const ofOne = await growing.cpuMsOf({ path: "/many-0/_search?request_cache=false", body: errors });
  return [
    ...samples,
    { measure: "metrics", unit: "CPU-ms", value: metrics, growth: LINEAR },
    { measure: "_search of one index", unit: "CPU-ms", value: ofOne, growth: LEVEL },
  ];
}
