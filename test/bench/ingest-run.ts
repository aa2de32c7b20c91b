/**
 * One process that indexes a part of the corpus into a shard of its own, and prints what that took as JSON. The documents
 * are made between the measured parts. `node test/bench/ingest-run.ts '<IngestPart as JSON>'`.
 */

import { rmSync } from "node:fs";
import { join } from "node:path";
import { Analysis } from "#hub/engine/analysis/analysis.ts";
import { DocBatchView } from "#hub/engine/doc-batch-view.ts";
import { threadKernel } from "#hub/engine/kernel/kernel.ts";
import { Mapping } from "#hub/engine/mapping/mapping.ts";
import { Shard } from "#hub/engine/shard.ts";
import { silentLogger } from "#proto/kit/log.ts";
import { DocBatch, DocOperation } from "#proto/messages.ts";
import { CORPUS_MAPPING, corpusBlock } from "./log-corpus.ts";

/** What is to be indexed, in blocks of 1,000 documents. */
export interface IngestPart {
  readonly folder: string;
  readonly firstBlock: number;
  readonly blocks: number;
  readonly total: number;
  /** False: the TypeScript twin of the kernel. */
  readonly kernel: boolean;
}

/** What it took. Seconds are those of indexing alone, from the first document to the last commit. */
export interface IngestFigures {
  readonly cpuSeconds: number;
  readonly wallSeconds: number;
  /** Of the documents' JSON. */
  readonly sourceBytes: number;
  readonly diskBytes: number;
  /** Largest resident memory of the process, before the merge. */
  readonly residentBytes: number;
  readonly mergedBytes: number;
  /** CPU-seconds of the merge into one segment. */
  readonly mergeSeconds: number;
}

/** Blocks that warm the compilers. */
const WARM_BLOCKS = 20;
/** Blocks between two commits. */
const COMMIT_BLOCKS = 100;

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
  const kernel = useKernel ? threadKernel() : null;
  return Shard.open(folder, { index: "bench", mapping, log: silentLogger(), kernel });
}

/** Indexes blocks, each a message as the log gives it, and commits; returns the bytes of their JSON. */
function index(shard: Shard, part: IngestPart, watch: Stopwatch): number {
  let sourceBytes = 0;
  for (let at = 0; at < part.blocks; at++) {
    const operations = corpusBlock(part.firstBlock + at, part.total).map(({ id, json }) => {
      const source = Buffer.from(json);
      sourceBytes += source.length;
      return { kind: DocOperation.Kind.INDEX, id, source, appendOnly: true };
    });
    const message = DocBatch.encode({ operations, timeMs: 1, lenient: true }).finish();
    watch.run(() => {
      shard.apply(new DocBatchView(message), { incarnation: 1, sequence: at + 1 });
      if ((at + 1) % COMMIT_BLOCKS === 0) shard.commit();
    });
  }
  watch.run(() => {
    shard.refresh();
    shard.commit();
  });
  return sourceBytes;
}

async function run(part: IngestPart): Promise<IngestFigures> {
  const warmFolder = join(part.folder, "warm");
  const warm = openShard(warmFolder, part.kernel);
  index(warm, { ...part, blocks: Math.min(part.blocks, WARM_BLOCKS) }, new Stopwatch());
  warm.close();
  rmSync(warmFolder, { recursive: true });
  const shard = openShard(join(part.folder, "shard"), part.kernel);
  const watch = new Stopwatch();
  const sourceBytes = index(shard, part, watch);
  const diskBytes = shard.stats().bytes;
  const residentBytes = process.resourceUsage().maxRSS * 1024;
  const before = process.cpuUsage();
  await shard.forceMerge(1);
  shard.commit();
  const { user, system } = process.cpuUsage(before);
  const mergedBytes = shard.stats().bytes;
  shard.close();
  const mergeSeconds = (user + system) / 1e6;
  const { cpuSeconds, wallSeconds } = watch;
  return { cpuSeconds, wallSeconds, sourceBytes, diskBytes, residentBytes, mergedBytes, mergeSeconds };
}

process.stdout.write(JSON.stringify(await run(JSON.parse(process.argv[2] ?? "") as IngestPart)));
