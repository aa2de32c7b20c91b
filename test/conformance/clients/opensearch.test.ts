import { Client } from "@opensearch-project/opensearch";
import { answerFailure, type ClientUnderTest, exerciseClient, type Line } from "./exercise.ts";

function connect(node: string): ClientUnderTest {
  const client = new Client({ node });
  return {
    async createIndex(index, properties) {
      await client.indices.create({ index, body: { mappings: { properties } as never } });
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
      const { hits } = (await client.search({ index, body })).body;
      const total = typeof hits.total === "number" ? hits.total : (hits.total?.value ?? -1);
      return { total, documents: hits.hits.map(({ _source }) => _source as unknown) };
    },
    async scroll(index, size) {
      const found: unknown[] = [];
      for await (const document of client.helpers.scrollDocuments({ index, size, body: {} }))
        found.push(document);
      return found;
    },
    async pages(index, size) {
      const { pit_id: id } = (await client.createPit({ index: [index], keep_alive: "1m" })).body;
      const found: unknown[] = [];
      let after: object = {};
      for (;;) {
        const body = { size, sort: [{ n: "asc" as const }], pit: { id, keep_alive: "1m" }, ...after };
        const { hits } = (await client.search({ body: body as never })).body.hits;
        if (hits.length === 0) break;
        found.push(...hits.map(({ _source }) => _source as unknown));
        after = { search_after: (hits.at(-1) as { sort?: unknown }).sort };
      }
      await client.deletePit({ body: { pit_id: [id] } });
      return found;
    },
    async background(index) {
      const wait = { keep_on_completion: true, wait_for_completion_timeout: "30s" };
      const { id } = (await client.asynchronousSearch.search({ index, body: {}, ...wait })).body as {
        id: string;
      };
      const { response } = (await client.asynchronousSearch.get({ id })).body as unknown as {
        response: { hits: { total: { value: number } } };
      };
      await client.asynchronousSearch.delete({ id });
      return response.hits.total.value;
    },
    async aggregate(index, aggs) {
      const answer = await client.search({ index, body: { size: 0, aggs: aggs as never } });
      return answer.body.aggregations as unknown as Record<string, unknown>;
    },
    get: async (index, id) => (await client.get({ index, id })).body,
    async deleteIndex(index) {
      await client.indices.delete({ index });
    },
    failureOf: answerFailure,
    close: () => client.close(),
  };
}

exerciseClient("the OpenSearch client", { "compat.version": "7.10.2" }, connect);
