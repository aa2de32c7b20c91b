/** The two ends of a pipeline that is measured: in memory, or the streams of a real nats-server as a hub has them. */

import { IndexCatalog } from "#hub/cluster/catalog/index-catalog.ts";
import { DocumentSink as HubSink } from "#hub/cluster/writes/document-sink.ts";
import { Journal } from "#hub/journal/journal.ts";
import { logPort, rawSource } from "#hub/node/wiring/journal-adapters.ts";
import type { DocumentSink, RawSource } from "#hub/pipeline/runtime/ports.ts";
import { silentLogger } from "#proto/kit/log.ts";
import { Metrics } from "#proto/kit/metrics.ts";
import { type Position, START } from "#proto/position.ts";
import { DOC_STREAM, rawSubject } from "#proto/subjects.ts";
import { startNats } from "#test/harness/nats.ts";
import type { MemoryRaw } from "#test/harness/pipeline-log.ts";
import { cpuSeconds } from "#test/harness/processes.ts";
import type { Workspace } from "#test/harness/workspace.ts";
import { MemoryBucket } from "../support/kit/memory-bucket.ts";

const AGENT_ID = "0d5c1f4e-8a44-4c4e-9c7e-0f6f6b1c2d3e";
/** Messages of RAW that are on their way to the server at a time. */
const FILL_WIDTH = 32;

/** Where documents go to be counted. */
export interface Ends {
  readonly source: RawSource;
  readonly sink: CountingSink;
  /** CPU-seconds of all that take part so far. */
  readonly cpuSeconds: () => number;
}

/** Counts what is written, and hands it on where there is somebody. */
export class CountingSink implements DocumentSink {
  count = 0;
  readonly #next: DocumentSink | undefined;
  readonly #waiting: { readonly count: number; readonly resolve: () => void }[] = [];
  #sequence = 0;

  constructor(next?: DocumentSink) {
    this.#next = next;
  }

  async write(...[origin, sources, documents]: Parameters<DocumentSink["write"]>): Promise<Position> {
    const position = await this.#next?.write(origin, sources, documents);
    return this.#counted(documents.ends.length, position);
  }

  /** Resolves when so many documents were written. */
  reached(count: number): Promise<void> {
    return new Promise((resolve) => this.#waiting.push({ count, resolve }));
  }

  #counted(documents: number, position: Position | undefined): Position {
    this.count += documents;
    for (const { count, resolve } of this.#waiting) if (this.count >= count) resolve();
    return position ?? { incarnation: 1, sequence: ++this.#sequence };
  }
}

function ownCpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

/** Messages in memory; DOC counts and forgets. */
export function inMemory(raw: MemoryRaw): Ends {
  return { source: raw, sink: new CountingSink(), cpuSeconds: ownCpuSeconds };
}

/** Puts the messages into RAW of a server of its own; documents go to DOC by a hub's way. All ends with the workspace. */
export async function onJetStream(workspace: Workspace, raw: MemoryRaw): Promise<Ends> {
  const nats = await startNats({ maxFileBytes: 4 * 1024 ** 3 });
  workspace.defer(() => nats.stop());
  const journal = new Journal({
    dataDir: workspace.path("journal"),
    host: "127.0.0.1",
    port: 0,
    name: "bench",
    external: { servers: [nats.url], token: nats.token },
    maxBytes: 512 * 1024 ** 2,
    log: silentLogger(),
    metrics: new Metrics(),
  });
  await journal.start();
  workspace.defer(() => journal.stop());
  for (let at = 0; at < raw.entries.length; at += FILL_WIDTH) {
    const some = raw.entries.slice(at, at + FILL_WIDTH);
    await Promise.all(
      some.map(({ partition, data }, place) =>
        journal.publish(rawSubject(partition, AGENT_ID), data, { messageId: `${AGENT_ID}/1/${at + place}` }),
      ),
    );
  }
  const catalog = new IndexCatalog({ bucket: new MemoryBucket(), log: silentLogger(), now: Date.now });
  await catalog.start();
  workspace.defer(() => catalog.stop());
  const sink = new HubSink({
    log: logPort(journal),
    catalog,
    metrics: new Metrics(),
    now: Date.now,
    positionOf: (sequence) => journal.positionOf(DOC_STREAM, sequence),
    last: START,
    refuse: ({ error }) => Promise.reject(error),
  });
  return {
    source: rawSource(journal),
    sink: new CountingSink(sink),
    cpuSeconds: () => ownCpuSeconds() + cpuSeconds(nats.pid),
  };
}
