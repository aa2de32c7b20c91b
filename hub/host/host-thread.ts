/** Runs a host in this thread, over the port to the front. The thread's entry point, shard-host-thread.ts, calls it. */

import { parentPort, workerData } from "node:worker_threads";
import type { HostSeat } from "#hub/cluster/shards/shard-owner.ts";
import { limitCaches, usualCacheBytes } from "#hub/engine/files/cache-memory.ts";
import { extentCache } from "#hub/engine/files/extent-cache.ts";
import { restThreadKernel, threadKernelBytes } from "#hub/engine/kernel/kernel.ts";
import { restSearchKernel, searchKernelBytes } from "#hub/engine/kernel/search-kernel.ts";
import { mergeKernelBytes, restMergeKernel } from "#hub/engine/merge/kernel-merge.ts";
import { filterCache } from "#hub/engine/segment/filter-cache.ts";
import { nestedCache } from "#hub/engine/segment/nested-cache.ts";
import { fieldDataCache } from "#hub/engine/segment/uninverted-column.ts";
import { storedBlocks } from "#hub/engine/stored/stored-blocks.ts";
import { columnRegisters } from "#hub/search/aggregations/sketches/hyper-log-log.ts";
import { mergedTermsCache } from "#hub/search/aggregations/terms/merged-terms.ts";
import { sharedTermsCache } from "#hub/search/aggregations/terms/shared-terms.ts";
import { searchMemory } from "#hub/search/query/search-memory.ts";
import { expectDocuments, searchRestMs } from "#hub/search/query/turns.ts";
import { systemClock } from "#proto/kit/clock.ts";
import { sendingLogger } from "#proto/kit/log.ts";
import { Metrics } from "#proto/kit/metrics.ts";
import { exportLongestTurn } from "#proto/kit/process/longest-turn.ts";
import { exportMemory } from "#proto/kit/process/process-memory.ts";
import { HeapKeeper, OWN_HEAP, type ThreadHeap } from "#proto/kit/process/thread-heap.ts";
import { lowerThreadPriority } from "#proto/kit/process/thread-priority.ts";
import { Host } from "./host.ts";
import type { Operation } from "./operations/operation.ts";
import { BUSY_WORDS, COMMITTING, DOCUMENTS, portChannel, TURNS } from "./wire/channel.ts";

/** The data that the front gives to a thread. */
export interface HostThreadData {
  /** Folder of the shards. */
  readonly folder: string;
  /** Level of the log. */
  readonly level: string;
  /** See `newPulse`. */
  readonly pulse: SharedArrayBuffer;
  /** Which of the hub's shards are in this thread. */
  readonly seat: HostSeat;
  /** Memory that the searches of the thread may use together. */
  readonly searchBytes: number | undefined;
  /** Memory of the caches of all the hub's threads together; undefined: `usualCacheBytes`. */
  readonly cacheBytes: number | undefined;
}

/** Interval in which the thread counts its turns. */
const TURN_MS = 100;

/** The memory of the thread: its heap, and that of the kernels, of which V8 knows nothing. */
const HOST_HEAP: ThreadHeap = {
  ...OWN_HEAP,
  takenBytes: () => OWN_HEAP.takenBytes() + threadKernelBytes() + mergeKernelBytes() + searchKernelBytes(),
  collect: () => {
    restKernels();
    OWN_HEAP.collect();
  },
  release: () => {
    restKernels();
    OWN_HEAP.release();
  },
};

function restKernels(): void {
  restThreadKernel();
  restMergeKernel();
  restSearchKernel();
}

/** Runs the host of this thread. `operations`: others, for tests. */
export function runHostThread(operations?: Readonly<Record<string, Operation>>): void {
  const port = parentPort;
  if (port === null) return;
  lowerThreadPriority();
  const { folder, level, pulse, seat, searchBytes, cacheBytes } = workerData as HostThreadData;
  limitCaches((cacheBytes ?? usualCacheBytes()) / seat.count);
  if (searchBytes !== undefined) searchMemory().limit(searchBytes);
  const words = new Int32Array(pulse, 0, BUSY_WORDS);
  setInterval(() => Atomics.add(words, TURNS, 1), TURN_MS).unref();
  expectDocuments(() => Atomics.load(words, DOCUMENTS) === 1);
  new HeapKeeper(HOST_HEAP, false).start();
  const metrics = new Metrics();
  watchEngine(metrics);
  exportLongestTurn(metrics, "host");
  exportMemory(metrics, "host", () => ({
    kernel: threadKernelBytes(),
    merge_kernel: mergeKernelBytes(),
    search_kernel: searchKernelBytes(),
  }));
  // Opening the folder may write log lines before there is a host to send them.
  const early: string[] = [];
  let host: Host | undefined;
  const sendLine = (line: string): void => {
    if (host === undefined) early.push(line);
    else host.sendLine(line);
  };
  host = new Host({
    channel: portChannel(port, () => port.close()),
    folder,
    seat,
    log: sendingLogger(level, sendLine),
    metrics,
    clock: systemClock,
    onCommitting: (isUnderWay) => Atomics.store(words, COMMITTING, isUnderWay ? 1 : 0),
    onDocuments: () => Atomics.store(words, DOCUMENTS, 0),
    ...(operations !== undefined && { operations }),
  });
  for (const line of early) host.sendLine(line);
}

/** Exports the metrics of the engine's caches. */
function watchEngine(metrics: Metrics): void {
  const labels = ["cache"] as const;
  metrics.gauge("tailrace_search_cache_bytes", "bytes held by search caches", labels, (gauge) => {
    gauge.set({ cache: "files" }, extentCache().stats().bytes);
    gauge.set({ cache: "filters" }, filterCache().stats().bytes);
    gauge.set({ cache: "nested" }, nestedCache().sizeBytes);
    gauge.set({ cache: "field_data" }, fieldDataCache().sizeBytes);
    gauge.set({ cache: "stored" }, storedBlocks().sizeBytes);
    gauge.set({ cache: "terms" }, sharedTermsCache().sizeBytes + mergedTermsCache().sizeBytes);
    gauge.set({ cache: "registers" }, columnRegisters().sizeBytes);
  });
  metrics.gauge("tailrace_search_memory_bytes", "heap that searches hold together", [], (gauge) =>
    gauge.set(searchMemory().heldBytes),
  );
  metrics.gauge(
    "tailrace_search_memory_ended",
    "Searches that were ended because searches used too much memory.",
    [],
    (gauge) => gauge.set(searchMemory().ended),
  );
  const rests =
    "time that searches left to the writing of documents, as the machine had more work than processors";
  metrics.gauge("tailrace_search_rest_seconds", rests, [], (gauge) => gauge.set(searchRestMs() / 1_000));
  metrics.gauge("tailrace_search_cache_hits", "reads answered by search caches", labels, (gauge) => {
    gauge.set({ cache: "files" }, extentCache().stats().hits);
    gauge.set({ cache: "filters" }, filterCache().stats().hits);
  });
  metrics.gauge("tailrace_search_cache_misses", "reads not answered by search caches", labels, (gauge) => {
    gauge.set({ cache: "files" }, extentCache().stats().misses);
    gauge.set({ cache: "filters" }, filterCache().stats().misses);
  });
}
