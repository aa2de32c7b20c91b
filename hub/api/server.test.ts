import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { MAX_BODY_BYTES } from "#hub/api/http/route.ts";
import { AppError } from "#proto/kit/errors.ts";
import { FakeHub } from "#test/support/api/fake-hub.ts";
import { clientOf, gzipBomb } from "#test/support/api/http-client.ts";

const hub = new FakeHub();
const search = clientOf(() => hub.server.addresses.http);
const dashboard = clientOf(() => hub.server.addresses.dashboard);

before(async () => {
  writeFileSync(join(hub.uiFolder, "index.html"), "<!doctype html>page");
  writeFileSync(join(hub.uiFolder, "main-ABCDEFGH.js"), "script()");
  writeFileSync(join(hub.uiFolder, "main-ABCDEFGH.js.gz"), gzipSync("script()"));
  await hub.start();
});
after(() => hub.stop());

const ROUTING: readonly (readonly [string, string, number, unknown])[] = [
  ["GET", "/a/b/c/d/e", 400, { error: "no handler found for uri [/a/b/c/d/e] and method [GET]" }],
  ["DELETE", "/_refresh", 400, undefined],
  [
    "PUT",
    "/_cluster/health",
    405,
    {
      error: "Incorrect HTTP method for uri [/_cluster/health] and method [PUT], allowed: [GET, POST, HEAD]",
      status: 405,
    },
  ],
  ["OPTIONS", "/_cluster/health", 200, undefined],
  ["OPTIONS", "/", 200, undefined],
];

test("paths and methods that there aren't are answered as clients of 6.5 expect", async () => {
  for (const [method, path, status, body] of ROUTING) {
    const answer = await search(method, path);
    assert.equal(answer.status, status, `${method} ${path}: ${answer.text}`);
    if (body !== undefined) assert.deepEqual(answer.body, body);
  }
  assert.equal((await search("PUT", "/_cluster/health")).headers.allow, "GET,POST,HEAD");
});

test("an unknown parameter is refused with the nearest name", async () => {
  const { status, body } = await search("GET", "/_cat/indices?healthy=green");
  assert.equal(status, 400);
  assert.equal(
    body["error"]!["reason"],
    "request [/_cat/indices] contains unrecognized parameter: [healthy] -> did you mean [health]?",
  );
});

test("a body of a type that isn't JSON is refused", async () => {
  const types: readonly (readonly [string, string, number])[] = [
    ["/a/_doc", "text/plain", 406],
    ["/a/_doc", "application/x-www-form-urlencoded", 406],
    ["/a/_doc", "application/x-ndjson", 406],
    ["/a/_doc", "application/json; charset=utf-8", 201],
    ["/a/_doc", "application/vnd.elasticsearch+json;compatible-with=7", 201],
    ["/_analyze", "", 406],
  ];
  for (const [path, type, status] of types) {
    const answer = await search("POST", path, '{"a":1}', { "content-type": type });
    assert.equal(answer.status, status, `${path} ${type}: ${answer.text}`);
    if (status === 406)
      assert.deepEqual(answer.body, { error: `Content-Type header [${type}] is not supported`, status: 406 });
  }
});

test("bodies come packed, chunked, with GET, or as the parameter source", async () => {
  const body = '{"tokenizer":"standard","text":"one two"}';
  const json = { "content-type": "application/json" };
  const source = `source=${encodeURIComponent(body)}&source_content_type=application/json`;
  const answers = [
    await search("POST", "/_analyze", gzipSync(body), { ...json, "content-encoding": "gzip" }),
    await search("POST", "/_analyze", brotliCompressSync(body), { ...json, "content-encoding": "br" }),
    await search("POST", "/_analyze", body, { ...json, "transfer-encoding": "chunked" }),
    await search("GET", "/_analyze", body),
    await search("GET", `/_analyze?${source}`),
  ];
  for (const answer of answers) {
    assert.equal(answer.status, 200, answer.text);
    assert.equal(answer.body["tokens"]!.length, 2);
  }
});

test("answers are packed for who accepts it, unless it sent more than comes back", async () => {
  const body = JSON.stringify({ tokenizer: "standard", text: "word ".repeat(500) });
  const accept = { "content-type": "application/json", "accept-encoding": "gzip, deflate" };
  const packings: readonly [body: string, headers: Record<string, string>, packing: string | undefined][] = [
    [body, accept, "gzip"],
    [body, { ...accept, "transfer-encoding": "chunked" }, "gzip"],
    [body, { ...accept, "accept-encoding": "br" }, undefined],
    [body + " ".repeat(200_000), accept, undefined],
    ['{"tokenizer":"standard","text":"word"}', accept, undefined],
  ];
  for (const [sent, headers, packing] of packings) {
    const answer = await search("POST", "/_analyze", sent, headers);
    assert.equal(answer.status, 200);
    assert.equal(answer.headers["content-encoding"], packing);
  }
});

test("a body beyond the limit is refused, packed or not, and the next request works", async () => {
  const head = { "content-type": "application/json", "content-length": String(MAX_BODY_BYTES + 1) };
  const announced = await search("POST", "/a/_doc", "{", head);
  assert.equal(announced.status, 413);
  const bomb = gzipBomb(MAX_BODY_BYTES + 1, " ");
  const packed = await search("POST", "/a/_doc", bomb, {
    "content-type": "application/json",
    "content-encoding": "gzip",
  });
  assert.equal(packed.status, 413);
  assert.match(packed.text, /larger than 104857600 bytes/);
  const broken = await search("POST", "/_analyze", "no gzip", {
    "content-type": "application/json",
    "content-encoding": "gzip",
  });
  assert.equal(broken.status, 400);
  assert.equal((await search("GET", "/")).status, 200);
  assert.match(await hub.metrics.text(), /tailrace_api_bodies_bytes 0\n/);
});

test("a request that is refused before its body came keeps its connection, unless the body may be long", async () => {
  const ask = (length: string): string =>
    `PUT /_cluster/health HTTP/1.1\r\nhost: localhost\r\n${length}\r\n\r\n`;
  const short = await conversation(`${ask("content-length: 2")}{`, `}${ask("content-length: 0")}`);
  assert.deepEqual(short, ["405", "405"]);
  assert.deepEqual(await conversation(ask("content-length: 99999999"), ""), ["405", "closed"]);
  assert.deepEqual(await conversation(ask("transfer-encoding: chunked"), ""), ["405", "closed"]);
});

/** Statuses on one connection; `second` is sent when the first answer came. */
async function conversation(first: string, second: string): Promise<string[]> {
  const socket = connect(Number(new URL(hub.server.addresses.http).port), "127.0.0.1");
  socket.setEncoding("utf8").write(first);
  const seen: string[] = [];
  try {
    for await (const text of socket as AsyncIterable<string>) {
      for (const [, status] of text.matchAll(/HTTP\/1\.1 (\d+)/g)) seen.push(status!);
      if (seen.length === 2) return seen;
      socket.write(second);
    }
  } finally {
    socket.destroy();
  }
  return [...seen, "closed"];
}

test("pretty, filter_path and format shape every answer, errors too", async () => {
  assert.match((await search("GET", "/?pretty")).text, /^\{\n {2}"name" : "hub-1",\n/);
  assert.deepEqual((await search("GET", "/?filter_path=version.n*,tagline,-tag*")).body, {
    version: { number: "6.5.4" },
  });
  const yaml = await search("GET", "/missing?format=yaml");
  assert.equal(yaml.status, 404);
  assert.match(yaml.text, /^---\nerror:\n {2}root_cause:\n/);
  assert.equal(yaml.headers["content-type"], "application/yaml");
  assert.equal((await search("GET", "/missing?filter_path=status")).text, '{"status":404}');
  assert.equal((await search("GET", "/?format=cbor")).status, 400);
});

test("HEAD answers with the status and no body", async () => {
  assert.deepEqual([(await search("HEAD", "/")).status, (await search("HEAD", "/")).text], [200, ""]);
  assert.equal((await search("HEAD", "/missing")).status, 404);
});

test("a failure of the log is told as one, with its status", async () => {
  hub.documents.failure = new AppError("journal_full", "the log is full");
  const full = await search("PUT", "/a/_doc/1", { a: 1 });
  assert.equal(full.status, 429);
  assert.equal(full.body["error"]!["type"], "es_rejected_execution_exception");
});

test("an unforeseen error says nothing of its inside", async () => {
  hub.documents.failure = new TypeError("secret path /x") as unknown as AppError;
  const answer = await search("PUT", "/a/_doc/1", { a: 1 });
  assert.equal(answer.status, 500);
  assert.doesNotMatch(answer.text, /secret/);
});

test("a write ends its wait when the client goes away", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const write = hub.documents.write.bind(hub.documents);
  hub.documents.write = (_items, { signal }) => {
    signal.addEventListener("abort", () => resolve());
    controller.abort();
    return new Promise(() => undefined);
  };
  const controller = new AbortController();
  const url = `${hub.server.addresses.http}/a/_doc/1`;
  const headers = { "content-type": "application/json" };
  await assert.rejects(fetch(url, { method: "PUT", body: "{}", headers, signal: controller.signal }));
  await promise;
  hub.documents.write = write;
});

test("names that were pointed at this machine and foreign pages are refused", async () => {
  for (const send of [search, dashboard]) {
    assert.equal((await send("GET", "/", undefined, { host: "evil.example" })).status, 403);
    assert.equal((await send("GET", "/", undefined, { host: "localhost:1" })).status, 200);
    assert.equal((await send("GET", "/", undefined, { host: "[::1]:9200" })).status, 200);
    const origin = "https://evil.example";
    assert.equal((await send("POST", "/es/a/_doc", { a: 1 }, { origin })).status, 403);
  }
  const own = { origin: hub.server.addresses.dashboard };
  assert.equal((await dashboard("POST", "/es/a/_doc", { a: 1 }, own)).status, 201);
  assert.equal((await search("POST", "/a/_doc", { a: 1 }, own)).status, 201);
});

test("the hub interface shows status, agents, health, metrics and its own description", async () => {
  assert.deepEqual((await dashboard("GET", "/api/status")).body, { version: "1" });
  assert.deepEqual((await dashboard("GET", "/api/agents")).body, [{ name: "web-1" }]);
  assert.deepEqual((await dashboard("GET", "/api/agents/a-1")).body, { id: "a-1", files: [] });
  assert.equal((await dashboard("GET", "/api/agents/a-2")).status, 404);
  assert.equal((await dashboard("GET", "/health")).status, 200);
  hub.ready = false;
  assert.equal((await dashboard("GET", "/health")).status, 503);
  hub.ready = true;
  assert.match(
    (await dashboard("GET", "/metrics")).text,
    /tailrace_api_requests_total\{route="\/api\/status",status="200"\}/,
  );
  const { paths } = (await dashboard("GET", "/api/openapi.json")).body;
  assert.ok(
    paths!["/es/{index}/_doc/{id}"] === undefined && paths!["/es/{index}/{type}/{id}"]!["put"] !== undefined,
  );
  assert.ok(paths!["/api/live"]!["get"] !== undefined);
  const live = await dashboard("GET", "/api/live");
  assert.deepEqual([live.status, /is a WebSocket/.test(live.text)], [400, true]);
  assert.equal((await dashboard("GET", "/api/nothing")).status, 400);
});

test("the search interface stands below /es on the dashboard's port", async () => {
  assert.equal((await dashboard("GET", "/es/")).body["tagline"], "You Know, for Search");
  assert.equal((await dashboard("GET", "/es")).body["tagline"], "You Know, for Search");
  assert.match((await dashboard("GET", "/es/missing")).text, /index_not_found_exception/);
});

test("pages come with a strict policy; only what has a hash in its name is kept", async () => {
  const page = await dashboard("GET", "/");
  assert.equal(page.text, "<!doctype html>page");
  assert.match(
    page.headers["content-security-policy"] as string,
    /^default-src 'none'; script-src 'self'; style-src 'self'/,
  );
  assert.equal(page.headers["cache-control"], "no-cache");
  const script = await dashboard("GET", "/main-ABCDEFGH.js", undefined, { "accept-encoding": "gzip" });
  assert.equal(script.headers["content-encoding"], "gzip");
  assert.match(script.headers["cache-control"] as string, /immutable/);
  const deep = await dashboard("GET", "/discover/x", undefined, { accept: "text/html" });
  assert.deepEqual([deep.status, deep.text], [200, "<!doctype html>page"]);
  assert.equal((await dashboard("GET", "/gone-ABCDEFGH.js")).status, 404);
  assert.notEqual((await dashboard("GET", "/..%2f..%2fetc/passwd")).status, 200);
});

test("a port that is taken is named with its setting, and nothing is left listening", async () => {
  const taken = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => taken.once("listening", resolve));
  const address = taken.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const second = new FakeHub();
  await assert.rejects(second.start({ search: { host: "127.0.0.1", port } }), (error: AppError) => {
    assert.equal(error.code, "port_taken");
    assert.equal(error.message, `port ${port} is taken by another process; stop it or set http.port`);
    return true;
  });
  await second.stop();
  taken.close();
});
