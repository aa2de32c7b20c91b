/** The clients of 8.x and 9.x, which have the same methods. */

import { Client as Client8 } from "es8";
import { Client as Client9 } from "es9";
import { answerFailure, type ClientUnderTest, exerciseClient, type Line } from "./exercise.ts";

/** What the tests call; types of bodies differ between the versions. */
type Client = Client8;

function exercised(client: Client): ClientUnderTest {
  return {
    async createIndex(index, properties) {
      await client.indices.create({ index, mappings: { properties } as never });
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
      const { hits } = await client.search({ index, ...body });
      const total = typeof hits.total === "number" ? hits.total : (hits.total?.value ?? -1);
      return { total, documents: hits.hits.map(({ _source }) => _source) };
    },
    async scroll(index, size) {
      const found: unknown[] = [];
      for await (const document of client.helpers.scrollDocuments({ index, size })) found.push(document);
      return found;
    },
    async pages(index, size) {
      const { id } = await client.openPointInTime({ index, keep_alive: "1m" });
      const found: unknown[] = [];
      let after: object = {};
      for (;;) {
        const page = { size, sort: [{ n: "asc" as const }], pit: { id, keep_alive: "1m" }, ...after };
        const { hits } = (await client.search(page)).hits;
        if (hits.length === 0) break;
        found.push(...hits.map(({ _source }) => _source));
        after = { search_after: hits.at(-1)!.sort };
      }
      await client.closePointInTime({ id });
      return found;
    },
    async background(index) {
      const wait = { keep_on_completion: true, wait_for_completion_timeout: "30s" };
      const { id = "" } = await client.asyncSearch.submit({ index, ...wait });
      const { response } = await client.asyncSearch.get({ id });
      await client.asyncSearch.delete({ id });
      const { total } = response.hits;
      return typeof total === "number" ? total : (total?.value ?? -1);
    },
    async aggregate(index, aggs) {
      const answer = await client.search({ index, size: 0, aggs: aggs as never });
      return answer.aggregations as Record<string, unknown>;
    },
    get: (index, id) => client.get({ index, id }),
    async deleteIndex(index) {
      await client.indices.delete({ index });
    },
    failureOf: answerFailure,
    close: () => client.close(),
  };
}

exerciseClient("the client of 8.x", { "compat.version": "7.17.0", "compat.product_header": true }, (node) =>
  exercised(new Client8({ node })),
);
exerciseClient("the client of 9.x", { "compat.version": "8.19.3" }, (node) =>
  exercised(new Client9({ node }) as unknown as Client),
);
