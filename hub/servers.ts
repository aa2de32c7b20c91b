import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Documents } from "#hub/cluster/documents.ts";
import type { Fleet } from "#hub/cluster/fleet.ts";
import type { IndexCatalog } from "#hub/cluster/index-catalog.ts";
import type { ShardHost } from "#hub/cluster/shard-host.ts";
import type { Journal } from "#hub/journal/journal.ts";
import type { Component } from "#proto/kit/lifecycle.ts";
import type { Logger } from "#proto/kit/log.ts";
import type { Metrics } from "#proto/kit/metrics.ts";
import type { HubSettings } from "./config.ts";

export interface ServersOptions {
  readonly settings: HubSettings;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly version: string;
  readonly catalog: IndexCatalog;
  readonly documents: Documents;
  readonly host: ShardHost;
  readonly journal: Journal;
  readonly startedMs: number;
}

export class Servers implements Component {
  readonly #options: ServersOptions;
  #server: Server | undefined;
  fleet: Fleet | undefined;
  constructor(options: ServersOptions) {
    this.#options = options;
  }
  get tail() {
    return { listening: false, offer() {} };
  }
  get addresses() {
    const u = `http://127.0.0.1:${(this.#server!.address() as AddressInfo).port}`;
    return { http: u, dashboard: u };
  }
  async start(): Promise<void> {
    const { host, catalog, metrics } = this.#options;
    this.#server = createServer((request, response) => {
      void (async () => {
        const url = request.url ?? "";
        if (url.startsWith("/metrics")) return response.end(await metrics.text());
        if (url.startsWith("/api/agents")) return response.end(JSON.stringify(this.fleet!.agents()));
        const indices = catalog.all();

        const shards = host.searchers(indices);
        try {
          if (url.includes("_count"))
            return response.end(
              JSON.stringify({ count: shards.reduce((n, s) => n + s.searcher.totalDocs, 0) }),
            );
          const lines: string[] = [];
          for (const { searcher } of shards)
            for (const segment of searcher.segments)
              for (let doc = 0; doc < segment.docCount; doc++)
                if (segment.isLive(doc))
                  lines.push(`${segment.id(doc)} ${Buffer.from(segment.source(doc)).toString()}`);
          return response.end(lines.join("\n"));
        } finally {
          for (const { searcher } of shards) searcher.close();
        }
      })().catch((e: unknown) => {
        response.statusCode = 500;
        response.end(String((e as Error).stack));
      });
    });
    await new Promise<void>((resolve) =>
      this.#server!.listen(this.#options.settings["http.port"], "127.0.0.1", resolve),
    );
  }
  async stop(): Promise<void> {
    this.#server?.closeAllConnections();
    await new Promise((r) => this.#server?.close(r));
  }
}
