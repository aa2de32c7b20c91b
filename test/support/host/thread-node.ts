/** For tests: a hub's shards in a thread, over a log in memory. */

import type { TestContext } from "node:test";
import { IndexCatalog } from "#hub/cluster/catalog/index-catalog.ts";
import { Documents } from "#hub/cluster/writes/documents.ts";
import type { HostThreadClient } from "#hub/host/client/host-thread-client.ts";
import { HostThreads } from "#hub/host/client/host-threads.ts";
import type { HostedShards } from "#hub/host/contract/hosted-shards.ts";
import { hostedShards } from "#hub/node/wiring/shards.ts";
import { systemClock } from "#proto/kit/clock.ts";
import { silentLogger } from "#proto/kit/log.ts";
import { Metrics } from "#proto/kit/metrics.ts";
import type { Position } from "#proto/position.ts";
import { atEnd, type MemoryLog } from "#test/support/cluster/shard-feeding.ts";
import type { MemoryBucket } from "../kit/memory-bucket.ts";

export interface ThreadNode {
  readonly catalog: IndexCatalog;
  /** The first of the hosts. */
  readonly client: HostThreadClient;
  readonly hosts: HostThreads;
  readonly shards: HostedShards;
  readonly documents: Documents;
  readonly bucket: MemoryBucket;
  readonly metrics: Metrics;
  /** Positions of commits, the newest last. */
  readonly committed: Position[];
  stop(): Promise<void>;
}

/** Opens the shards of `folder` in `count` threads with an operation `spin`, which never ends. */
export async function openThreadNode(
  t: TestContext,
  log: MemoryLog,
  folder: string,
  bucket: MemoryBucket,
  count = 1,
): Promise<ThreadNode> {
  const logger = silentLogger();
  const metrics = new Metrics();
  const committed: Position[] = [];
  const catalog = new IndexCatalog({ bucket, log: logger, now: Date.now });
  await catalog.start();
  const script = new URL("./spinning-host-thread.ts", import.meta.url);
  const hosts = new HostThreads({ folder, count, log: logger, metrics, clock: systemClock, script });
  await hosts.start();
  await hosts.open(catalog);
  const shards = hostedShards(hosts, catalog);
  const documents = new Documents({ log: log.port(), catalog, shards, now: Date.now });
  documents.start();
  await hosts.follow({
    read: (after, signal) => log.read(after, signal),
    oldest: async () => ({ incarnation: 1, sequence: 0 }),
    reply: (subject, data) => void documents.deliver(subject, data),
    deadLetter: async () => undefined,
    onCommitted: (position) => committed.push(position),
  });
  let running = true;
  const stop = async (): Promise<void> => {
    if (!running) return;
    running = false;
    await hosts.unfollow();
    documents.stop();
    await hosts.stop();
    await catalog.stop();
  };
  atEnd(t, stop);
  return { catalog, client: hosts.hosts[0]!, hosts, shards, documents, bucket, metrics, committed, stop };
}
