/** Keys whose grants cover some indices only, over every route: no answer shows what an index of others holds. */

import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import { keepSecret } from "#test/harness/secrets.ts";
import { until } from "#test/harness/until.ts";
import { SecuredHub } from "./secured-hub.ts";

/** In the one document of an index that no key of the test may search. */
const SECRET = "crown-jewels-4711";
/** Part of the names of that index, its template and its pipeline. */
const HIDDEN = "kingdom";
/** Expressions for `{index}`; none names the hidden index, all reach it for who may. */
const EXPRESSIONS = ["*", "gate", "open-1,gate", "*,-open-1"];
/** Requests under way. */
const LANES = 6;
/** Routes that end what the test continues with. */
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

const READER = { name: "roz", password: keepSecret("another long password") };
const MATCH_SECRET = { query: { match: { word: SECRET } } };
/** Requests that name the hidden index where no path has it. Each learns of it only by its answer. */
const NAMED: readonly (readonly [method: string, path: string, body: object | string])[] = [
  [
    "POST",
    "/open-1/_search",
    {
      query: {
        more_like_this: {
          fields: ["word"],
          like: [{ _index: "kingdom-1", _id: "kept" }],
          min_term_freq: 1,
          min_doc_freq: 1,
        },
      },
    },
  ],
  ["POST", "/open-1/_search", { query: { terms: { word: { index: "crown", id: "kept", path: "word" } } } }],
  [
    "POST",
    "/open-1/_search",
    { aggs: { f: { filter: { terms: { word: { index: "kingdom-1", id: "kept", path: "word" } } } } } },
  ],
  [
    "POST",
    "/open-1/_search",
    { post_filter: { terms: { word: { index: "<kingdom-1>", id: "kept", path: "word" } } } },
  ],
  [
    "POST",
    "/open-1/_search",
    {
      rescore: {
        window_size: 5,
        query: { rescore_query: { terms: { word: { index: "kingdom-1", id: "kept", path: "word" } } } },
      },
    },
  ],
  ["POST", "/open-1/_search", { query: { percolate: { field: "q", index: "kingdom-1", id: "kept" } } }],
  [
    "POST",
    "/open-1/_search",
    { query: { geo_shape: { at: { indexed_shape: { index: "kingdom-1", id: "kept", path: "word" } } } } },
  ],
  ["POST", "/open-1/_search", { indices_boost: [{ "kingdom-1": 2 }] }],
  [
    "POST",
    "/open-1/_search",
    {
      runtime_mappings: {
        other: {
          type: "lookup",
          target_index: "kingdom-1",
          input_field: "word",
          target_field: "word",
          fetch_fields: ["word"],
        },
      },
      fields: ["other"],
    },
  ],
  ["POST", "/%3Ckingdom-1%3E/_search", {}],
  ["POST", "/%3C%7Bkingdom-1%7D%3E,open-1/_search", {}],
  ["POST", "/king*,crown/_search?ignore_unavailable=true", {}],
  ["POST", "/-open-1,*/_search", {}],
  ["POST", "/*:kingdom-1,*/_search?ignore_unavailable=true", {}],
  ["POST", "/kingdom-1/_search?ignore_unavailable=true&allow_no_indices=true", {}],
  ["POST", "/open-1/_search?index=kingdom-1", {}],
  [
    "POST",
    "/open-1/_search?preference=_shards:0%7C_only_local",
    { query: { match_all: {} }, pit: undefined },
  ],
  [
    "POST",
    "/_msearch",
    `{"index":["kingdom-1","open-1"]}\n{}\n{"index":"crown","ignore_unavailable":true}\n{}\n{}\n{"query":{"terms":{"word":{"index":"kingdom-1","id":"kept","path":"word"}}}}\n`,
  ],
  ["POST", "/open-1/_msearch", '{"index":"kingdom-1"}\n{}\n{"indices":["kingdom-1"]}\n{}\n'],
  ["POST", "/_msearch/template", '{"index":"kingdom-1"}\n{"source":{"query":{"match_all":{}}}}\n'],
  [
    "POST",
    "/open-1/_search/template",
    { source: '{"query":{"terms":{"word":{"index":"kingdom-1","id":"kept","path":"word"}}}}' },
  ],
  [
    "POST",
    "/_mget",
    {
      docs: [
        { _index: "kingdom-1", _id: "kept" },
        { _index: "<kingdom-1>", _id: "kept" },
        { index: "crown", id: "kept" },
      ],
    },
  ],
  ["POST", "/open-1/_mget", { docs: [{ _index: "kingdom-1", _id: "kept" }], ids: ["kept"] }],
  [
    "POST",
    "/_mtermvectors",
    {
      docs: [
        { _index: "kingdom-1", _id: "kept", fields: ["word"] },
        { _index: "crown", _type: "_doc", _id: "kept" },
      ],
    },
  ],
  ["POST", "/kingdom-1/_termvectors/kept", { fields: ["word"], term_statistics: true }],
  ["POST", "/kingdom-1/_explain/kept", MATCH_SECRET],
  ["POST", "/gate/_explain/kept", MATCH_SECRET],
  [
    "POST",
    "/open-1/_validate/query?explain=true&rewrite=true",
    { query: { terms: { word: { index: "kingdom-1", id: "kept", path: "word" } } } },
  ],
  [
    "POST",
    "/open-1/_rank_eval",
    {
      requests: [
        {
          id: "r",
          request: { query: { terms: { word: { index: "kingdom-1", id: "kept", path: "word" } } } },
          ratings: [{ _index: "kingdom-1", _id: "kept", rating: 1 }],
        },
      ],
      metric: { precision: {} },
    },
  ],
  [
    "POST",
    "/kingdom-1/_rank_eval",
    { requests: [{ id: "r", request: MATCH_SECRET, ratings: [] }], metric: { precision: {} } },
  ],
  [
    "POST",
    "/_scripts/painless/_execute",
    {
      script: { source: "doc['word.keyword'].value" },
      context: "filter",
      context_setup: {
        index: "kingdom-1",
        document: { word: SECRET.toUpperCase() },
        query: { terms: { word: { index: "kingdom-1", id: "kept", path: "word" } } },
      },
    },
  ],
  [
    "POST",
    "/_scripts/painless/_execute",
    {
      script: { source: "_score" },
      context: "score",
      context_setup: {
        index: "open-1",
        document: { word: "x" },
        query: { terms: { word: { index: "kingdom-1", id: "kept", path: "word" } } },
      },
    },
  ],
  ["POST", "/kingdom-1/_pit?keep_alive=1m", ""],
  ["POST", "/crown/_search/point_in_time?keep_alive=1m", ""],
  ["POST", "/crown/_async_search", {}],
  ["POST", "/_plugins/_asynchronous_search?index=kingdom-1", {}],
  ["POST", "/kingdom-1/_field_caps?fields=*", {}],
  [
    "POST",
    "/*/_field_caps?fields=*",
    { index_filter: { terms: { word: { index: "kingdom-1", id: "kept", path: "word" } } } },
  ],
  ["POST", "/kingdom-1/_terms_enum", { field: "word.keyword", string: "" }],
  ["POST", "/*/_terms_enum", { field: "word.keyword", string: "crown" }],
  [
    "POST",
    "/open-1/_search",
    { suggest: { s: { text: "crwn", term: { field: "word", suggest_mode: "always" } } } },
  ],
  ["POST", "/*/_search", { suggest: { s: { text: "crwn-jewels", phrase: { field: "word" } } } }],
  [
    "POST",
    "/_reindex?refresh=true",
    {
      source: {
        index: "open-1",
        query: { terms: { word: { index: "kingdom-1", id: "kept", path: "word" } } },
      },
      dest: { index: "open-2" },
    },
  ],
  [
    "POST",
    "/_reindex?refresh=true",
    { source: { index: ["open-1", "<kingdom-1>"] }, dest: { index: "open-2" } },
  ],
  [
    "POST",
    "/open-1/_update_by_query",
    { query: { terms: { word: { index: "kingdom-1", id: "kept", path: "word" } } } },
  ],
  ["POST", "/_sql", { query: 'SELECT * FROM "kingdom-1"' }],
  ["POST", "/_search/scroll", { scroll_id: "_all" }],
  ["POST", "/kingdom-1/_clone/open-clone", {}],
  ["PUT", "/kingdom-1/_shrink/open-shrunk", {}],
  ["POST", "/crown/_rollover/open-rolled", {}],
  [
    "PUT",
    "/open-1/_alias/open-seen",
    { filter: { terms: { word: { index: "kingdom-1", id: "kept", path: "word" } } } },
  ],
  ["POST", "/open-seen/_search", {}],
  ["POST", "/_tasks/_cancel?actions=*", ""],
  ["POST", "/loki/api/v1/query_range", `query=${encodeURIComponent('{word=~".+"}')}`],
  ["POST", "/loki/api/v1/label/word/values", `query=${encodeURIComponent('{_index="kingdom-1"}')}`],
  ["POST", "/loki/api/v1/series", `match[]=${encodeURIComponent('{_index=~"king.*"}')}`],
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

  test("no request that names the hidden index beside its path learns of it", async () => {
    const authorization = await keyOf("editor", ["open-*"]);
    await admin("PUT", "/kingdom-1/_doc/kept", { word: SECRET, by: "king", "@timestamp": new Date() });
    await admin("PUT", "/open-1/_doc/twin?refresh=true", { word: "twin of crown", "@timestamp": new Date() });
    const told: string[] = [];
    for (const [method, path, body] of NAMED) {
      const isLines = typeof body === "string" && body.startsWith("{");
      const isForm = typeof body === "string" && body.includes("=");
      const type = isForm
        ? "application/x-www-form-urlencoded"
        : isLines
          ? "application/x-ndjson"
          : "application/json";
      const { status, text } = await target.request(path, {
        method,
        headers: { authorization, "content-type": type },
        body: typeof body === "string" ? body : JSON.stringify(body),
      });
      if (status === 500 || text.includes(SECRET))
        told.push(`${method} ${path}: ${status} ${text.slice(0, 300)}`);
    }
    assert.deepEqual(told, []);
  });

  test("what a reader has open of an index ends with the right to read it", async () => {
    const account = (method: string, path: string, body: object) =>
      target.request(path, { method, role: "admin", dashboard: true, body: JSON.stringify(body) });
    const made = await account("POST", "/api/auth/accounts", { ...READER, role: "viewer", indices: ["*"] });
    assert.equal(made.status, 201, made.text);
    const authorization = `Basic ${Buffer.from(`${READER.name}:${READER.password}`).toString("base64")}`;
    const ask = async (method: string, path: string, body: object) => {
      const headers = { authorization };
      return target.request(path, { method, headers, body: JSON.stringify(body) });
    };
    const opened = async (method: string, path: string, body: object) =>
      JSON.parse((await ask(method, path, body)).text) as Record<string, string>;
    // Other tests may have changed what there is: two pages are wanted.
    for (const id of ["1", "kept"])
      await admin("PUT", `/kingdom-1/_doc/${id}?refresh=true`, { word: SECRET, by: "king" });
    const scroll = await opened("POST", "/kingdom-1/_search?scroll=5m&size=1", MATCH_SECRET);
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
    const ended = await target.request(`/_async_search/${background["id"]}`, {
      method: "DELETE",
      headers: { authorization },
    });
    assert.equal(ended.status, 200, ended.text);
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

  test("an administrator's key for some indices gives no rights beyond them", async () => {
    const authorization = await keyOf("admin", ["open-*"]);
    for (const [method, path, body] of [
      ["POST", "/api/auth/keys", { name: "more", role: "admin", indices: ["*"] }],
      ["POST", "/api/auth/accounts", { ...READER, name: "more", role: "admin" }],
      ["PUT", "/_snapshot/mine", { type: "fs", settings: { location: "mine" } }],
      ["PUT", "/_ingest/pipeline/more", { processors: [{ set: { field: "_index", value: "kingdom-1" } }] }],
      ["GET", "/api/dead-letters", undefined],
      ["GET", "/.tailrace-audit-*/_search", undefined],
    ] as const) {
      const { status, text } = await target.request(path, {
        method,
        dashboard: path.startsWith("/api/"),
        headers: { authorization },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      assert.ok(status === 403 || JSON.parse(text).hits?.total === 0, `${method} ${path}: ${status} ${text}`);
    }
  });

  test("an item of a bulk request that rights refuse is in the audit log", async () => {
    const authorization = await keyOf("ingest", ["open-*"]);
    const body = '{"index":{"_index":"refused-item","_type":"_doc"}}\n{}\n';
    const { status, text } = await target.request("/_bulk", {
      method: "POST",
      headers: { authorization },
      body,
    });
    assert.equal(status, 200);
    assert.match(text, /"status":403/);
    await until("the refusal is noted", async () => {
      const log = "/.tailrace-audit-*/_search?q=event.action:request_refused&size=1000";
      return (await target.request(log, { role: "admin" })).text.includes("[refused-item]");
    });
  });

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
