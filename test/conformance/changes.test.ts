/** Changes by query, reindex and rollover by HTTP, against a hub of its own. */

import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import { startHub, type TestHub } from "#test/harness/hub.ts";
import { Workspace } from "#test/harness/workspace.ts";

const DOCS = 250;

suite("changes by query", () => {
  const workspace = new Workspace();
  let hub: TestHub;

  before(async () => {
    hub = await startHub({
      dataDir: workspace.path("data", "hub"),
      settings: { "reindex.remote.whitelist": ["127.0.0.1:*"] },
    });
    const lines = Array.from(
      { length: DOCS },
      (_, n) => `{"index":{"_index":"source","_id":"${n}"}}\n{"n":${n},"big":${"9".repeat(18)}}\n`,
    );
    await ask("POST", "/_bulk?refresh=true", lines.join(""));
  });
  after(async () => {
    await hub?.stop();
    await workspace.close();
  });

  async function ask(method: string, path: string, body?: object | string): Promise<Answer> {
    const text = typeof body === "string" ? body : JSON.stringify(body);
    const response = await fetch(`${hub.searchUrl}${path}`, {
      method,
      headers: { "content-type": "application/json" },
      ...(body !== undefined && { body: text }),
    });
    const json = await response.text();
    return { status: response.status, text: json, body: JSON.parse(json) as Body };
  }

  const countOf = async (index: string): Promise<unknown> =>
    (await ask("GET", `/${index}/_count`)).body["count"];

  test("_reindex copies the documents of a query", async () => {
    const { body } = await ask("POST", "/_reindex?refresh=true", {
      source: { index: "source", size: 40, query: { range: { n: { gte: 100 } } } },
      dest: { index: "copy" },
    });
    assert.deepEqual([body["total"], body["created"], body["batches"]], [150, 150, 4]);
    assert.equal(await countOf("copy"), 150);
  });

  test("_reindex reads from another engine, numbers kept", async () => {
    const { body } = await ask("POST", "/_reindex?refresh=true", {
      source: { index: "source", size: 100, remote: { host: hub.searchUrl } },
      dest: { index: "moved", op_type: "create" },
    });
    assert.equal(body["created"], DOCS);
    assert.match((await ask("GET", "/moved/_doc/7")).text, /"big":9{18}/);
  });

  test("_reindex gives a created index the type of its source", async () => {
    await ask("PUT", "/old-types/line/1?refresh=true", { n: 1 });
    for (const [to, remote] of [
      ["new-here", undefined],
      ["new-there", { remote: { host: hub.searchUrl } }],
    ] as const) {
      await ask("POST", "/_reindex", { source: { index: "old-types", ...remote }, dest: { index: to } });
      assert.deepEqual((await ask("PUT", `/${to}/line/2`, { n: 2 })).status, 201);
      assert.equal((await ask("GET", `/${to}/line/1`)).body["_type"], "line");
    }
  });

  test("_reindex reports existing documents, or skips them", async () => {
    const request = { source: { index: "copy" }, dest: { index: "moved", op_type: "create" } };
    const refused = await ask("POST", "/_reindex", request);
    assert.equal(refused.status, 409);
    const passed = await ask("POST", "/_reindex", { conflicts: "proceed", ...request });
    assert.deepEqual([passed.status, passed.body["version_conflicts"]], [200, 150]);
  });

  test("_reindex refuses an invalid index name before it reads anything", async () => {
    for (const index of ["half-\ud800", "Upper", "a b", "_x"]) {
      const { status, text } = await ask("POST", "/_reindex", {
        source: { index: "source" },
        dest: { index },
      });
      assert.equal(status, 400, text);
      assert.match(text, /invalid_index_name_exception/);
    }
  });

  test("_reindex ends at the page with refused documents, and lists them", async () => {
    await ask("PUT", "/typed", {
      mappings: { _doc: { properties: { n: { type: "date", format: "yyyy" } } } },
    });
    const { status, body } = await ask("POST", "/_reindex", {
      source: { index: "source", size: 20, sort: [{ n: "desc" }], query: { range: { n: { lt: 50 } } } },
      dest: { index: "typed" },
    });
    assert.equal(status, 400);
    const failures = body["failures"] as { cause: { type: string } }[];
    assert.deepEqual([body["batches"], failures.length], [1, 20]);
    assert.equal(failures[0]!.cause.type, "mapper_parsing_exception");
  });

  test("_update_by_query and _reindex send documents through an ingest pipeline", async () => {
    await ask("PUT", "/_ingest/pipeline/mark", { processors: [{ set: { field: "marked", value: true } }] });
    await ask("POST", "/_bulk?refresh=true", '{"index":{"_index":"unmarked","_id":"1"}}\n{"n":1}\n');
    const { body } = await ask("POST", "/unmarked/_update_by_query?pipeline=mark&refresh=true", {});
    assert.deepEqual([body["updated"], body["version_conflicts"]], [1, 0]);
    assert.match((await ask("GET", "/unmarked/_doc/1")).text, /"marked":true/);
    const copied = await ask("POST", "/_reindex?refresh=true", {
      source: { index: "source", query: { term: { n: 5 } } },
      dest: { index: "remarked", pipeline: "mark" },
    });
    assert.equal(copied.body["created"], 1);
    assert.match((await ask("GET", "/remarked/_doc/5")).text, /"marked":true/);
    assert.equal((await ask("POST", "/unmarked/_update_by_query?pipeline=none-such", {})).status, 400);
  });

  test("a value that doesn't fit is reported with a separate cause", async () => {
    await ask("PUT", "/typed-n", { mappings: { _doc: { properties: { n: { type: "long" } } } } });
    const { status, body } = await ask("PUT", "/typed-n/_doc/1", { n: "abc" });
    assert.equal(status, 400);
    const error = body["error"] as { reason: string; caused_by: object };
    assert.equal(error.reason, "failed to parse field [n] of type [long]");
    assert.deepEqual(error.caused_by, { type: "number_format_exception", reason: 'For input string: "abc"' });
  });

  test("_reindex reads from no host that the settings don't allow", async () => {
    const source = { index: "x", remote: { host: "http://example.com:9200" } };
    const { status, text } = await ask("POST", "/_reindex", { source, dest: { index: "y" } });
    assert.equal(status, 400);
    assert.match(text, /not whitelisted in reindex.remote.whitelist/);
  });

  test("_delete_by_query and _update_by_query report their counts", async () => {
    const query = { range: { n: { lt: 50 } } };
    const { body } = await ask("POST", "/source/_delete_by_query?refresh=true", { query });
    assert.equal(body["deleted"], 50);
    const updated = await ask("POST", "/source/_update_by_query?refresh=true");
    assert.equal(updated.body["updated"], DOCS - 50);
  });

  test("a change in the background is a task that is listed, cancelled and remembered", async () => {
    const path = "/source/_update_by_query?wait_for_completion=false&requests_per_second=1&scroll_size=10";
    const { body } = await ask("POST", path);
    const task = String(body["task"]);
    assert.match((await ask("GET", "/_tasks?actions=*byquery")).text, new RegExp(task));
    await ask("POST", `/_tasks/${task}/_cancel`);
    const ended = await ask("GET", `/_tasks/${task}?wait_for_completion=true`);
    assert.equal(ended.body["completed"], true);
    assert.equal((await ask("GET", "/_tasks/nothing:1")).status, 404);
  });

  test("_rollover gives an alias the next index", async () => {
    await ask("PUT", "/app-000001", { aliases: { app: {} } });
    await ask("PUT", "/app/_doc/1?refresh=true", { n: 1 });
    const waits = await ask("POST", "/app/_rollover", { conditions: { max_docs: 2 } });
    assert.equal(waits.body["rolled_over"], false);
    const rolled = await ask("POST", "/app/_rollover", { conditions: { max_docs: 1 } });
    assert.deepEqual(
      [rolled.body["rolled_over"], rolled.body["old_index"], rolled.body["new_index"]],
      [true, "app-000001", "app-000002"],
    );
    assert.deepEqual(Object.keys((await ask("GET", "/_alias/app")).body), ["app-000002"]);
  });
});

type Body = Readonly<Record<string, unknown>>;

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly body: Body;
}
