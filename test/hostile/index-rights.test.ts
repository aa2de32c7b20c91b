/** Keys whose grants cover some indices only, over every route: no answer shows what an index of others holds. */

import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import { keepSecret } from "#test/harness/secrets.ts";
import { SecuredHub } from "./secured-hub.ts";

/** In the one document of an index that no key of the test may search. */
const SECRET = "crown-jewels-4711";
/** Part of the names of that index, its template and its pipeline. */
const HIDDEN = "kingdom";
/** Expressions for `{index}`; none names the hidden index, all reach it for who may. */
const EXPRESSIONS = ["*", "gate", "open-1,gate", "*,-open-1"];
/** Requests under way. */
const LANES = 6;
/** Routes that end what the test goes on with. */
const ENDS = /_close|_shutdown|_stop|_cancel|\/api\/auth|\/api\/live/;

const LOOKUP = { terms: { word: { index: "kingdom-1", type: "_doc", id: "kept", path: "word" } } };
const BODIES: readonly object[] = [
  {
    query: { match_all: {} },
    docs: [
      { _index: "kingdom-1", _type: "_doc", _id: "kept" },
      { _index: "crown", _type: "_doc", _id: "kept" },
    ],
    size: 100,
    aggs: { names: { terms: { field: "_index" } }, words: { terms: { field: "word.keyword" } } },
  },
  { query: LOOKUP, size: 100 },
  { source: { index: "kingdom-1" }, dest: { index: "open-copy" } },
  { source: { index: "*" }, dest: { index: "open-copy" } },
  { doc: { n: 1 }, _source: true, actions: [{ add: { index: "kingdom-1", alias: "open-door" } }] },
  { actions: [{ add: { index: "kingdom*", alias: "open-door" } }, { remove_index: { index: "crown" } }] },
  { index_patterns: ["*"], template: { aliases: { "open-door": {} } }, aliases: { "open-door": {} } },
];
const LINES = [
  '{"index":"kingdom-1"}\n{"query":{"match_all":{}}}\n{"index":"gate"}\n{}\n{"index":"*"}\n{"size":50}\n',
  '{"update":{"_index":"kingdom-1","_type":"_doc","_id":"kept","_source":true}}\n{"doc":{"n":2}}\n{"delete":{"_index":"crown","_type":"_doc","_id":"1"}}\n',
];

interface Asked {
  readonly method: string;
  readonly path: string;
  readonly dashboard: boolean;
  readonly body?: string;
  readonly type?: string;
}

suite("rights on indices", () => {
  let target: SecuredHub;
  const admin = (method: string, path: string, body?: object) =>
    target.request(path, {
      method,
      role: "admin",
      dashboard: path.startsWith("/api/"),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });

  before(async () => {
    target = await SecuredHub.start({ "search.slowlog.threshold": 0 });
    const setUp: readonly (readonly [string, string, object])[] = [
      ["PUT", "/_template/kingdom", { index_patterns: ["kingdom-*"] }],
      ["PUT", "/open-1/_doc/1", { word: "plain" }],
      ["PUT", "/kingdom-1/_doc/1", { word: SECRET, by: "king" }],
      ["PUT", "/kingdom-1/_doc/kept", { word: SECRET, by: "king" }],
      ["POST", "/_aliases", { actions: [{ add: { indices: ["open-1", "kingdom-1"], alias: "gate" } }] }],
      ["POST", "/_aliases", { actions: [{ add: { index: "kingdom-1", alias: "crown" } }] }],
      ["POST", "/_refresh", {}],
      ["POST", "/kingdom-1/_search?scroll=5m", { query: { match: { word: SECRET } } }],
    ];
    for (const [method, path, body] of setUp) {
      const { status, text } = await admin(method, path, body);
      assert.ok(status < 300, `${method} ${path}: ${text}`);
    }
  });
  after(() => target.close());

  async function keyOf(role: string, indices: readonly string[]): Promise<string> {
    const { text } = await admin("POST", "/api/auth/keys", { name: "some", role, indices });
    return `Bearer ${(JSON.parse(text) as { key: string }).key}`;
  }

  /** Every operation of both listeners with each body that may reach the hidden index. */
  async function requests(): Promise<Asked[]> {
    const { text } = await admin("GET", "/api/openapi.json");
    const { paths } = JSON.parse(text) as { paths: Record<string, Record<string, unknown>> };
    return Object.entries(paths).flatMap(([path, methods]) =>
      ENDS.test(path)
        ? []
        : Object.entries(methods).flatMap(([method, row]) => asked(method.toUpperCase(), path, row)),
    );
  }

  /** Sends requests, some at once; returns those whose answers show what they must not. */
  async function shown(all: readonly Asked[], authorization: string, mayName: boolean): Promise<string[]> {
    const found: string[] = [];
    const waiting = all.values();
    const lane = async (): Promise<void> => {
      for (const request of waiting) {
        const { dashboard, path, method, body, type = "application/json" } = request;
        const { text, status } = await target.request(path, {
          method,
          dashboard,
          headers: { authorization, "content-type": type },
          ...(body === undefined ? {} : { body }),
        });
        const isFault = status === 500;
        if (text.includes(SECRET) || isFault || (!mayName && text.includes(HIDDEN)))
          found.push(`${method} ${path} ${body ?? ""}: ${status} ${text.slice(0, 300)}`);
      }
    };
    await Promise.all(Array.from({ length: LANES }, lane));
    return found;
  }

  for (const [role, indices, mayName] of [
    ["editor", ["open-*"], false],
    ["editor", ["open-*", "kingdom-*:write"], true],
  ] as const) {
    test(`no answer to a key of ${role} for ${indices.join(", ")} shows what it may not read`, async () => {
      const key = await keyOf(role, indices);
      // The dashboard's own interface knows no rights on indices but to see them.
      const all = (await requests()).filter(({ dashboard }) => !dashboard || !mayName);
      // What is read goes first: the others store the hidden name in what the key may change.
      const read = all.filter(({ body }) => body === undefined);
      const written = all.filter(({ body }) => body !== undefined);
      assert.deepEqual(await shown(read, key, mayName), []);
      assert.deepEqual(await shown(written, key, true), []);
      const copied = await admin("POST", "/open-*/_search?size=100");
      assert.ok(!copied.text.includes(SECRET), copied.text);
      const kept = await admin("GET", "/crown/_doc/kept");
      assert.ok(kept.text.includes(SECRET), "the hidden document is there");
    });
  }

  test("what a reader has open of an index ends with the right to read it", async () => {
    const reader = { name: "roz", password: keepSecret("another long password") };
    const account = (method: string, path: string, body: object) =>
      target.request(path, { method, role: "admin", dashboard: true, body: JSON.stringify(body) });
    const made = await account("POST", "/api/auth/accounts", { ...reader, role: "viewer", indices: ["*"] });
    assert.equal(made.status, 201, made.text);
    const authorization = `Basic ${Buffer.from(`${reader.name}:${reader.password}`).toString("base64")}`;
    const ask = async (method: string, path: string, body: object) => {
      const headers = { authorization };
      return target.request(path, { method, headers, body: JSON.stringify(body) });
    };
    const opened = async (method: string, path: string, body: object) =>
      JSON.parse((await ask(method, path, body)).text) as Record<string, string>;
    const scroll = await opened("POST", "/kingdom-1/_search?scroll=5m&size=1", {});
    const point = await opened("POST", "/kingdom-1/_pit?keep_alive=5m", {});
    const background = await opened("POST", "/kingdom-1/_async_search?keep_on_completion=true", {});
    const requests = [
      ["POST", "/_search", { pit: { id: point["id"] } }],
      ["GET", `/_async_search/${background["id"]}`, undefined],
      ["POST", "/_async_search", { pit: { id: point["id"] } }],
      ["POST", "/_search/scroll", { scroll_id: scroll["_scroll_id"] }],
    ] as const;
    const answers = () =>
      Promise.all(
        requests.map(async ([method, path, body]) => {
          const { text } = await target.request(path, {
            method,
            headers: { authorization },
            ...(body !== undefined && { body: JSON.stringify(body) }),
          });
          return text.includes(SECRET);
        }),
      );
    const isShown = await answers();
    assert.deepEqual(isShown, [true, true, true, true]);
    const again = await opened("POST", "/kingdom-1/_search?scroll=5m&size=1", {});
    const changed = await account("PATCH", "/api/auth/accounts/roz", {
      role: "viewer",
      indices: ["open-*"],
    });
    assert.ok(changed.status < 300, changed.text);
    assert.deepEqual(await answers(), [false, false, false, false]);
    const page = await ask("POST", "/_search/scroll", { scroll_id: again["_scroll_id"] });
    assert.equal(page.status, 403, page.text);
  });

  for (const [grant, method, path, body, allowed] of [
    ["open-*:read", "GET", "/open-1/_search", undefined, true],
    ["open-*:read", "PUT", "/open-1/_doc/9", { n: 1 }, false],
    ["open-*:read", "PUT", "/open-1/_settings", { "index.refresh_interval": "2s" }, false],
    ["open-*:write", "PUT", "/open-1/_doc/9", { n: 1 }, true],
    ["open-*:write", "GET", "/open-1/_search", undefined, false],
    ["open-*:write", "GET", "/open-1/_doc/1", undefined, false],
    ["open-*:write", "POST", "/open-1/_doc/1/_update?_source=true", { doc: { n: 1 } }, false],
    ["open-*:write", "POST", "/open-1/_update_by_query", {}, false],
    ["open-*:read+write", "POST", "/open-1/_update_by_query", {}, true],
    ["open-*:manage", "PUT", "/open-1/_settings", { "index.refresh_interval": "2s" }, true],
    ["open-*:manage", "DELETE", "/open-1", undefined, false],
    ["open-*:manage", "POST", "/_aliases", { actions: [{ remove_index: { index: "open-1" } }] }, false],
    ["open-*:read+write+manage", "POST", "/open-1/_delete_by_query", { query: { match_all: {} } }, false],
    ["open-*:manage+delete", "DELETE", "/open-gone", undefined, true],
  ] as const) {
    test(`an administrator's key for ${grant} ${allowed ? "may" : "may not"} ${method} ${path}`, async () => {
      await admin("PUT", "/open-gone/_doc/1", { n: 1 });
      // A change by query conflicts with documents that were written since the last refresh.
      await admin("POST", "/open-1/_refresh");
      const { status, text } = await target.request(path, {
        method,
        headers: { authorization: await keyOf("admin", [grant]) },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      assert.equal(status === 403, !allowed, `${status} ${text}`);
      if (allowed) assert.ok(status < 300, `${status} ${text}`);
    });
  }

  test("an editor may not delete an index by an action on aliases", async () => {
    const body = JSON.stringify({ actions: [{ remove_index: { index: "open-1" } }] });
    const { status } = await target.request("/_aliases", { method: "POST", role: "editor", body });
    assert.equal(status, 403);
  });

  test("a key with a right that doesn't exist is refused", async () => {
    const wanted = { name: "some", role: "viewer", indices: ["open-*:raed"] };
    const { status, text } = await admin("POST", "/api/auth/keys", wanted);
    assert.equal(status, 400);
    assert.match(text, /open-\*:raed.*write a pattern/);
  });
});

/** Returns the requests of one operation of the interfaces' description. */
function asked(method: string, path: string, row: unknown): Asked[] {
  const dashboard = !path.startsWith("/es/");
  const pattern = dashboard ? path : path.slice("/es".length);
  const fill = (index: string): string =>
    pattern.replace(/\{(\w+)\}/g, (_, name: string) =>
      name === "index" || name === "alias" || name === "name" ? index : name === "type" ? "_doc" : "1",
    );
  const paths = pattern.includes("{index}") ? EXPRESSIONS.map(fill) : [fill("*")];
  const plain = paths.map((each) => ({ method, dashboard, path: each }));
  if (!["POST", "PUT"].includes(method)) return plain;
  const isLines = JSON.stringify(row).includes("x-ndjson");
  const bodies = isLines ? LINES : BODIES.map((body) => JSON.stringify(body));
  const type = isLines ? "application/x-ndjson" : "application/json";
  const some = [fill("crown"), paths[0]!, paths.at(-1)!];
  // The dashboard's own interface has bodies of other forms, which are refused alike.
  return (dashboard ? bodies.slice(0, 1) : bodies).map((body, at) => ({
    method,
    dashboard,
    path: some[at % some.length]!,
    body,
    type,
  }));
}
