/** Routes that search over real shards, without a listener. */

import assert from "node:assert/strict";
import { versionNumber } from "#hub/api/compat/version.ts";
import type { ApiContext } from "#hub/api/context/api-context.ts";
import { AsyncSearches } from "#hub/api/context/async-searches.ts";
import { IndexCounters, WritePressure } from "#hub/api/context/index-counters.ts";
import { PointContexts } from "#hub/api/context/point-contexts.ts";
import { RequestTurns } from "#hub/api/context/request-turns.ts";
import { RestUsage } from "#hub/api/context/rest-usage.ts";
import { SlowQueries } from "#hub/api/context/slow-queries.ts";
import { Tasks } from "#hub/api/context/tasks.ts";
import { VotingExclusions } from "#hub/api/context/voting-exclusions.ts";
import { errorBody } from "#hub/api/http/error-body.ts";
import { ApiRequest, checkParameters, type Method, parseQuery } from "#hub/api/http/request.ts";
import type { ApiResponse, Route } from "#hub/api/http/route.ts";
import { Router } from "#hub/api/http/router.ts";
import type { AliasOptions, IndexInfo } from "#hub/api/ports/indices.ts";
import { allSearchRoutes } from "#hub/api/routes/search/all.ts";
import { ScrollContexts } from "#hub/api/routes/search/scroll-contexts.ts";
import { ANONYMOUS } from "#hub/auth/accounts/principal.ts";
import type { IndexMetadata } from "#hub/cluster/catalog/index-metadata.ts";
import { resolveIndices } from "#hub/cluster/catalog/index-names.ts";
import type { ShardSearcher } from "#hub/cluster/shards/contract.ts";
import type { Searcher } from "#hub/engine/searcher/searcher.ts";
import type { HostState } from "#hub/host/operations/operation.ts";
import { SearchContexts, Snapshots } from "#hub/host/operations/search-contexts.ts";
import { ResultCache } from "#hub/search/execute/result-cache.ts";
import { writeJson } from "#hub/search/options/json-writer.ts";
import { gatherWarnings } from "#hub/search/options/request-version.ts";
import { systemClock } from "#proto/kit/clock.ts";
import { toAppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { silentLogger } from "#proto/kit/log.ts";
import { Metrics } from "#proto/kit/metrics.ts";
import { localShards } from "#test/support/host/local-shards.ts";
import { IndexFixture } from "#test/support/search/shards.ts";

/** Documents of the index logs. */
export const DOCS = [
  { message: "GET /a", status: 200, host: "web-1" },
  { message: "GET /b", status: 404, host: "web-2" },
  { message: "POST /c", status: 500, host: "web-1" },
];
const MAPPING = {
  properties: { message: { type: "text" }, status: { type: "long" }, host: { type: "keyword" } },
};
const ERRORS = { nodeId: "node" };

/** An answer as a client sees it. */
export interface Answer {
  readonly status: number;
  // Answers are looked into at any depth, as a client does.
  readonly body: Json;
  readonly warnings: readonly string[];
}
/** JSON that is looked into at any depth. */
export type Json = { readonly [key: string]: Json } & {
  readonly [at: number]: Json;
  readonly length: number;
};

interface SearchRoutesOptions {
  readonly docs?: readonly JsonObject[];
  readonly mapping?: JsonObject;
  readonly settings?: JsonObject;
  readonly routes?: (parts: ApiContext, scrolls: ScrollContexts) => Route[];
}

/** Two indices: logs with two shards and aliases, other of another type. */
export class SearchRoutesFixture {
  readonly logs: IndexFixture;
  readonly other = new IndexFixture({ docs: [{ message: "x", status: "text" }], index: "other" });
  readonly scrolls = new ScrollContexts(new Metrics(), { nodes: () => [] });
  readonly points = new PointContexts({ nodes: () => [] }, systemClock);
  readonly counters = new IndexCounters(systemClock);
  readonly tasks = new Tasks(systemClock, 1);
  readonly asyncSearches = new AsyncSearches(this.tasks, { nodes: () => [] }, systemClock);
  /** Of the cluster. */
  settings: JsonObject = {};
  readonly #indices: ReadonlyMap<string, IndexInfo>;
  readonly #routes: (parts: ApiContext, scrolls: ScrollContexts) => Route[];
  readonly #host = {
    indices: {
      byUuid: (uuid: string) =>
        [...this.#indices.values()].find((index) => index.uuid === uuid) as IndexMetadata | undefined,
    },
    clock: systemClock,
    results: new ResultCache(2 ** 20),
    contexts: new SearchContexts(),
    snapshots: new Snapshots(),
  };
  /** Searchers that aren't closed yet. */
  #open = 0;

  /** The documents, their mapping and the settings are those of the index logs; `routes`: those of searches without it. */
  constructor({
    docs = DOCS,
    mapping = MAPPING,
    settings = {},
    routes = allSearchRoutes,
  }: SearchRoutesOptions = {}) {
    this.logs = new IndexFixture({ docs, mapping, shards: 2 });
    this.#routes = routes;
    const bad = { filter: { range: { status: { gte: 400 } } } };
    this.#indices = new Map([
      ["logs", infoOf("logs", this.logs, { bad, all: {} }, settings)],
      ["other", infoOf("other", this.other, {}, { "mapping.type_name": "line" })],
    ]);
  }

  /** Sends a request to the routes and returns the answer as a client sees it. */
  async send(method: Method, uri: string, body?: unknown, version = "6.5.4"): Promise<Answer> {
    const [path = "", query = ""] = uri.split("?");
    const found = new Router(this.#routes(this.#partsOf(version), this.scrolls)).find(method, path);
    assert.equal(found.kind, "route", `${method} ${path}`);
    if (found.kind !== "route") throw new Error("no route");
    const text = body === undefined ? "" : typeof body === "string" ? body : JSON.stringify(body);
    const warnings = new Set<string>();
    let response: ApiResponse;
    try {
      const parameters = parseQuery(query);
      if (found.route.takesAnyParams !== true) checkParameters(path, parameters, found.route.params);
      const request = new ApiRequest({
        method,
        uri,
        path: found.path,
        query: parameters,
        headers: {},
        body: Buffer.from(text),
        ip: "127.0.0.1",
        principal: ANONYMOUS,
        may: () => true,
        signal: new AbortController().signal,
      });
      response = await gatherWarnings(warnings, versionNumber(version), () => found.route.handle(request));
    } catch (error) {
      const failure = toAppError(error);
      if (failure.code === "internal") throw error;
      response = found.route.answerError?.(failure, {}) ?? {
        status: failure.status,
        json: errorBody(failure, ERRORS),
      };
    }
    const answered = response.text ?? JSON.parse(writeJson(response.json));
    return { status: response.status, body: answered as Json, warnings: [...warnings] };
  }

  /** Throws where a searcher was left open. */
  close(): void {
    this.scrolls.stop();
    this.points.stop();
    this.asyncSearches.stop();
    assert.equal(this.#open, 0, "searchers that were opened are closed");
    this.logs.close();
    this.other.close();
  }

  /** The shards of both indices, whose open searchers are counted. */
  #shards(): HostState["shards"] {
    const fixtures: Readonly<Record<string, IndexFixture>> = { logs: this.logs, other: this.other };
    const searchers = (wanted: readonly IndexMetadata[]): ShardSearcher[] =>
      wanted.flatMap((index) =>
        fixtures[index.name]!.shards.map(({ shard, searcher }) => {
          this.#open++;
          const close = (): void => void this.#open--;
          return { index, shard, searcher: { ...searcher, close } };
        }),
      );
    const searcher = (index: IndexMetadata, number: number): Searcher => {
      const all = searchers([index]);
      for (const each of all) if (each.shard !== number) each.searcher.close();
      return all.find(({ shard }) => shard === number)!.searcher;
    };
    return { searchers, searcher } as unknown as HostState["shards"];
  }

  #partsOf(compatVersion: string): ApiContext {
    const indices = this.#indices;
    return {
      indices: {
        resolve: (expression: string | undefined, options: object) =>
          resolveIndices(indices, expression, options),
        get: (name: string) => indices.get(name),
        all: () => [...indices.values()],
        checkName: () => undefined,
      } as unknown as ApiContext["indices"],
      documents: {} as ApiContext["documents"],
      turns: new RequestTurns(),
      counters: this.counters,
      shards: localShards({ ...this.#host, shards: this.#shards() }),
      maintenance: {} as ApiContext["maintenance"],
      cluster: {
        nodes: () => [
          {
            id: "node",
            name: "hub-1",
            host: "127.0.0.1",
            httpAddress: "",
            transportAddress: "127.0.0.1:9300",
            attributes: {},
            master: true,
          },
        ],
        settings: () => ({ persistent: this.settings, transient: {} }),
      } as unknown as ApiContext["cluster"],
      dataFolder: ".",
      clock: systemClock,
      compatVersion,
      errors: ERRORS,
      remoteHosts: [],
      tasks: this.tasks,
      asyncSearches: this.asyncSearches,
      points: this.points,
      pressure: new WritePressure(),
      votingExclusions: new VotingExclusions(),
      usage: new RestUsage(systemClock),
      slowQueries: new SlowQueries(systemClock, silentLogger(), Number.POSITIVE_INFINITY),
    };
  }
}

function infoOf(
  name: string,
  fixture: IndexFixture,
  aliases: Record<string, AliasOptions>,
  raw: JsonObject,
): IndexInfo {
  return {
    name,
    uuid: `uuid-${name}`,
    settings: { numberOfShards: fixture.shards.length, numberOfReplicas: 0, creationDate: 0, raw },
    mapping: fixture.shards[0]!.searcher.mapping,
    aliases,
    state: "open",
  };
}
