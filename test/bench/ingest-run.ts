/**
 * One process that indexes messages of a file into a shard of its own, and prints what that took as JSON. It makes nothing
 * else: all CPU-seconds between the messages are the engine's, its share of garbage and compiling included.
 * `node test/bench/ingest-run.ts '<IngestPart as JSON>'`.
 */

import { rmSync } from "node:fs";
import { join } from "node:path";
import { Analysis } from "#hub/engine/analysis/analysis.ts";
import { Mapping } from "#hub/engine/mapping/mapping.ts";
import { DocBatchView } from "#hub/engine/operations/doc-batch-view.ts";
import { Shard } from "#hub/engine/shard.ts";
import { silentLogger } from "#proto/kit/log.ts";
import { plainIndexing } from "#test/oracles/engine/plain-indexing.ts";
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
}

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
}

/** Messages that warm the compilers: a hub runs for months. */
const WARM_MESSAGES = 60;
/** Messages between two commits. */
const COMMIT_MESSAGES = 100;

class Stopwatch {
  cpuSeconds = 0;
  wallSeconds = 0;

  run(work: () => void): void {
    const before = process.cpuUsage();
    const start = performance.now();
    work();
    const { user, system } = process.cpuUsage(before);
    this.cpuSeconds += (user + system) / 1e6;
    this.wallSeconds += (performance.now() - start) / 1000;
  }
}

function openShard(folder: string, useKernel: boolean): Shard {
  const mapping = Mapping.parse(CORPUS_MAPPING, { index: "bench", analysis: new Analysis() });
  const indexing = useKernel ? {} : { indexing: plainIndexing };
  return Shard.open(folder, { index: "bench", mapping, log: silentLogger(), ...indexing });
}

/** Indexes messages and commits. */
function index(shard: Shard, part: IngestPart, watch: Stopwatch): void {
  const file = new MessageFile(part.messages);
  for (let sequence = 1; sequence <= part.count; sequence++) {
    const message = file.next();
    watch.run(() => {
      shard.apply(new DocBatchView(message), { incarnation: 1, sequence });
      if (sequence % COMMIT_MESSAGES !== 0) return;
      shard.commit();
      while (part.merges && shard.mergeStep());
    });
  }
  watch.run(() => {
    shard.refresh();
    shard.commit();
  });
  file.close();
}

async function run(part: IngestPart): Promise<IngestFigures> {
  const warmFolder = join(part.folder, "warm");
  const warm = openShard(warmFolder, part.kernel);
  index(warm, { ...part, count: Math.min(part.count, WARM_MESSAGES) }, new Stopwatch());
  warm.close();
  rmSync(warmFolder, { recursive: true });
  const shard = openShard(join(part.folder, "shard"), part.kernel);
  const watch = new Stopwatch();
  index(shard, part, watch);
  const diskBytes = shard.stats().bytes;
  const residentBytes = process.resourceUsage().maxRSS * 1024;
  const before = process.cpuUsage();
  await shard.forceMerge(1);
  shard.commit();
  const { user, system } = process.cpuUsage(before);
  const mergedBytes = shard.stats().bytes;
  const mergingBytes = process.resourceUsage().maxRSS * 1024;
  shard.close();
  const mergeSeconds = (user + system) / 1e6;
  const { cpuSeconds, wallSeconds } = watch;
  return { cpuSeconds, wallSeconds, diskBytes, residentBytes, mergedBytes, mergeSeconds, mergingBytes };
}

process.stdout.write(JSON.stringify(await run(JSON.parse(process.argv[2] ?? "") as IngestPart)));
