/** For tests of `_bulk`: a hub over real shards, with or without threads for bodies, and indices of several kinds. */

import type { TestContext } from "node:test";
import type { LargeBodies } from "#hub/api/ports/documents.ts";
import { BodyThreads } from "#hub/cluster/writes/body-threads.ts";
import type { BodyJob } from "#hub/cluster/writes/body-work.ts";
import { silentLogger } from "#proto/kit/log.ts";
import { Metrics } from "#proto/kit/metrics.ts";
import { atEnd, MemoryLog, type Node, openNode, temporaryFolder } from "../cluster/shard-feeding.ts";
import { FakeHub } from "./fake-hub.ts";
import { clientOf, type Reply } from "./http-client.ts";

export const SHARDS = 3;
const MAPPING = { properties: { n: { type: "long" } } };

export interface BulkHub {
  readonly log: MemoryLog;
  readonly node: Node;
  readonly send: ReturnType<typeof clientOf>;
  readonly url: () => string;
}

/** `bodies`: absent, the front parses everything. */
export async function openBulkHub(t: TestContext, bodies?: LargeBodies): Promise<BulkHub> {
  const log = new MemoryLog();
  const node = await openNode(t, log, temporaryFolder(t));
  const hub = new FakeHub();
  const { catalog: indices, documents } = node;
  hub.parts = { indices, documents, ...(bodies && { bodies }) };
  await hub.start();
  atEnd(t, () => hub.stop());
  await makeIndices(node);
  const url = (): string => hub.server.addresses.http;
  return { log, node, send: clientOf(url), url };
}

async function makeIndices({ catalog }: Node): Promise<void> {
  const plain = { settings: {}, mappings: MAPPING, aliases: {} };
  await catalog.create("plain", { ...plain, aliases: { alias: {} } });
  await catalog.create("shards", { ...plain, settings: { number_of_shards: SHARDS } });
  await catalog.create("strict", { ...plain, mappings: { ...MAPPING, dynamic: "strict" } });
  await catalog.create("nested", { ...plain, mappings: { properties: { steps: { type: "nested" } } } });
  await catalog.create("routed", { ...plain, mappings: { ...MAPPING, _routing: { required: true } } });
  await catalog.create("blocked", { ...plain, settings: { "blocks.write": true } });
  await catalog.create("closed", plain);
  await catalog.setState("closed", "close");
}

/** Threads of which a test sees the work. */
export interface WatchedBodies extends LargeBodies {
  /** How many bodies were lent. */
  lent: number;
  /** How many of them are with a thread. */
  held: number;
  /** How often documents with ids were packed. */
  encoded: number;
  /** Called before each job, which fails as it does. `signal`: aborted when the client leaves. */
  before: (job: BodyJob, signal?: AbortSignal) => void | Promise<void>;
}

/** `smallBytes`: see BodyThreads. */
export function watchedBodies(t: TestContext, smallBytes = 0): WatchedBodies {
  const threads = new BodyThreads({ log: silentLogger(), metrics: new Metrics(), count: 1, smallBytes });
  t.after(() => threads.stop());
  const watched: WatchedBodies = {
    smallBytes,
    lent: 0,
    held: 0,
    encoded: 0,
    before: () => undefined,
    lend: (bytes) => {
      const body = threads.lend(bytes);
      watched.lent++;
      watched.held++;
      let isHeld = true;
      const drop = (): void => {
        if (isHeld) watched.held--;
        isHeld = false;
      };
      return {
        run: async (job, signal) => {
          if (job.kind === "encode") watched.encoded++;
          await watched.before(job, signal);
          return body.run(job, signal);
        },
        reclaim: async (signal) => {
          const bytes = await body.reclaim(signal);
          drop();
          return bytes;
        },
        free: () => {
          body.free();
          drop();
        },
      };
    },
  };
  return watched;
}

/** An answer without what differs from hub to hub, and the times that it took. */
export function comparable({ status, headers, text }: Reply): readonly unknown[] {
  const answer = text
    .replace(/^\{"took":\d+,(?:"ingest_took":\d+,)?/, "{")
    .replace(/"index_uuid":"[\w-]{22}"/g, '"index_uuid":"UUID"');
  return [status, headers.warning, answer];
}

/** The header of bodies of `_bulk`. */
export const LINES = { "content-type": "application/x-ndjson" };
