/** For tests: a hub's shards in a thread, over a log in memory. */

import type { TestContext } from "node:test";
import { IndexCatalog } from "#hub/cluster/catalog/index-catalog.ts";
import { Documents } from "#hub/cluster/writes/documents.ts";
import { HostThreadClient } from "#hub/host/client/host-thread-client.ts";
import { ShardsClient } from "#hub/host/client/shards-client.ts";
import { systemClock } from "#proto/kit/clock.ts";
import { silentLogger } from "#proto/kit/log.ts";
import type { MemoryBucket } from "#proto/kit/memory-bucket.ts";
import { Metrics } from "#proto/kit/metrics.ts";
import type { Position } from "#proto/position.ts";
import { atEnd, type MemoryLog } from "#test/support/cluster/shard-feeding.ts";

export interface ThreadNode {
  readonly catalog: IndexCatalog;
  readonly client: HostThreadClient;
  readonly shards: ShardsClient;
  readonly documents: Documents;
  readonly metrics: Metrics;
  /** Positions of commits, the newest last. */
  readonly committed: Position[];
  stop(): Promise<void>;
}

/** Opens the shards of `folder` in a thread with an operation `spin`, which never ends. */
export async function openThreadNode(
  t: TestContext,
  log: MemoryLog,
  folder: string,
  bucket: MemoryBucket,
): Promise<ThreadNode> {
  const logger = silentLogger();
  const metrics = new Metrics();
  const committed: Position[] = [];
  const catalog = new IndexCatalog({ bucket, log: logger, now: Date.now });
  await catalog.start();
  const script = new URL("./spinning-host-thread.ts", import.meta.url);
  const client = new HostThreadClient({ folder, log: logger, metrics, clock: systemClock, script });
  await client.start();
  await client.open(catalog);
  const shards = new ShardsClient(client);
  const documents = new Documents({ log: log.port(), catalog, shards, now: Date.now });
  documents.start();
  await client.follow({
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
    await client.unfollow();
    documents.stop();
    await client.stop();
    await catalog.stop();
  };
  atEnd(t, stop);
  return { catalog, client, shards, documents, metrics, committed, stop };
}
