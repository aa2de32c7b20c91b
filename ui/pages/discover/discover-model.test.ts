import assert from "node:assert/strict";
import { before, test } from "node:test";
import { DEFAULT_STATE } from "#ui/services/search/discover-state.ts";
import { SearchClient } from "#ui/services/search/search-client.ts";
import { PAGE_ROWS } from "#ui/services/search/search-request.ts";
import { DiscoverModel } from "./discover-model.ts";

before(() => {
  globalThis.requestAnimationFrame = (draw) => {
    setImmediate(draw, 0);
    return 0;
  };
});

/** A hub of endless rows. Histograms wait for `drawn`. */
function endlessHub(): { client: SearchClient; drawn: PromiseWithResolvers<void> } {
  const drawn = Promise.withResolvers<void>();
  let rows = 0;
  const answer = async (address: string, body: string): Promise<unknown> => {
    if (!address.includes("_search")) return { fields: {} };
    if (body.includes("date_histogram")) await drawn.promise;
    const hits = Array.from({ length: PAGE_ROWS }, () => {
      const number = rows++;
      return { _index: "logs", _id: String(number), _source: {}, sort: [1_000_000 - number, number] };
    });
    return { took: 1, timed_out: false, hits: { total: 10_000, hits } };
  };
  const client = new SearchClient(async (address, init) => {
    const text = JSON.stringify(await answer(address, init.body as string));
    return new Response(text, { headers: { "content-type": "application/json" } });
  });
  return { client, drawn };
}

test("the next rows are loaded while the histogram is still on its way", async () => {
  const { client, drawn } = endlessHub();
  const firstRows = Promise.withResolvers<void>();
  const model = new DiscoverModel(client, () => {
    if (model.rows.length === PAGE_ROWS) firstRows.resolve();
  });
  const searched = model.run(DEFAULT_STATE);
  await firstRows.promise;
  await model.more();
  assert.deepEqual([model.rows.length, model.isLoading], [2 * PAGE_ROWS, true]);
  drawn.resolve();
  await searched;
  assert.deepEqual([model.rows.length, model.isLoading], [2 * PAGE_ROWS, false]);
});

test("no rows are added to those of the search before", async () => {
  const { client, drawn } = endlessHub();
  drawn.resolve();
  const model = new DiscoverModel(client, () => undefined);
  await model.run(DEFAULT_STATE);
  const again = model.run({ ...DEFAULT_STATE, query: "other" });
  await model.more();
  assert.equal(model.rows.length, PAGE_ROWS);
  await again;
  assert.equal(model.rows.length, PAGE_ROWS);
});
