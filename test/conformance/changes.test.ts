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

  test("_reindex replaces a document of any version whose script takes the version away", async () => {
    for (const index of ["versioned", "replaced"])
      await ask("PUT", `/${index}/_doc/1?version=7&version_type=external&refresh=true`, { n: 1 });
    const copy = (source: string): Promise<Answer> =>
      ask("POST", "/_reindex", {
        source: { index: "versioned" },
        dest: { index: "replaced", version_type: "external" },
        script: { source },
      });
    assert.equal((await copy("ctx._source.n = 2")).status, 409);
    const { status, body } = await copy("ctx._source.n = 2; ctx._version = null");
    assert.deepEqual([status, body["updated"]], [200, 1]);
    assert.match((await ask("GET", "/replaced/_doc/1")).text, /"_version":8.*"n":2/);
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

  test("_shrink, _split and _clone copy an index that refuses writes, with its settings and versions", async () => {
    await ask("PUT", "/four", { settings: { number_of_shards: 4, number_of_replicas: 0 } });
    const lines = Array.from({ length: 30 }, (_, n) => `{"index":{"_id":"${n}"}}\n{"n":${n}}\n`);
    await ask("POST", "/four/_bulk", lines.join(""));
    await ask("PUT", "/four/_doc/0?routing=r", { n: 100 });
    await ask("PUT", "/four/_doc/1", { n: 101 });
    const early = await ask("PUT", "/four/_shrink/two", { settings: { "index.number_of_shards": 2 } });
    assert.match(early.text, /must be read-only to resize index/);
    await ask("PUT", "/four/_settings", { "index.blocks.write": true });
    await ask("PUT", "/_template/t", {
      index_patterns: ["two"],
      mappings: { _doc: { properties: { x: {} } } },
    });
    const aliases = { both: {} };
    for (const [path, settings] of [
      ["/four/_shrink/two", { "index.number_of_shards": 2 }],
      ["/two/_split/eight", { "index.number_of_shards": 8, "index.blocks.write": null }],
      ["/four/_clone/again", {}],
    ] as const) {
      const made = await ask("PUT", `${path}?copy_settings=true`.replace(/(clone.*)\?.*/, "$1"), {
        settings,
        aliases,
      });
      assert.equal(made.status, 200, made.text);
      const name = path.split("/").at(-1)!;
      assert.equal(await countOf(name), 31);
      assert.match((await ask("GET", `/${name}/_doc/1`)).text, /"_version":2/);
      assert.match((await ask("GET", `/${name}/_doc/0?routing=r`)).text, /"n":100/);
      const write = await ask("PUT", `/${name}/_doc/new`, {});
      assert.equal(write.status, name === "eight" ? 201 : 403);
    }
    await ask("POST", "/both/_refresh");
    assert.equal(await countOf("both"), 94);
    const wrong = await ask("PUT", "/four/_shrink/three", { settings: { "index.number_of_shards": 3 } });
    assert.match(wrong.text, /source shards \[4\] must be a multiple of \[3\]/);
    assert.equal((await ask("GET", "/three")).status, 404);
    await ask("DELETE", "/_template/t");
  });

  test("_snapshot keeps indices in a folder, from which they are restored under other names", async () => {
    const repository = { type: "fs", settings: { location: "kept" } };
    assert.equal((await ask("PUT", "/_snapshot/r", repository)).status, 200);
    const outside = await ask("PUT", "/_snapshot/out", { type: "fs", settings: { location: "/" } });
    assert.equal(outside.status, 403, outside.text);
    await ask("PUT", "/kept-1", {
      settings: { number_of_shards: 2, "index.default_pipeline": "_none" },
      mappings: { _doc: { properties: { n: { type: "short" } } } },
      aliases: { kept: {} },
    });
    const lines = Array.from({ length: 1_200 }, (_, n) => `{"index":{"_id":"${n}"}}\n{"n":${n}}\n`);
    await ask("POST", "/kept-1/_doc/_bulk", lines.join(""));
    await ask("PUT", "/kept-1/_doc/7", { n: 1007 });
    const taken = await ask("PUT", "/_snapshot/r/first?wait_for_completion=true", { indices: "kept-*" });
    assert.match(taken.text, /"state":"SUCCESS".*"shards":\{"total":2,"failed":0,"successful":2\}/);
    const twice = await ask("PUT", "/_snapshot/r/first", {});
    assert.match(twice.text, /snapshot with the same name already exists/);
    const taken2 = await ask("POST", "/_snapshot/r/first/_restore", {});
    assert.match(taken2.text, /index with same name already exists/);
    const renamed = { rename_pattern: "kept-(.+)", rename_replacement: "back-$1", include_aliases: false };
    const path = "/_snapshot/r/first/_restore?wait_for_completion=true";
    assert.equal((await ask("POST", path, renamed)).status, 200);
    assert.equal(await countOf("back-1"), 1_200);
    assert.match((await ask("GET", "/back-1/_doc/7")).text, /"_version":2.*"n":1007/);
    assert.match(
      (await ask("GET", "/back-1")).text,
      /"short".*"default_pipeline":"_none".*"number_of_shards":"2"/,
    );
    await ask("DELETE", "/kept-1");
    assert.equal((await ask("POST", path, { indices: "kept-1" })).status, 200);
    assert.equal(await countOf("kept"), 1_200);
    await ask("PUT", "/kept-1/_doc/new?refresh=true", { n: 1 });
    assert.equal((await ask("POST", "/kept-1/_close")).status, 200);
    assert.equal((await ask("POST", path, { indices: "kept-1" })).status, 200);
    assert.equal(await countOf("kept"), 1_200);
    assert.equal((await ask("DELETE", "/_snapshot/r/first")).status, 200);
    assert.match((await ask("GET", "/_snapshot/r/first")).text, /\[r:first\] is missing/);
    assert.match((await ask("GET", "/_cat/snapshots/r?format=json")).text, /^\[\]$/);
    const capsOf = { fields: ["n"], index_filter: { term: { n: 1007 } } };
    const caps = await ask("POST", "/back-1,source/_field_caps", capsOf);
    assert.match(caps.text, /"short"/);
    assert.doesNotMatch(caps.text, /"long"/);
    const update = await ask("POST", "/back-1/_doc/7/_update?require_alias=true", { doc: { n: 1 } });
    assert.match(update.text, /\[back-1\] is not an alias/);
  });
});

type Body = Readonly<Record<string, unknown>>;

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly body: Body;
}
