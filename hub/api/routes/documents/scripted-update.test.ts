import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { FakeHub } from "#test/support/api/fake-hub.ts";
import { clientOf } from "#test/support/api/http-client.ts";

const hub = new FakeHub();
const send = clientOf(() => hub.server.addresses.http);

before(() => hub.start());
after(() => hub.stop());

const sourceOf = async (path: string): Promise<unknown> => (await send("GET", path)).body["_source"];
const update = (path: string, body: object) => send("POST", `${path}/_update`, body);

test("a script changes the stored document", async () => {
  await send("PUT", "/shop/_doc/1", { n: 1, tags: ["a"] });
  const script = { source: "ctx._source.n += params.by; ctx._source.tags.add('b')", params: { by: 4 } };
  const { status, body } = await update("/shop/_doc/1", { script });
  assert.deepEqual([status, body["result"], body["_version"]], [200, "updated", 2]);
  assert.deepEqual(await sourceOf("/shop/_doc/1"), { n: 5, tags: ["a", "b"] });
});

test("ctx.op decides what becomes of the document", async () => {
  await send("PUT", "/shop/_doc/2", { n: 1 });
  assert.equal((await update("/shop/_doc/2", { script: "ctx.op = 'none'" })).body["result"], "noop");
  assert.equal((await update("/shop/_doc/2", { script: "ctx.op = 'delete'" })).body["result"], "deleted");
  assert.equal((await send("GET", "/shop/_doc/2")).status, 404);
});

test("a missing document is created from [upsert], by the script where [scripted_upsert] is set", async () => {
  const script = "ctx._source.n += 1";
  assert.equal((await update("/shop/_doc/3", { script })).status, 404);
  assert.equal((await update("/shop/_doc/3", { script, upsert: { n: 10 } })).status, 201);
  assert.deepEqual(await sourceOf("/shop/_doc/3"), { n: 10 });
  await update("/shop/_doc/4", { script, upsert: { n: 10 }, scripted_upsert: true });
  assert.deepEqual(await sourceOf("/shop/_doc/4"), { n: 11 });
});

test("[upsert] is stored as it came", async () => {
  const body = '{"script":"ctx._source.n += 1","upsert":{"n":1.0,"big":9007199254740993}}';
  assert.equal((await send("POST", "/shop/_doc/16/_update", body)).status, 201);
  assert.match((await send("GET", "/shop/_doc/16")).text, /"_source":\{"n":1\.0,"big":9007199254740993\}/);
});

test("a script that fails names its position, and leaves the document unchanged", async () => {
  await send("PUT", "/shop/_doc/5", { n: 1 });
  const failed = await update("/shop/_doc/5", { script: "ctx._source.n = 2; ctx._source.missing.length()" });
  const error = failed.body["error"]!;
  assert.deepEqual(
    [failed.status, error["type"], error["reason"]],
    [400, "illegal_argument_exception", "failed to execute script"],
  );
  const cause = error["caused_by"] as unknown as Record<string, unknown>;
  assert.deepEqual([cause["type"], cause["lang"]], ["script_exception", "painless"]);
  assert.match(JSON.stringify(cause["script_stack"]), /\^---- HERE/);
  const roots = error["root_cause"] as unknown as Record<string, string>[];
  assert.equal(roots[0]!["type"], "remote_transport_exception");
  assert.match(roots[0]!["reason"]!, /^\[.*\]\[.*\]\[indices:data\/write\/update\[s\]\]$/);
  const unread = await update("/shop/_doc/5", { script: "ctx._source.n = " });
  assert.deepEqual([unread.status, unread.body["error"]!["reason"]], [400, "failed to execute script"]);
  assert.equal((await update("/shop/_doc/5", { script: { id: "none" } })).status, 400);
  const endless = await update("/shop/_doc/5", { script: "ctx._source.a = ctx" });
  assert.equal(endless.body["error"]!["reason"], "Iterable object is self-referencing itself");
  assert.equal((await update("/shop/_doc/5", { script: "1", doc: {} })).status, 400);
  assert.deepEqual(await sourceOf("/shop/_doc/5"), { n: 1 });
});

test("scripts of a bulk request see what the items before them wrote", async () => {
  const lines = [
    { index: { _index: "shop", _type: "_doc", _id: "6" } },
    { n: 1 },
    { update: { _index: "shop", _type: "_doc", _id: "6" } },
    { script: "ctx._source.n *= 7" },
    { update: { _index: "shop", _type: "_doc", _id: "6" } },
    { script: { source: "ctx._source.n += params.by", params: { by: 1 } }, _source: true },
    { update: { _index: "shop", _type: "_doc", _id: "7" } },
    { script: "ctx._source.n++" },
  ];
  const body = lines.map((line) => `${JSON.stringify(line)}\n`).join("");
  const answer = await send("POST", "/_bulk", body, { "content-type": "application/x-ndjson" });
  const items = answer.body["items"] as unknown as Record<string, Record<string, unknown>>[];
  assert.deepEqual(
    items.map((item) => Object.values(item)[0]!["status"]),
    [201, 200, 200, 404],
  );
  assert.deepEqual(await sourceOf("/shop/_doc/6"), { n: 8 });
});

test("scripts of a bulk request whose client left aren't run", async () => {
  const items = 400;
  await send("PUT", "/shop/_doc/left", { n: 0 });
  const script = { source: "int i = 0; while (i < 40000) { i++ } ctx._source.n += 1" };
  const line = `${JSON.stringify({ update: { _index: "shop", _id: "left" } })}\n${JSON.stringify({ script })}\n`;
  const client = new AbortController();
  const sent = fetch(`${hub.server.addresses.http}/_bulk`, {
    method: "POST",
    headers: { "content-type": "application/x-ndjson" },
    body: line.repeat(items),
    signal: client.signal,
  });
  const changed = async (): Promise<number> =>
    Number(((await sourceOf("/shop/_doc/left")) as { n: number }).n);
  while ((await changed()) === 0);
  client.abort();
  await assert.rejects(sent);
  // A read takes several turns of the loop, more than an item does: where some find the same, no more items are run.
  let found = -1;
  for (let equal = 0; equal < 10; ) {
    const before = found;
    found = await changed();
    equal = found === before ? equal + 1 : 0;
  }
  assert.ok(found < items);
});

test("the read, the write and their repetition take no more than the time of the request together", async (t) => {
  await send("PUT", "/shop/_doc/late", { n: 1 });
  const now = performance.now.bind(performance);
  let aheadMs = 0;
  t.mock.method(performance, "now", () => now() + aheadMs);
  const get = hub.documents.get.bind(hub.documents);
  t.mock.method(hub.documents, "get", (...of: Parameters<typeof get>) => {
    aheadMs += 40_000;
    return get(...of);
  });
  await update("/shop/_doc/late", { script: "ctx._source.n += 1" });
  assert.ok(hub.documents.lastOptions!.timeoutMs <= 20_000);
});

test("a script leaves whole numbers beyond 2^53 as they are, and calculates with them", async () => {
  const long = "9007199254740993";
  const headers = { "content-type": "application/json" };
  const put = `${hub.server.addresses.http}/shop/_doc/6`;
  await fetch(put, { method: "PUT", headers, body: `{"l":${long},"n":{"m":[${long}]}}` });
  const script = "ctx._source.x = ctx._source.l + 1; ctx._source.y = ctx._source.n.m[0]";
  await update("/shop/_doc/6", { script });
  assert.match(
    await (await fetch(put)).text(),
    /"l":9007199254740993,"n":\{"m":\[9007199254740993\]\},"x":9007199254740994,"y":9007199254740993\}/,
  );
});

test("an update that changes nothing has no number, and shows the source for [fields] too", async () => {
  await send("PUT", "/shop/_doc/7", { a: 1 });
  const { body } = await send("POST", "/shop/_doc/7/_update?fields=_source", { script: "ctx.op = 'none'" });
  assert.deepEqual([body["result"], body["_seq_no"], body["_primary_term"]], ["noop", undefined, undefined]);
  assert.deepEqual(body["get"], { found: true, _source: { a: 1 } });
});

test("a script calculates with 5.0 as with a fraction, and leaves the texts of other numbers as they are read", async () => {
  await send("PUT", "/shop/_doc/fractions", '{"d":5.0,"i":5,"long":9007199254740993,"many":1e3}');
  await update("/shop/_doc/fractions", {
    script:
      "ctx._source.half = ctx._source.d / 2; ctx._source.whole = ctx._source.i / 2; ctx._source.two = 2.0",
  });
  const { text } = await send("GET", "/shop/_doc/fractions/_source");
  assert.equal(text, '{"d":5.0,"i":5,"long":9007199254740993,"many":1000.0,"half":2.5,"whole":2,"two":2.0}');
});

test("a date that was sent as a double is one after a script wrote it with an exponent", async () => {
  const mappings = { _doc: { properties: { at: { type: "date" } } } };
  await send("PUT", "/times", { mappings });
  assert.equal((await send("PUT", "/times/_doc/1", '{"at":1700000000000.0}')).status, 201);
  const { status, body } = await update("/times/_doc/1", { script: "ctx._source.n = 1" });
  assert.deepEqual([status, body["result"]], [200, "updated"]);
});
