/**
 * One process that indexes messages of a file into a shard of its own, and prints what that took as JSON. It makes nothing
 * else: all CPU-seconds between the messages are the engine's, its share of garbage and compiling included.
 * `node test/bench/ingest-run.ts '<IngestPart as JSON>'`.
 */

import { globSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { Analysis } from "#hub/engine/analysis/analysis.ts";
import { Mapping } from "#hub/engine/mapping/mapping.ts";
import { DocBatchView } from "#hub/engine/operations/doc-batch-view.ts";
import { type SegmentPart, segmentBytes } from "#hub/engine/segment/segment-parts.ts";
import { Shard } from "#hub/engine/shard.ts";
import { silentLogger } from "#proto/kit/log.ts";
import { plainIndexing } from "#test/oracles/engine/plain-indexing.ts";
import { ACCESS_MAPPING } from "./access-corpus.ts";
import { CORPUS_MAPPING } from "./log-corpus.ts";
import { MessageFile } from "./message-file.ts";

/** What is to be indexed. */
export interface IngestPart {
  readonly folder: string;
  /** File of messages (message-file.ts), and how many of them are taken, from the first. */
  readonly messages: string;
  readonly count: number;
  /** False: the oracle in TypeScript. */
  readonly kernel: boolean;
  /** True: merges are done as they come due. */
  readonly merges: boolean;
  /** Corpus of the messages: log-corpus.ts or access-corpus.ts. */
  readonly corpus?: "logs" | "access";
}

/** Bytes by part of a segment. */
export type Parts = Partial<Record<SegmentPart, number>>;

/** What it took. Seconds are those of indexing alone, from the first document to the last commit. */
export interface IngestFigures {
  readonly cpuSeconds: number;
  readonly wallSeconds: number;
  readonly diskBytes: number;
  /** Largest resident memory of the process, before the merge. */
  readonly residentBytes: number;
  readonly mergedBytes: number;
  /** CPU-seconds of the merge into one segment, and the largest resident memory by then. */
  readonly mergeSeconds: number;
  readonly mergingBytes: number;
  /** What diskBytes and mergedBytes consist of. */
  readonly parts: Parts;
  readonly mergedParts: Parts;
}

/** Messages that warm the compilers: a hub runs for months. */
const WARM_MESSAGES = 60;
/** Messages between two commits. */
const COMMIT_MESSAGES = 100;

class Stopwatch {
  cpuSeconds = 0;
  wallSeconds = 0;

  async run(work: () => void): Promise<void> {
    const before = process.cpuUsage();
    const start = performance.now();
    work();
    // Between two messages a host's thread gets the answers of the system, for example that a file is durable.
    await setImmediate();
    const { user, system } = process.cpuUsage(before);
    this.cpuSeconds += (user + system) / 1e6;
    this.wallSeconds += (performance.now() - start) / 1000;
  }
}

function openShard(folder: string, { kernel, corpus }: IngestPart): Shard {
  const properties = corpus === "access" ? ACCESS_MAPPING : CORPUS_MAPPING;
  const mapping = Mapping.parse(properties, { index: "bench", analysis: new Analysis() });
  const indexing = kernel ? {} : { indexing: plainIndexing };
  return Shard.open(folder, { index: "bench", mapping, log: silentLogger(), ...indexing });
}

/** Indexes messages and commits. */
async function index(shard: Shard, part: IngestPart, watch: Stopwatch): Promise<void> {
  const file = new MessageFile(part.messages);
  for (let sequence = 1; sequence <= part.count; sequence++) {
    const message = file.next();
    await watch.run(() => {
      shard.apply(new DocBatchView(message), { incarnation: 1, sequence });
      if (sequence % COMMIT_MESSAGES !== 0) return;
      shard.commit();
      while (part.merges && shard.mergeStep());
    });
  }
  await watch.run(() => {
    shard.refresh();
    shard.commit();
  });
  file.close();
}

async function run(part: IngestPart): Promise<IngestFigures> {
  const warmFolder = join(part.folder, "warm");
  const warm = openShard(warmFolder, part);
  await index(warm, { ...part, count: Math.min(part.count, WARM_MESSAGES) }, new Stopwatch());
  warm.close();
  rmSync(warmFolder, { recursive: true });
  const folder = join(part.folder, "shard");
  const shard = openShard(folder, part);
  const watch = new Stopwatch();
  await index(shard, part, watch);
  // At rest: files that the commit before needs are gone.
  shard.trim();
  const diskBytes = shard.stats().bytes;
  const parts = partsOf(folder);
  const residentBytes = process.resourceUsage().maxRSS * 1024;
  const before = process.cpuUsage();
  await shard.forceMerge(1);
  shard.commit();
  const { user, system } = process.cpuUsage(before);
  const mergedBytes = shard.stats().bytes;
  const mergingBytes = process.resourceUsage().maxRSS * 1024;
  shard.close();
  const mergedParts = partsOf(folder);
  const mergeSeconds = (user + system) / 1e6;
  const { cpuSeconds, wallSeconds } = watch;
  return {
    cpuSeconds,
    wallSeconds,
    diskBytes,
    residentBytes,
    mergedBytes,
    mergeSeconds,
    mergingBytes,
    parts,
    mergedParts,
  };
}

/** Bytes by part of the segments in a shard's folder. */
function partsOf(folder: string): Parts {
  const sums: Parts = {};
  for (const file of globSync("*.seg", { cwd: folder }))
    for (const { part, bytes } of segmentBytes(file, join(folder, file)).parts)
      sums[part] = (sums[part] ?? 0) + bytes;
  return sums;
}

process.stdout.write(JSON.stringify(await run(JSON.parse(process.argv[2] ?? "") as IngestPart)));
