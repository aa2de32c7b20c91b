/** What becomes of searches that take too long, too much, or that nobody waits for any more: over HTTP, at a whole hub. */

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { ask, request } from "#test/harness/http.ts";
import { startHub, type TestHub } from "#test/harness/hub.ts";
import { until } from "#test/harness/until.ts";
import { Workspace } from "#test/harness/workspace.ts";

const DOCS = 20_000;
/** Asked at once by a client that disconnects then. */
const SLOW_SEARCHES = 8;

const workspace = new Workspace();
let hub: TestHub;
let url: string;

before(async () => {
  hub = await startHub({ dataDir: workspace.path("hub") });
  workspace.defer(() => hub.destroy());
  url = `${hub.searchUrl}/many`;
  await ask("PUT", url, { settings: { number_of_shards: 1 } });
  for (let from = 0; from < DOCS; from += 10_000) {
    const lines = Array.from({ length: 10_000 }, (_, at) => {
      const id = from + at;
      return `{"index":{"_id":"${id}"}}\n{"id":"${id}","n":${id % 1000},"at":${1_767_225_600_000 + id * 1000}}\n`;
    });
    await ask("POST", `${url}/_doc/_bulk`, lines.join(""));
  }
  await ask("POST", `${url}/_refresh`);
});

after(() => workspace.close());

/** Aggregations that take the documents one by one, a long time together. */
function slow(count: number): Record<string, unknown> {
  const aggs: Record<string, unknown> = {};
  for (let at = 0; at < count; at++)
    aggs[`a${at}`] = { terms: { field: "id.keyword", missing: "none", size: 1 } };
  return { size: 0, aggs };
}

/** Requests answered with a status so far. */
async function answered(status: number): Promise<number> {
  const text = await ask<string>("GET", `${hub.dashboardUrl}/metrics`);
  const rows = [
    ...text.matchAll(new RegExp(`^tailrace_api_requests_total\\{.*status="${status}".*\\} (\\d+)`, "gm")),
  ];
  return rows.reduce((sum, row) => sum + Number(row[1]), 0);
}

interface Answer {
  readonly timed_out: boolean;
  readonly hits: { readonly total: number };
}

test("a search that times out answers with what it has found", async () => {
  const late = await ask<Answer>("POST", `${url}/_search`, { ...slow(40), timeout: "1ms" });
  assert.equal(late.timed_out, true);
  assert.ok(late.hits.total > 0 && late.hits.total < DOCS, String(late.hits.total));
  const whole = await ask<Answer>("POST", `${url}/_search`, { ...slow(1), timeout: "60s" });
  assert.deepEqual([whole.timed_out, whole.hits.total], [false, DOCS]);
});

test("a search that needs too much memory is refused with the reason, and the hub keeps working", async () => {
  const ranges = Array.from({ length: 300 }, (_, at) => ({ from: at, to: at + 5 }));
  const least = { min: { field: "n" } };
  // The order needs what is below all terms, not that of the returned ones alone.
  const terms = { field: "id.keyword", size: 10, order: { least: "asc" } };
  const aggs = { ids: { terms, aggs: { least, parts: { range: { field: "n", ranges } } } } };
  const { status, body } = await request<{ error: { root_cause: { type: string; reason: string }[] } }>(
    "POST",
    `${url}/_search`,
    { size: 0, aggs },
  );
  assert.equal(status, 503);
  const [cause] = body.error.root_cause;
  assert.equal(cause!.type, "circuit_breaking_exception");
  assert.match(cause!.reason, /needs more than 4000000 buckets in one shard; narrow the query/);
  assert.equal((await ask<Answer>("POST", `${url}/_search`, { size: 0 })).hits.total, DOCS);
});

test("names of built-in properties are ordinary names, and requests with them do no harm", async () => {
  const names = ["__proto__", "constructor", "toString", "hasOwnProperty"];
  const fields = Object.fromEntries(names.map((name) => [name, { polluted: 7 }]));
  const settings = Object.fromEntries(names.map((name) => [`${name}.polluted`, "7"]));
  const index = `${hub.searchUrl}/names`;
  await ask("PUT", `${index}/_doc/__proto__?refresh=true`, fields);
  const template = `${hub.searchUrl}/_template/names`;
  await assert.rejects(ask("PUT", template, { index_patterns: ["other-*"], settings }), /unknown setting/);
  const allowed = Object.fromEntries(names.map((name) => [`search.${name}.polluted`, "7"]));
  await ask("PUT", template, { index_patterns: ["other-*"], settings: allowed });
  await ask("PUT", `${hub.searchUrl}/_cluster/settings`, {
    transient: { "cluster.metadata": settings },
  });
  await ask("GET", `${hub.searchUrl}/_template`);
  const shown = await ask<{ transient: { cluster: { metadata: object } } }>(
    "GET",
    `${hub.searchUrl}/_cluster/settings`,
  );
  assert.deepEqual(Object.keys(shown.transient.cluster.metadata).toSorted(), names.toSorted());
  const aggs = Object.fromEntries(names.map((name) => [name, { sum: { field: `${name}.polluted` } }]));
  const found = await ask<{ hits: { total: number }; aggregations: Record<string, { value: number }> }>(
    "POST",
    `${index}/_search`,
    { query: { term: { "__proto__.polluted": 7 } }, aggs },
  );
  assert.equal(found.hits.total, 1);
  assert.deepEqual(
    Object.entries(found.aggregations).map(([name, { value }]) => [name, value]),
    names.map((name) => [name, 7]),
  );
  assert.deepEqual(Object.keys(await ask<object>("GET", `${index}/_mapping`)), ["names"]);
});

test("a search ends when its client disconnects", async () => {
  const before = await answered(499);
  const gone = new AbortController();
  // Several, as the first ones may be answered before the client is gone.
  const asked = Array.from({ length: SLOW_SEARCHES }, () =>
    fetch(`${url}/_search`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(slow(150)),
      signal: gone.signal,
    }),
  );
  // Others are answered while they run.
  assert.equal((await ask<Answer>("POST", `${url}/_search`, { size: 0 })).hits.total, DOCS);
  gone.abort();
  const ended = (await Promise.allSettled(asked)).filter(({ status }) => status === "rejected");
  assert.ok(ended.length > 0, "all searches were answered before their client was gone");
  // The answer of one of them may have been on its way.
  const least = before + Math.max(1, ended.length - 1);
  await until("the end of the searches", async () => (await answered(499)) >= least);
});
