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
