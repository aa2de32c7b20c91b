/** One index that gets more and more access logs: what the documents, their questions and their hub cost at each size. */

import { ACCESS_CASES } from "../access-cases.ts";
import { ACCESS_MAPPING, accessBlock } from "../access-corpus.ts";
import type { BenchmarkContext, Result } from "../benchmark.ts";
import { bulkBodies, sendAll } from "../bulk-bodies.ts";
import { BLOCK_DOCS } from "../log-corpus.ts";
import { GrowingHub } from "./growing-hub.ts";
import { LEVEL, LINEAR, type Sample, Series, sizesUpTo } from "./series.ts";

const DOCUMENTS = 1_000_000;
const SIZES = 4;
const FACTOR = 3;
const SHARDS = 5;
/** Blocks that stand in memory as bodies at a time. */
const PART_BLOCKS = 50;
const MAX_MS = 600_000;

export async function growDocuments(context: BenchmarkContext): Promise<Result[]> {
  const { workspace, docs, scale, progress } = context;
  const sizes = sizesUpTo(docs ?? DOCUMENTS * scale, SIZES, FACTOR).map(
    (size) => Math.max(1, Math.round(size / BLOCK_DOCS)) * BLOCK_DOCS,
  );
  const growing = await GrowingHub.start(workspace, "documents");
  await growing.ask("PUT", "/access", {
    settings: { number_of_shards: SHARDS },
    mappings: { _doc: ACCESS_MAPPING },
  });
  const series = new Series("documents");
  const total = sizes.at(-1)!;
  let [from, cpuSeconds] = [0, 0];
  for (const size of sizes) {
    cpuSeconds += await growing.cpuOf(() => send(growing, from, size, total));
    from = size;
    const { count } = await growing.ask<{ count: number }>("GET", "/access/_count");
    if (count !== size) throw new Error(`${count} of ${size} documents are found`);
    series.add(size, [
      { measure: "ingest and merges", unit: "CPU-s", value: cpuSeconds, growth: LINEAR },
      ...(await samplesOf(growing)),
    ]);
    progress(`${size} documents: ${cpuSeconds.toFixed(1)} CPU-seconds\n${series.table()}`);
  }
  return series.results();
}

async function send(growing: GrowingHub, from: number, to: number, total: number): Promise<void> {
  for (let block = from / BLOCK_DOCS; block * BLOCK_DOCS < to; block += PART_BLOCKS) {
    const end = Math.min(to / BLOCK_DOCS, block + PART_BLOCKS);
    const bodies = bulkBodies(block, end, (each) => accessBlock(each, total));
    await sendAll(growing.url("/access/_doc/_bulk"), bodies);
  }
  await growing.ask("POST", "/access/_refresh");
  await growing.untilAtRest();
}

async function samplesOf(growing: GrowingHub): Promise<Sample[]> {
  const samples: Sample[] = [
    { measure: "disk", unit: "MiB", value: growing.diskMib(), growth: LINEAR },
    growing.memory(),
    { measure: "start", unit: "CPU-s", value: await growing.restart(), growth: LEVEL },
  ];
  for (const { name, body } of ACCESS_CASES) {
    const path = "/access/_search?request_cache=false";
    const value = await growing.cpuMsOf({ path, body: { timeout: `${MAX_MS}ms`, ...body } });
    samples.push({ measure: name, unit: "CPU-ms", value, growth: LINEAR });
  }
  for (const path of ["/_cluster/health", "/_cat/indices", "/_stats"])
    samples.push({ measure: path, unit: "CPU-ms", value: await growing.cpuMsOf({ path }), growth: LEVEL });
  return samples;
}
