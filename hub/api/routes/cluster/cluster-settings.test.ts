import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { FakeHub } from "#test/support/api/fake-hub.ts";
import { clientOf } from "#test/support/api/http-client.ts";

const hub = new FakeHub();
const send = clientOf(() => hub.server.addresses.http);
const put = (settings: object) => send("PUT", "/_cluster/settings", { transient: settings });

before(() => hub.start());
after(() => hub.stop());

test("a name that no server knows is refused, one without effect answers with a warning, null takes any away", async () => {
  const unknown = await put({ "search.max_bucket": 5, "serch.max_buckets": 5 });
  assert.equal(unknown.status, 400);
  assert.match(unknown.text, /transient setting \[serch.max_buckets\], not recognized/);
  const fixed = await put({ "script.painless.regex.enabled": true });
  assert.equal(fixed.status, 400);
  assert.match(fixed.text, /setting \[script.painless.regex.enabled\], not dynamically updateable/);
  const unused = await put({ "cluster.routing.allocation.enable": "none" });
  assert.equal(unused.status, 200);
  assert.match(
    String(unused.headers["warning"]),
    /\[cluster.routing.allocation.enable\] is accepted and does nothing/,
  );
  const removed = await put({ "serch.max_buckets": null, "cluster.routing.allocation.enable": null });
  assert.deepEqual([removed.status, removed.headers["warning"]], [200, undefined]);
  const note = await put({ "cluster.metadata.owner": "web team" });
  assert.deepEqual([note.status, note.headers["warning"]], [200, undefined]);
});

test("a list is kept as a list where the setting has no effect", async () => {
  const seeds = ["127.0.0.1:9300", "127.0.0.2:9300"];
  const put = await send("PUT", "/_cluster/settings", {
    persistent: { cluster: { remote: { far: { seeds } } } },
  });
  assert.equal(put.status, 200, put.text);
  assert.match(String(put.headers["warning"]), /\[cluster.remote.far.seeds\] is accepted and does nothing/);
  const { text } = await send("GET", "/_cluster/settings?flat_settings=true");
  assert.deepEqual(JSON.parse(text).persistent, { "cluster.remote.far.seeds": seeds });
  const refused = await send("PUT", "/_cluster/settings", { transient: { "search.max_buckets": ["5"] } });
  assert.equal(refused.status, 400);
  await send("PUT", "/_cluster/settings", { persistent: { "cluster.remote.far.seeds": null } });
});

test("values that a setting doesn't take are refused by its name", async () => {
  for (const [name, value] of [
    ["search.max_buckets", "many"],
    ["search.max_buckets", -2],
    ["search.max_keep_alive", "soon"],
    ["search.default_search_timeout", "soon"],
    ["search.default_search_timeout", "-5s"],
    ["search.default_search_timeout", "10 potatoes"],
    ["action.destructive_requires_name", "yes"],
    ["action.auto_create_index", "+"],
  ] as const) {
    const { status, text } = await put({ [name]: value });
    assert.equal(status, 400, `${name}: ${value}`);
    assert.ok(text.includes(name), text);
  }
});

test("with action.destructive_requires_name indices are deleted and closed by whole names only", async () => {
  await send("PUT", "/whole-a", {});
  await put({ "action.destructive_requires_name": true });
  for (const expression of ["whole-*", "_all", "*", "whole-a,_all"]) {
    const refused = await send("DELETE", `/${expression}`);
    assert.equal(refused.status, 400, expression);
    assert.match(refused.text, /Wildcard expressions or all indices are not allowed/);
  }
  assert.equal((await send("POST", "/whole-*/_close")).status, 400);
  assert.equal((await send("DELETE", "/whole-a")).status, 200);
  await put({ "action.destructive_requires_name": null });
});

test("action.auto_create_index decides which indices a client's write makes", async () => {
  const rows: readonly (readonly [setting: boolean | string, index: string, refused: RegExp | undefined])[] =
    [
      [false, "made-a", /no such index and \[action.auto_create_index\] is \[false\]/],
      ["+made-*,-other*", "made-b", undefined],
      ["made-c*,-other*", "other-c", /contains \[-other\*\] which forbids automatic creation of the index/],
      ["made-*,logs", "none", /\[action.auto_create_index\] \(\[made-\*,logs\]\) doesn't match/],
      [true, "made-d", undefined],
    ];
  for (const [setting, index, refused] of rows) {
    assert.equal((await put({ "action.auto_create_index": setting })).status, 200);
    const { status, text } = await send("PUT", `/${index}/_doc/1`, { n: 1 });
    assert.equal(status, refused === undefined ? 201 : 404, `${setting} ${index}: ${text}`);
    if (refused !== undefined) assert.match(text, refused);
  }
  await put({ "action.auto_create_index": null });
});

test("a change without settings, and the type of one that no server knows, are those of 6.5.4", async () => {
  const empty = await put({});
  assert.equal(empty.body["error"]!["reason"], "Validation Failed: 1: no settings to update;");
  const { body } = await put({ "nope.x": 1 });
  assert.deepEqual(
    [body["error"]!["type"], body["error"]!["reason"]],
    ["illegal_argument_exception", "transient setting [nope.x], not recognized"],
  );
});
