/**
 * Access logs through bulk requests of a hub, until it is at rest: documents per CPU-second of hub and nats-server, memory
 * of both, and what lies on disk then, before and after a forced merge.
 */

import { readFileSync, writeFileSync } from "node:fs";
import { MIB } from "#proto/kit/units.ts";
import { ask } from "#test/harness/http.ts";
import { startHub, type TestHub } from "#test/harness/hub.ts";
import { ownBytes, peakResidentBytes, residentBytes } from "#test/harness/processes.ts";
import type { Workspace } from "#test/harness/workspace.ts";
import { ACCESS_MAPPING, accessBlock } from "./access-corpus.ts";
import type { BenchmarkContext, Result } from "./benchmark.ts";
import { bulkBodies, sendAll } from "./bulk-bodies.ts";
import { bytesBelow, cpuOf, untilQuiet } from "./hub-usage.ts";
import { BLOCK_DOCS } from "./log-corpus.ts";

/** Documents that warm the hub, in an index of their own; blocks that stand in memory as bodies while they are made. */
const WARM_BLOCKS = 100;
const BLOCKS_AT_ONCE = 100;
/** Interval of looks at the memory. */
const LOOK_MS = 100;

/** Indexes `documents` and returns what that took. */
export async function ingestAccess(
  { workspace, progress }: BenchmarkContext,
  documents: number,
): Promise<Result[]> {
  const hub = await startHub({ dataDir: workspace.path("hub-data") });
  workspace.defer(() => hub.destroy());
  for (const index of ["warm", "access"])
    await ask("PUT", `${hub.searchUrl}/${index}`, { mappings: { _doc: ACCESS_MAPPING } });
  await send(hub, "warm", makeBodies(workspace, WARM_BLOCKS * BLOCK_DOCS));
  // Made before, as a client that makes documents slower than the hub takes them would measure the hub's pauses.
  const bodies = makeBodies(workspace, documents);
  // Its merges are warmed as well: a hub compiles them once in its life.
  await untilQuiet(hub);
  await ask("DELETE", `${hub.searchUrl}/warm`);
  await untilQuiet(hub);
  const before = cpuOf(hub);
  const idleBytes = ownBytes(hub.pid);
  const peaks = new OwnPeaks(hub);
  const start = performance.now();
  await send(hub, "access", bodies);
  await ask("POST", `${hub.searchUrl}/access/_refresh`);
  const wallSeconds = (performance.now() - start) / 1000;
  const arrivedBytes = bytesBelow(hub, "engine");
  await untilQuiet(hub);
  const [hubPeak, natsPeak] = peaks.stop();
  const [hubCpu, natsCpu] = cpuOf(hub).map((seconds, at) => seconds - before[at]!) as [number, number];
  const { count } = await ask<{ count: number }>("GET", `${hub.searchUrl}/access/_count`);
  if (count !== documents) throw new Error(`${count} of ${documents} documents are found`);
  progress(`CPU-seconds hub ${hubCpu.toFixed(1)}, nats ${natsCpu.toFixed(1)}; ${wallSeconds.toFixed(1)} s`);
  const rest = [bytesBelow(hub, "engine"), bytesBelow(hub, "nats")] as const;
  await ask("POST", `${hub.searchUrl}/access/_forcemerge?max_num_segments=1`);
  await untilQuiet(hub);
  return [
    row("ingest until at rest", documents / (hubCpu + natsCpu), "documents per CPU-second"),
    row("ingest, share of nats-server", natsCpu / (hubCpu + natsCpu), "of the CPU"),
    row("ingest, wall", documents / wallSeconds, "documents per second"),
    row("ingest, memory of the hub", peakResidentBytes(hub.pid) / MIB, "MiB at most"),
    row("ingest, memory of the hub's own", hubPeak / MIB, "MiB at most, without pages of files"),
    row("ingest, memory of nats-server", natsPeak / MIB, "MiB at most"),
    row("idle before, memory of the hub's own", idleBytes / MIB, "MiB, without pages of files"),
    row("disk, engine, all arrived", arrivedBytes / MIB, "MiB"),
    row("disk, engine, at rest", rest[0] / MIB, "MiB"),
    row("disk, log, at rest", rest[1] / MIB, "MiB"),
    row("disk, engine, after a forced merge", bytesBelow(hub, "engine") / MIB, "MiB"),
    row("disk, log, after a forced merge", bytesBelow(hub, "nats") / MIB, "MiB"),
  ];
}

/** Largest memory of a hub's processes while it is watched, bytes. */
class OwnPeaks {
  readonly #peaks: [hub: number, nats: number] = [0, 0];
  readonly #timer: NodeJS.Timeout;

  constructor(hub: TestHub) {
    const nats = hub.natsPids()[0] ?? 0;
    this.#timer = setInterval(() => {
      this.#peaks[0] = Math.max(this.#peaks[0], ownBytes(hub.pid));
      this.#peaks[1] = Math.max(this.#peaks[1], residentBytes(nats));
    }, LOOK_MS);
  }

  /** Returns the peaks. */
  stop(): readonly [hub: number, nats: number] {
    clearInterval(this.#timer);
    return this.#peaks;
  }
}

function row(name: string, value: number, unit: string): Result {
  return { case: name, value, unit, reference: null };
}

/** Writes the bodies that hold so many documents; returns their paths. */
function makeBodies(workspace: Workspace, documents: number): string[] {
  const blocks = Math.ceil(documents / BLOCK_DOCS);
  const paths: string[] = [];
  for (let from = 0; from < blocks; from += BLOCKS_AT_ONCE) {
    const to = Math.min(blocks, from + BLOCKS_AT_ONCE);
    for (const body of bulkBodies(from, to, (block) => accessBlock(block, documents))) {
      const path = workspace.path("bodies", `${documents}-${paths.length}.ndjson`);
      writeFileSync(path, body);
      paths.push(path);
    }
  }
  return paths;
}

async function send(hub: TestHub, index: string, paths: readonly string[]): Promise<void> {
  const bodies = paths.values().map((path) => readFileSync(path, "utf8"));
  await sendAll(`${hub.searchUrl}/${index}/_doc/_bulk`, bodies);
}
