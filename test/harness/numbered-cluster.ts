/**
 * A search cluster of version 7 with one index of one shard, whose documents have the ids and sequence numbers 0, 1, 2 …:
 * as many as a test needs, without storing them.
 */

import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import type { TestContext } from "node:test";
import { listen } from "./listen.ts";

interface SearchBody {
  readonly size: number;
  readonly query: { readonly range: { readonly _seq_no: { readonly gte: number; readonly lt: number } } };
}

export interface NumberedCluster {
  readonly url: string;
  /** Documents that it has; more may be added at any time. */
  size: number;
  /** First sequence numbers of the pages that were read. */
  readonly pages: number[];
  /** Called before a page is answered, with its first sequence number. */
  beforePage: (from: number) => Promise<void>;
}

/** Serves the index `name` until the test ends. */
export async function numberedCluster(t: TestContext, name: string, size: number): Promise<NumberedCluster> {
  const server = createServer((request, response) => {
    void (async () => {
      const body = await text(request);
      const answer = await answerTo(cluster, name, request.url ?? "", body);
      response.writeHead(answer === undefined ? 404 : 200, { "content-type": "application/json" });
      response.end(JSON.stringify(answer ?? {}));
    })();
  });
  const url = await listen(t, server);
  const cluster: NumberedCluster = { url, size, pages: [], beforePage: () => Promise.resolve() };
  return cluster;
}

async function answerTo(
  cluster: NumberedCluster,
  name: string,
  path: string,
  body: string,
): Promise<unknown> {
  const settings = { index: { uuid: "numbered", number_of_shards: "1", number_of_replicas: "0" } };
  if (path === "/") return { version: { number: "7.17.9" } };
  if (path.startsWith("/_cat/indices")) return [{ index: name, status: "open" }];
  if (path === `/${name}`) return { [name]: { settings, mappings: { properties: { n: { type: "long" } } } } };
  if (path === `/${name}/_count`) return { count: cluster.size };
  if (path === `/${name}/_refresh`) return {};
  if (path.startsWith(`/${name}/_stats`))
    return { indices: { [name]: { shards: { 0: [{ seq_no: { global_checkpoint: cluster.size - 1 } }] } } } };
  if (path !== `/${name}/_search?preference=_shards:0`) return undefined;
  const { gte, lt } = (JSON.parse(body) as SearchBody).query.range._seq_no;
  cluster.pages.push(gte);
  await cluster.beforePage(gte);
  const hits = Array.from({ length: Math.max(0, Math.min(lt, cluster.size) - gte) }, (_, at) => ({
    _id: String(gte + at),
    _version: 1,
    _source: { n: gte + at },
  }));
  return { timed_out: false, _shards: { failed: 0 }, hits: { hits } };
}
