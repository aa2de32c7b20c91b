/** What a listener does with bytes and pages that mean no good. */

import assert from "node:assert/strict";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { Transform } from "node:stream";
import { after, before, suite, test } from "node:test";
import { createGunzip } from "node:zlib";
import { hubErrorBody } from "#hub/api/http/error-body.ts";
import { Listener, type ListenerLimits } from "#hub/api/http/listener.ts";
import { silentLogger } from "#proto/kit/log.ts";
import { FakeHub } from "#test/support/api/fake-hub.ts";
import { clientOf, gzipBomb } from "#test/support/api/http-client.ts";
import { replaceMethod } from "#test/support/kit/replaced-method.ts";

const hub = new FakeHub();
const search = clientOf(() => hub.server.addresses.http);
const dashboard = clientOf(() => hub.server.addresses.dashboard);

before(async () => {
  writeFileSync(join(hub.uiFolder, "index.html"), "<!doctype html>page");
  await hub.start();
});
after(() => hub.stop());

/** Sends bytes as they are and resolves with all that comes until the listener ends the connection. */
async function sendRaw(url: string, bytes: string): Promise<string> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on("error", () => undefined);
  let answer = "";
  socket.on("data", (chunk: Buffer) => {
    answer += chunk.toString();
  });
  socket.write(bytes);
  await once(socket, "close");
  return answer;
}

const BODY = "Host: localhost\r\nContent-Type: application/json\r\n";
const BROKEN: readonly (readonly [what: string, bytes: string, status: number, why: RegExp])[] = [
  [
    "two kinds of length",
    `POST /a/_doc HTTP/1.1\r\n${BODY}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /b HTTP/1.1\r\n\r\n`,
    400,
    /Transfer-Encoding|Content-Length/,
  ],
  [
    "two lengths",
    `POST /a/_doc HTTP/1.1\r\n${BODY}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{} `,
    400,
    /Content-Length/,
  ],
  [
    "an unknown coding",
    `POST /a/_doc HTTP/1.1\r\n${BODY}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n`,
    400,
    /Transfer-Encoding|not valid/,
  ],
  ["bare line feeds", "GET / HTTP/1.1\nHost: localhost\n\n", 400, /not valid HTTP/],
  ["a folded header", "GET / HTTP/1.1\r\nHost: localhost\r\nX: a\r\n b\r\n\r\n", 400, /not valid HTTP/],
  ["a blank before the colon", "GET / HTTP/1.1\r\nHost: localhost\r\nX : a\r\n\r\n", 400, /not valid HTTP/],
  [
    "a head of 20 kB",
    `GET / HTTP/1.1\r\nHost: localhost\r\nX: ${"a".repeat(20_000)}\r\n\r\n`,
    431,
    /too long together/,
  ],
];

for (const [what, bytes, status, why] of BROKEN) {
  test(`${what}: answered once with the reason, and the connection ends`, async () => {
    for (const url of Object.values(hub.server.addresses)) {
      const answer = await sendRaw(url, bytes);
      assert.match(answer, new RegExp(`^HTTP/1.1 ${status} `));
      assert.equal(answer.match(/HTTP\/1\.1 \d/g)?.length, 1, "nothing after it is taken for a request");
      assert.match(answer, why);
    }
  });
}

test("two hosts are refused, whichever is ours", async () => {
  for (const url of Object.values(hub.server.addresses)) {
    for (const hosts of ["Host: localhost\r\nhost: evil.example", "Host: evil.example\r\nHOST: localhost"]) {
      const answer = await sendRaw(url, `GET / HTTP/1.1\r\n${hosts}\r\nConnection: close\r\n\r\n`);
      assert.match(answer, /^HTTP\/1.1 400 .*two Host headers/s);
    }
  }
});

test("pages of other sites can neither change anything nor make a part of themselves of what is here", async () => {
  const own = { origin: hub.server.addresses.dashboard };
  const elsewhere: readonly Readonly<Record<string, string>>[] = [
    { "sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors", "sec-fetch-dest": "image" },
    { "sec-fetch-site": "same-site", "sec-fetch-mode": "no-cors", "sec-fetch-dest": "script" },
    { "sec-fetch-site": "cross-site", "sec-fetch-mode": "cors", "sec-fetch-dest": "empty", origin: "null" },
    { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "iframe" },
  ];
  for (const send of [search, dashboard]) {
    for (const headers of elsewhere) assert.equal((await send("GET", "/", undefined, headers)).status, 403);
    for (const origin of ["null", "https://evil.example", `${own.origin}.evil.example`]) {
      const form = { origin, "content-type": "text/plain" };
      assert.equal((await send("POST", "/es/a/_doc", "{}", form)).status, 403);
    }
    const link = {
      "sec-fetch-site": "cross-site",
      "sec-fetch-mode": "navigate",
      "sec-fetch-dest": "document",
    };
    assert.equal((await send("GET", "/", undefined, link)).status, 200);
    assert.equal((await send("GET", "/", undefined, { "sec-fetch-site": "none" })).status, 200);
    assert.equal((await send("GET", "/", undefined, { ...elsewhere[0], ...own })).status, 200);
  }
});

test("what is stored is never taken for anything but JSON or text, whatever it looks like", async () => {
  const answers = [search("GET", "/_cat/indices"), dashboard("GET", "/es/"), dashboard("GET", "/api/status")];
  for (const { headers } of await Promise.all([...answers, dashboard("GET", "/"), search("GET", "/missing")]))
    assert.equal(headers["x-content-type-options"], "nosniff");
});

suite("limits of a listener", () => {
  async function started(
    limits: Partial<ListenerLimits>,
  ): Promise<{ listener: Listener; refused: () => number }> {
    let refused = 0;
    const listener = new Listener({
      host: "127.0.0.1",
      port: 0,
      portSetting: "http.port",
      origins: () => [],
      errorBody: hubErrorBody,
      onRefused: () => refused++,
      limits,
      log: silentLogger(),
    });
    await listener.start();
    return { listener, refused: () => refused };
  }

  test("a head that comes byte by byte ends the connection when its time is over", async () => {
    const { listener } = await started({ headTimeoutMs: 20, checkMs: 10 });
    try {
      assert.match(await sendRaw(listener.url, "GET / HTTP/1.1\r\nHost: loc"), /^HTTP\/1.1 408 .*in time/s);
    } finally {
      await listener.stop();
    }
  });

  test("connections beyond the limit are closed at once and counted, the others go on", async () => {
    const { listener, refused } = await started({ connections: 1 });
    const first: Socket = connect(listener.port, "127.0.0.1");
    try {
      await once(first, "connect");
      assert.equal(await sendRaw(listener.url, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"), "");
      assert.equal(refused(), 1);
      first.write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
      const [answer] = (await once(first, "data")) as [Buffer];
      assert.match(answer.toString(), /^HTTP\/1.1 404/);
    } finally {
      first.destroy();
      await listener.stop();
    }
  });
});

suite("a body", () => {
  const NESTED = "[".repeat(2_000) + "]".repeat(2_000);

  for (const [method, path, body] of [
    ["POST", "/_search", `{"query":${NESTED}}`],
    ["PUT", "/nested", `{"mappings":{"_meta":{"a":${NESTED}}}}`],
    ["POST", "/_aliases", NESTED],
    ["POST", "/_msearch", `{}\n{"query":${NESTED}}\n`],
    ["POST", "/_bulk", `{"index":{"_index":"a","_source":${NESTED}}}\n{}\n`],
    ["POST", "/_bulk", `${"[".repeat(1_000_000)}\n{}\n`],
  ] as const) {
    test(`of ${path} nested 2,000 deep and more is refused with 400`, async () => {
      const type = /_bulk|_msearch/.test(path) ? "application/x-ndjson" : "application/json";
      const { status, text } = await search(method, path, body, { "content-type": type });
      assert.match(text, /nested more than \d+ levels deep/);
      // _msearch answers each search with a status of its own.
      assert.equal(status, 400);
    });
  }

  test("of 90 kB that unpacks to 95 MB is refused while it unpacks", async (t) => {
    const bomb = gzipBomb(95_000_000, "[");
    assert.ok(bomb.length < 100_000);
    const { prototype } = createGunzip().constructor as unknown as { prototype: Transform };
    let bytes = 0;
    replaceMethod(t, prototype, "push", function (this: Transform, chunk: Buffer | null) {
      bytes += chunk?.length ?? 0;
      return Transform.prototype.push.call(this, chunk);
    });
    const { status, text } = await search("POST", "/_search", bomb, {
      "content-type": "application/json",
      "content-encoding": "gzip",
    });
    assert.equal(status, 413, text);
    assert.ok(bytes > 10_000_000 && bytes < 20_000_000, `${bytes} bytes were unpacked`);
  });

  for (const [path, bytes] of [
    ["/_analyze", 2_000_000],
    ["/_search", 11_000_000],
    ["/_cluster/settings", 2_000_000],
  ] as const) {
    test(`of ${bytes} bytes is too large for ${path}`, async () => {
      const body = JSON.stringify({ text: "a".repeat(bytes) });
      const method = path === "/_cluster/settings" ? "PUT" : "POST";
      assert.equal((await search(method, path, body)).status, 413);
    });
  }
});
