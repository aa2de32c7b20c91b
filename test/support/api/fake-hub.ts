/** For tests: both listeners over a real index catalog, with documents in a map instead of shards. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ApiDependencies } from "#hub/api/context/api-context.ts";
import type { AccessControl } from "#hub/api/http/route.ts";
import type { Cluster } from "#hub/api/ports/cluster.ts";
import type { Documents, WriteItem } from "#hub/api/ports/documents.ts";
import type { IndexInfo } from "#hub/api/ports/indices.ts";
import type { IngestPipelines } from "#hub/api/ports/pipelines.ts";
import type { StoredScripts } from "#hub/api/ports/scripts.ts";
import { sourcesOf } from "#hub/api/routes/documents/bulk-run.ts";
import { ApiServer, type ApiServerOptions } from "#hub/api/server.ts";
import { ANONYMOUS } from "#hub/auth/accounts/principal.ts";
import { IndexCatalog } from "#hub/cluster/catalog/index-catalog.ts";
import type { IndexMetadata } from "#hub/cluster/catalog/index-metadata.ts";
import type { HostedShardStats } from "#hub/cluster/shards/hosted-index.ts";
import type { AppendResult, StoredDocument, WriteOptions, WriteResult } from "#hub/cluster/writes/writes.ts";
import { SearchContexts } from "#hub/host/operations/search-contexts.ts";
import { ResultCache } from "#hub/search/execute/result-cache.ts";
import { actionCode, type DocumentBatch } from "#proto/document-batch.ts";
import { systemClock } from "#proto/kit/clock.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { silentLogger } from "#proto/kit/log.ts";
import { Metrics } from "#proto/kit/metrics.ts";
import { localShards } from "#test/support/host/local-shards.ts";
import { MemoryBucket } from "../kit/memory-bucket.ts";

/** Length of ids that are made. */
const ID_BYTES = 20;

/** Documents of all indices by "index/id". */
class FakeDocuments implements Documents {
  readonly stored = new Map<string, StoredDocument>();
  /** Thrown by the next write. */
  failure: AppError | undefined;
  lastOptions: WriteOptions | undefined;
  readonly #catalog: IndexCatalog;
  #seqNo = 0;

  constructor(catalog: IndexCatalog) {
    this.#catalog = catalog;
  }

  async write(items: readonly WriteItem[], options: WriteOptions): Promise<WriteResult[]> {
    this.lastOptions = options;
    const { failure } = this;
    this.failure = undefined;
    if (failure !== undefined) throw failure;
    const results: WriteResult[] = [];
    for (const item of items) results.push(await this.#write(item));
    return results;
  }

  async append(run: DocumentBatch, options: WriteOptions): Promise<AppendResult> {
    const index = run.indexNames[0]!;
    const kind = run.actions?.[0] === actionCode("create") ? "create" : "index";
    const results = await this.write(
      sourcesOf(run).map((source) => ({ kind, index, source })),
      options,
    );
    const failed = [...results.entries()].flatMap(([place, result]) =>
      "error" in result ? [[place, result.error] as const] : [],
    );
    return {
      index: this.#catalog.resolve(index, {})[0]?.name ?? index,
      ids: Buffer.from(results.map(({ id = "" }) => id.padEnd(ID_BYTES, "-")).join("")),
      idEnds: Uint32Array.from(results, (_, at) => (at + 1) * ID_BYTES),
      outcomes: new Uint8Array(results.length),
      versions: new Float64Array(results.length).fill(1),
      seqNos: Float64Array.from(results, (result) => ("error" in result ? 0 : result.seqNo)),
      failures: new Map(failed),
      copies: 1,
    };
  }

  get(index: string, id: string): Promise<StoredDocument | null> {
    const [found] = this.#catalog.resolve(index, {});
    return Promise.resolve(this.stored.get(`${found?.name}/${id}`) ?? null);
  }

  async #write(item: WriteItem): Promise<WriteResult> {
    const id = item.id ?? `made-${this.stored.size}`.padEnd(ID_BYTES, "-");
    try {
      const index = await this.#catalog.ensure(item.index);
      const before = this.stored.get(`${index.name}/${id}`);
      if (item.kind === "create" && before !== undefined) {
        throw new AppError(
          "version_conflict",
          `[_doc][${id}]: version conflict, document already exists (current version [${before.version}])`,
          { data: { index: index.name, index_uuid: index.uuid, shard: "0" } },
        );
      }
      if (item.kind === "update" && before === undefined)
        throw new AppError("document_missing", `[_doc][${id}]: document missing`);
      const version = (before?.version ?? 0) + 1;
      if (item.kind === "delete") this.stored.delete(`${index.name}/${id}`);
      else
        this.#store(
          index,
          id,
          version,
          item.kind === "update" ? merge(before!.source, item.source) : item.source,
          item.routing,
        );
      const created = before === undefined ? "created" : "updated";
      return {
        index: index.name,
        id,
        result: item.kind !== "delete" ? created : before === undefined ? "not_found" : "deleted",
        version,
        seqNo: this.#seqNo++,
        primaryTerm: 1,
        copies: 1 + index.settings.numberOfReplicas,
        copiesDone: 1,
      };
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      return { index: item.index, id: item.id, error };
    }
  }

  #store(index: IndexInfo, id: string, version: number, source: Uint8Array, routing?: string): void {
    const document = {
      index: index.name,
      id,
      version,
      seqNo: this.#seqNo,
      primaryTerm: 1,
      source: Buffer.from(source),
      ...(routing !== undefined && { routing }),
    };
    this.stored.set(`${index.name}/${id}`, document);
  }
}

function merge(before: Uint8Array, change: Uint8Array): Uint8Array {
  const parse = (bytes: Uint8Array): object => JSON.parse(Buffer.from(bytes).toString()) as object;
  return Buffer.from(JSON.stringify({ ...parse(before), ...parse(change) }));
}

const STATS: HostedShardStats = {
  shard: 0,
  docs: 3,
  deleted: 1,
  bytes: 1536,
  generation: 1,
  fieldData: new Map([["message", 24]]),
  completions: new Map([["names", 48]]),
  memoryBytes: 0,
  writtenMs: 0,
  segments: 1,
  log: { operations: 4, bytes: 400, uncommittedOperations: 1, uncommittedBytes: 100 },
};

/** Shards without documents, but with statistics. */
export const NO_SHARDS = localShards({
  shards: {
    searchers: () => [],
    get: () => null,
    refresh: () => Promise.resolve(),
    nextRefresh: () => Promise.resolve(),
    flush: () => Promise.resolve(),
    forceMerge: () => Promise.resolve(),
    stats: () => [STATS],
  },
  // Every index has them.
  indices: { byUuid: (uuid) => ({ uuid, aliases: {}, settings: { numberOfShards: 0 } }) as IndexMetadata },
  clock: systemClock,
  results: new ResultCache(2 ** 20),
  contexts: new SearchContexts(),
});

const NODES: ReturnType<Cluster["nodes"]> = [
  {
    id: "node-id",
    name: "hub-1",
    host: "127.0.0.1",
    httpAddress: "127.0.0.1:9200",
    transportAddress: "127.0.0.1:9300",
    attributes: { rack: "r1" },
    master: true,
  },
];

/** A cluster of one node that keeps its settings. */
class FakeCluster implements Cluster {
  readonly name = "test";
  readonly uuid = "uuid";
  readonly #settings: { persistent: JsonObject; transient: JsonObject } = { persistent: {}, transient: {} };

  nodes(): ReturnType<Cluster["nodes"]> {
    return NODES;
  }

  settings(): ReturnType<Cluster["settings"]> {
    return this.#settings;
  }

  putSettings({ persistent, transient }: Parameters<Cluster["putSettings"]>[0]): Promise<void> {
    Object.assign(this.#settings.persistent, persistent);
    Object.assign(this.#settings.transient, transient);
    return Promise.resolve();
  }
}

const OPEN: AccessControl = {
  authenticate: () => Promise.resolve(ANONYMOUS),
  authorize() {},
};

export class FakeHub {
  readonly catalog = new IndexCatalog({
    bucket: new MemoryBucket(),
    log: silentLogger(),
    now: () => systemClock.now(),
  });
  readonly documents = new FakeDocuments(this.catalog);
  readonly metrics = new Metrics();
  readonly uiFolder = mkdtempSync(join(tmpdir(), "tailrace-ui-"));
  ready = true;
  /** Set before `start`. */
  ingest: IngestPipelines | undefined;
  scripts: StoredScripts | undefined;
  /** In place of its own; set before `start`. */
  parts: Partial<ApiDependencies> = {};
  server!: ApiServer;

  async start(options: Partial<ApiServerOptions> = {}): Promise<void> {
    await this.catalog.start();
    this.server = new ApiServer({
      parts: {
        indices: this.catalog,
        documents: this.documents,
        shards: NO_SHARDS,
        cluster: new FakeCluster(),
        dataFolder: this.uiFolder,
        clock: systemClock,
        compatVersion: "6.5.4",
        errors: { nodeId: "node-id" },
        ...(this.ingest !== undefined && { ingest: this.ingest }),
        ...(this.scripts !== undefined && { scripts: this.scripts }),
        ...this.parts,
      },
      status: {
        status: () => Promise.resolve({ version: "1" }),
        agents: () => [{ name: "web-1" }],
        agent: (id) => (id === "a-1" ? { id, files: [] } : undefined),
        forgetAgent: () => false,
        ready: () => this.ready,
        health: () => ({ status: "ok", parts: [{ part: "log", level: "ok", reason: "" }] }),
      },
      access: OPEN,
      search: { host: "127.0.0.1", port: 0 },
      dashboard: { host: "127.0.0.1", port: 0 },
      publicUrl: "",
      uiFolder: this.uiFolder,
      version: "1",
      productHeader: false,
      metrics: this.metrics,
      log: silentLogger(),
      ...options,
    });
    await this.server.start();
  }

  async stop(): Promise<void> {
    await this.server.stop();
    await this.catalog.stop();
    rmSync(this.uiFolder, { recursive: true, force: true });
  }
}
