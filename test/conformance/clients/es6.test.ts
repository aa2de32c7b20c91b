import { Client } from "es6";
import { answerFailure, type ClientUnderTest, exerciseClient } from "./exercise.ts";

interface Hits {
  readonly _scroll_id: string;
  readonly hits: { readonly total: number; readonly hits: readonly { readonly _source: unknown }[] };
  readonly aggregations: Record<string, unknown>;
}

function connect(node: string): ClientUnderTest {
  const client = new Client({ node });
  return {
    async createIndex(index, properties) {
      await client.indices.create({ index, body: { mappings: { line: { properties } } } });
    },
    async bulk(index, lines) {
      const body = lines.flatMap((line) => [{ index: { _index: index, _type: "line" } }, line]);
      const answer = await client.bulk({ body, refresh: "true" });
      const { errors, items } = answer.body as { errors: boolean; items: unknown[] };
      return errors ? 0 : items.length;
    },
    async search(index, body) {
      const { hits } = (await client.search({ index, body })).body as Hits;
      return { total: hits.total, documents: hits.hits.map(({ _source }) => _source) };
    },
    async scroll(index, size) {
      const found: unknown[] = [];
      let page = (await client.search({ index, size, scroll: "1m" })).body as Hits;
      while (page.hits.hits.length > 0) {
        found.push(...page.hits.hits.map(({ _source }) => _source));
        const next = { scroll_id: page._scroll_id, scroll: "1m" };
        page = (await client.scroll({ body: next } as never)).body as Hits;
      }
      await client.clearScroll({ body: { scroll_id: [page._scroll_id] } } as never);
      return found;
    },
    async aggregate(index, aggs) {
      return ((await client.search({ index, body: { size: 0, aggs } })).body as Hits).aggregations;
    },
    get: async (index, id) => (await client.get({ index, type: "line", id })).body as unknown,
    async deleteIndex(index) {
      await client.indices.delete({ index });
    },
    failureOf: answerFailure,
    async close() {
      await client.close();
    },
  };
}

exerciseClient("the client of 6.x", { "compat.version": "6.5.4" }, connect);
