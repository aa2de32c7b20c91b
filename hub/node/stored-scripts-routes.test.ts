import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { IngestPipelines } from "#hub/pipeline/ingest/ingest-pipelines.ts";
import { StoredScripts } from "#hub/scripts/stored-scripts.ts";
import { silentLogger } from "#proto/kit/log.ts";
import { FakeHub } from "#test/support/api/fake-hub.ts";
import { clientOf } from "#test/support/api/http-client.ts";
import { MemoryBucket } from "#test/support/kit/memory-bucket.ts";

const hub = new FakeHub();
const bucket = new MemoryBucket();
const scripts = new StoredScripts(bucket, silentLogger(), () => ingest.refresh());
const ingest = new IngestPipelines(bucket, silentLogger(), { scripts: () => scripts.texts() });
const send = clientOf(() => hub.server.addresses.http);

before(async () => {
  await scripts.start();
  await ingest.start();
  hub.ingest = ingest;
  hub.scripts = scripts;
  await hub.start();
});
after(async () => {
  await hub.stop();
  await ingest.stop();
  await scripts.stop();
});

const typeOf = ({ body }: Awaited<ReturnType<typeof send>>): unknown => body["error"]!["type"];

test("a script is stored, shown and deleted as clients of 6.5 expect", async () => {
  const script = { lang: "painless", source: "doc['n'].value * 2" };
  assert.deepEqual((await send("PUT", "/_scripts/double", { script })).body, { acknowledged: true });
  assert.deepEqual((await send("GET", "/_scripts/double")).body, { _id: "double", found: true, script });
  assert.deepEqual((await send("DELETE", "/_scripts/double")).body, { acknowledged: true });
  const none = await send("GET", "/_scripts/double");
  assert.deepEqual([none.status, none.body], [404, { _id: "double", found: false }]);
  assert.equal((await send("DELETE", "/_scripts/double")).status, 404);
});

test("a script that can't be compiled isn't stored", async () => {
  const wrong = await send("PUT", "/_scripts/wrong", { script: { lang: "painless", source: "1 +" } });
  assert.deepEqual([wrong.status, typeOf(wrong)], [500, "script_exception"]);
  const script = { lang: "painless", source: "ctx._source.n = 1" };
  assert.equal((await send("PUT", "/_scripts/wrong/score", { script })).status, 500);
  const groovy = await send("PUT", "/_scripts/wrong", { script: { lang: "groovy", source: "1" } });
  assert.match(groovy.text, /script_lang not supported \[groovy\]/);
  assert.equal((await send("GET", "/_scripts/wrong")).status, 404);
});

test("params beside the source of a stored script are refused, from 7.0 on warned of", async () => {
  const script = { lang: "mustache", source: "{}", params: { a: 1 } };
  assert.equal((await send("PUT", "/_scripts/example", { script })).status, 400);
  const seven = { accept: "application/vnd.elasticsearch+json; compatible-with=7" };
  const { status, headers } = await send("PUT", "/_scripts/example", { script }, seven);
  assert.equal(status, 200);
  assert.match(String(headers["warning"]), /\[params\] of a stored script is accepted and does nothing/);
  const { script: stored } = (await send("GET", "/_scripts/example")).body;
  assert.deepEqual(stored, { lang: "mustache", source: "{}" });
});

test("an ingest pipeline runs a stored script", async () => {
  const script = { lang: "painless", source: "ctx.sum = ctx.a + params.b" };
  await send("PUT", "/_scripts/add", { script });
  const definition = { processors: [{ script: { id: "add", params: { b: 2 } } }] };
  assert.equal((await send("PUT", "/_ingest/pipeline/adding", definition)).status, 200);
  await send("PUT", "/sums/_doc/1?pipeline=adding", { a: 1 });
  assert.equal((await send("GET", "/sums/_doc/1")).body["_source"]!["sum"], 3);
});

test("a template becomes the search that its params make of it", async () => {
  const source = { query: { match: { text: "{{word}}" } }, size: "{{size}}" };
  await send("PUT", "/_scripts/find", { script: { lang: "mustache", source } });
  const rendered = await send("GET", "/_render/template/find", { params: { word: 'a"b', size: 3 } });
  assert.deepEqual(rendered.body, {
    template_output: { query: { match: { text: 'a"b' } }, size: "3" },
  });
  const missing = await send("POST", "/_search/template", { id: "none" });
  assert.deepEqual([missing.status, typeOf(missing)], [404, "resource_not_found_exception"]);
  const open = await send("POST", "/_render/template", { source: "{{{a}}" });
  assert.match(open.text, /Improperly closed variable in query-template/);
  const cut = await send("POST", "/_render/template", { source: '{"query": {' });
  assert.equal(typeOf(cut), "json_e_o_f_exception");
});

test("a script runs alone and on a sample document", async () => {
  await send("PUT", "/sampled", {
    mappings: {
      _doc: { properties: { rank: { type: "long" }, word: { type: "keyword" }, at: { type: "date" } } },
    },
  });
  const setup = {
    index: "sampled",
    document: { rank: 4, word: "four", at: "2020-01-02T00:00:00Z" },
  };
  const rows: readonly (readonly [body: object, result: unknown])[] = [
    [{ script: { source: "params.a - params.b", params: { a: 10, b: 100 } } }, "-90"],
    [{ script: { source: "1.0 / 4" }, context: "painless_test" }, "0.25"],
    [{ script: "doc['word'].value.length() <= 4", context: "filter", context_setup: setup }, true],
    [{ script: "doc.at.value.year == 2021", context: "filter", context_setup: setup }, false],
    [{ script: "doc['rank'].value / 5.0", context: "score", context_setup: setup }, 0.8],
    [{ script: "saturation(doc['rank'].value, 1)", context: "score", context_setup: setup }, 0.8],
  ];
  for (const [body, result] of rows)
    assert.deepEqual((await send("POST", "/_scripts/painless/_execute", body)).body, { result });
  const failed = await send("POST", "/_scripts/painless/_execute", {
    script: "doc.none.value",
    context: "score",
    context_setup: setup,
  });
  assert.match(failed.text, /No field found for \[none\] in mapping/);
  const loop = await send("POST", "/_scripts/painless/_execute", { script: "while (true) { }" });
  assert.ok(loop.status >= 400);
  const unknown = await send("POST", "/_scripts/painless/_execute", { script: "1", context: "other" });
  assert.match(unknown.text, /\[context\] must be one of painless_test, filter, score/);
});
