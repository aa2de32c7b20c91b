import { Client } from "es7";
import { answerFailure, type ClientUnderTest, exerciseClient, type Line } from "./exercise.ts";

interface Hits {
  readonly hits: {
    readonly total: { readonly value: number };
    readonly hits: readonly { readonly _source: unknown; readonly sort: readonly unknown[] }[];
  };
  readonly aggregations: Record<string, unknown>;
}

function connect(node: string): ClientUnderTest {
  const client = new Client({ node });
  return {
    async createIndex(index, properties) {
      await client.indices.create({ index, body: { mappings: { properties } } });
    },
    async bulk(index, lines) {
      const { successful } = await client.helpers.bulk<Line>({
        datasource: [...lines],
        onDocument: () => ({ index: { _index: index } }),
        refreshOnCompletion: true,
      });
      return successful;
    },
    async search(index, body) {
      const { hits } = (await client.search({ index, body })).body as Hits;
      return { total: hits.total.value, documents: hits.hits.map(({ _source }) => _source) };
    },
    async scroll(index, size) {
      const found: unknown[] = [];
      for await (const document of client.helpers.scrollDocuments({ index, size, body: {} }))
        found.push(document);
      return found;
    },
    async pages(index, size) {
      const { id } = (await client.openPointInTime({ index, keep_alive: "1m" })).body as { id: string };
      const found: unknown[] = [];
      let after: object = {};
      for (;;) {
        const body = { size, sort: [{ n: "asc" }], pit: { id, keep_alive: "1m" }, ...after };
        const { hits } = ((await client.search({ body })).body as Hits).hits;
        if (hits.length === 0) break;
        found.push(...hits.map(({ _source }) => _source));
        after = { search_after: hits.at(-1)!.sort };
      }
      await client.closePointInTime({ body: { id } });
      return found;
    },
    async background(index) {
      const wait = { keep_on_completion: true, wait_for_completion_timeout: "30s" };
      const { id } = (await client.asyncSearch.submit({ index, body: {}, ...wait })).body as { id: string };
      const { response } = (await client.asyncSearch.get({ id })).body as { response: Hits };
      await client.asyncSearch.delete({ id });
      return response.hits.total.value;
    },
    async aggregate(index, aggs) {
      return ((await client.search({ index, body: { size: 0, aggs } })).body as Hits).aggregations;
    },
    get: async (index, id) => (await client.get({ index, id })).body as unknown,
    async deleteIndex(index) {
      await client.indices.delete({ index });
    },
    failureOf: answerFailure,
    close: () => client.close(),
  };
}

exerciseClient("the client of 7.x", { "compat.version": "7.10.2" }, connect);
exerciseClient("the client of 7.x", { "compat.version": "7.17.0", "compat.product_header": true }, connect);
