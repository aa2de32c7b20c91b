/** For tests: a hub's shards with their feeding, over a log in memory. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { IndexCatalog } from "#hub/cluster/catalog/index-catalog.ts";
import { LogFollower } from "#hub/cluster/shards/log-follower.ts";
import { ShardHost } from "#hub/cluster/shards/shard-host.ts";
import { DocumentSink } from "#hub/cluster/writes/document-sink.ts";
import { Documents } from "#hub/cluster/writes/documents.ts";
import type { LogPort } from "#hub/cluster/writes/log-port.ts";
import type { WriteItem } from "#hub/cluster/writes/writes.ts";
import type { AddressedDoc } from "#hub/host/client/doc-dispatcher.ts";
import { type Clock, systemClock } from "#proto/kit/clock.ts";
import { AppError } from "#proto/kit/errors.ts";
import { silentLogger } from "#proto/kit/log.ts";
import { Metrics } from "#proto/kit/metrics.ts";
import type { Position } from "#proto/position.ts";
import { MemoryBucket } from "../kit/memory-bucket.ts";

/** DOC in memory: as much of a log as the cluster asks for. */
export class MemoryLog {
  readonly messages: AddressedDoc[] = [];
  /** Messages up to this sequence are purged. */
  purgedTo = 0;
  readonly #ids = new Map<string, number>();
  readonly #subscriptions = new Map<string, (data: Uint8Array, subject: string) => void>();
  #grown = Promise.withResolvers<void>();
  /** What happens before a message is stored. */
  beforePublish: (signal: AbortSignal | undefined, subject: string) => Promise<void> = async () => undefined;

  port(): LogPort {
    return {
      publish: async (subject, data, { messageId, signal }) => {
        await this.beforePublish(signal, subject);
        const known = this.#ids.get(messageId);
        if (known !== undefined) return { sequence: known };
        const sequence = this.messages.length + 1;
        this.#ids.set(messageId, sequence);
        this.messages.push({ subject, position: { incarnation: 1, sequence }, data });
        this.#grown.resolve();
        this.#grown = Promise.withResolvers();
        return { sequence };
      },
      send: (subject, data) => this.#subscriptions.get(subject.replace(/[^.]+$/, "*"))?.(data, subject),
      subscribe: (subject, handler) => {
        this.#subscriptions.set(subject, (data, from) =>
          handler({ subject: from, data, respond: () => undefined }),
        );
        return () => this.#subscriptions.delete(subject);
      },
    };
  }

  async *read(after: Position, signal: AbortSignal): AsyncIterable<AddressedDoc> {
    const aborted = new Promise<void>((resolve) =>
      signal.addEventListener("abort", () => resolve(), { once: true }),
    );
    for (let at = after.sequence; !signal.aborted; ) {
      if (at < this.purgedTo) throw new AppError("journal_gap", `messages up to ${this.purgedTo} are purged`);
      const message = this.messages[at];
      if (message === undefined) await Promise.race([this.#grown.promise, aborted]);
      else {
        at++;
        // Who reads frees what it was given.
        yield { ...message, data: message.data.slice() };
      }
    }
  }
}

export interface Node {
  readonly catalog: IndexCatalog;
  readonly host: ShardHost;
  readonly documents: Documents;
  readonly sink: DocumentSink;
  readonly dead: AppError[];
  readonly follower: LogFollower;
  stop(): Promise<void>;
  /** Leaves everything as a killed process would. */
  crash(): void;
}

/** `clock`: of the shards. */
export async function openNode(
  t: TestContext,
  log: MemoryLog,
  folder: string,
  bucket = new MemoryBucket(),
  clock = systemClock,
): Promise<Node> {
  const logger = silentLogger();
  const metrics = new Metrics();
  const dead: AppError[] = [];
  const catalog = new IndexCatalog({ bucket, log: logger, now: Date.now });
  await catalog.start();
  const host = new ShardHost({ folder, catalog, log: logger, clock });
  await host.open();
  const port = log.port();
  const documents = new Documents({
    log: port,
    catalog,
    now: Date.now,
    shards: {
      get: async (index, shard, id) => host.get(index, shard, id),
      refresh: (indices, only) => host.refresh(indices, only),
      nextRefresh: (indices, signal) => host.nextRefresh(indices, signal),
    },
  });
  documents.start();
  const follower = new LogFollower({
    host,
    log: logger,
    metrics,
    clock: systemClock,
    read: (after, signal) => log.read(after, signal),
    oldest: async () => ({ incarnation: 1, sequence: log.purgedTo }),
    reply: (subject, data) => port.send(subject, data),
    deadLetter: async (_message, reason) => void dead.push(reason),
    onCommitted: () => undefined,
  });
  await follower.start();
  const sink = new DocumentSink({
    log: port,
    catalog,
    metrics,
    now: Date.now,
    positionOf: (sequence) => ({ incarnation: 1, sequence }),
    last: { incarnation: 1, sequence: 0 },
    refuse: async ({ error }) => void dead.push(error),
  });
  let running = true;
  const stop = async (): Promise<void> => {
    if (!running) return;
    running = false;
    await follower.stop();
    documents.stop();
    host.close();
    await catalog.stop();
  };
  const crash = (): void => {
    running = false;
    host.commit = () => host.position;
    void follower.stop();
    host.close();
    void catalog.stop();
  };
  atEnd(t, stop);
  return { catalog, host, documents, sink, dead, follower, stop, crash };
}

/** By this clock every slice of work is over after one shard or index. */
export function hastyClock(): Clock {
  let nowMs = 0;
  return { ...systemClock, monotonic: () => (nowMs += 1_000) };
}

const cleanups = new WeakMap<TestContext, (() => unknown)[]>();

/** Runs at the end of the test, last given first. */
export function atEnd(t: TestContext, cleanup: () => unknown): void {
  let list = cleanups.get(t);
  if (list === undefined) {
    const mine: (() => unknown)[] = [];
    list = mine;
    cleanups.set(t, mine);
    t.after(async () => {
      for (const each of mine.reverse()) await each();
    });
  }
  list.push(cleanup);
}

export function temporaryFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "cluster-"));
  atEnd(t, () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Writes that wait for a busy machine, not for a clock. */
export const options = { refresh: "true", timeoutMs: 60_000, signal: new AbortController().signal } as const;
export const put = (id: string, source: unknown, index = "a"): WriteItem => ({
  kind: "index",
  index,
  id,
  source: Buffer.from(JSON.stringify(source)),
});

export function count(node: Node, index: string): number {
  const searchers = node.host.searchers([node.catalog.get(index)!]);
  const total = searchers.reduce((sum, { searcher }) => sum + searcher.totalDocs, 0);
  for (const { searcher } of searchers) searcher.close();
  return total;
}
