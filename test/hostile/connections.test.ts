/** Malformed and slow connections, against a hub with TLS and sign-in; other clients must be served meanwhile. */

import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import { gzipSync } from "node:zlib";
import { MIB } from "#proto/kit/units.ts";
import { SecuredHub } from "./secured-hub.ts";

/** A request head must arrive within 20 s; the checks come every 5 s. */
const HEAD_LIMIT_MS = 26_000;
const SLOW_CONNECTIONS = 200;

suite("malformed and slow connections", () => {
  let target: SecuredHub;
  before(async () => {
    target = await SecuredHub.start();
  });
  after(() => target.close());

  async function isServed(): Promise<void> {
    const started = performance.now();
    assert.equal((await target.request("/", { role: "viewer" })).status, 200);
    assert.ok(performance.now() - started < 2_000, "answered within 2 s");
  }

  /** Sends bytes and returns all that comes back until the hub closes the connection. */
  async function sent(bytes: string): Promise<string> {
    const socket = await target.connection();
    const chunks: Buffer[] = [];
    socket.on("data", (chunk: Buffer) => chunks.push(chunk));
    socket.write(bytes);
    await new Promise((closed) => socket.once("close", closed));
    return Buffer.concat(chunks).toString("latin1");
  }

  const head = (lines: string): string =>
    `POST /x/_doc HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n${lines}\r\n\r\n`;
  const smuggled = "GET /_cat/indices HTTP/1.1\r\nHost: localhost\r\n\r\n";
  for (const [what, bytes] of [
    ["two lengths", `${head("Content-Length: 2\r\nContent-Length: 44")}{}${smuggled}`],
    ["a length and chunks", `${head("Content-Length: 5\r\nTransfer-Encoding: chunked")}0\r\n\r\n${smuggled}`],
    ["an unknown coding", `${head("Transfer-Encoding: xchunked")}${smuggled}`],
    ["a bare line feed in a header", `${head("X: a\nContent-Length: 44")}${smuggled}`],
    ["a folded header", `${head("X: a\r\n Content-Length: 44")}${smuggled}`],
    ["no HTTP", "\u0016\u0003\u0001 hello\r\n\r\n"],
  ] as const) {
    test(`${what}: one refusal, then the connection ends`, async () => {
      const answer = await sent(bytes);
      assert.equal(answer.match(/HTTP\/1\.1 \d{3}/g)?.length ?? 0, 1, answer.slice(0, 300));
      assert.match(answer, /^HTTP\/1\.1 4\d\d /);
      await isServed();
    });
  }

  test(`${SLOW_CONNECTIONS} requests that arrive byte by byte end at the limit, and others are served`, async () => {
    const sockets = await Promise.all(Array.from({ length: SLOW_CONNECTIONS }, () => target.connection()));
    const ended = sockets.map((socket) => new Promise<void>((closed) => socket.once("close", closed)));
    for (const socket of sockets) socket.resume();
    const drip = setInterval(() => {
      for (const socket of sockets) if (socket.writable) socket.write("G");
    }, 1_000);
    try {
      await isServed();
      const limit = AbortSignal.timeout(HEAD_LIMIT_MS);
      await Promise.race([
        Promise.all(ended),
        new Promise((_, fail) => limit.addEventListener("abort", () => fail(new Error("still open")))),
      ]);
      await isServed();
    } finally {
      clearInterval(drip);
      for (const socket of sockets) socket.destroy();
    }
  });

  test("a small body that unpacks to 300 MB is refused", async () => {
    const bomb = gzipSync(Buffer.alloc(300 * MIB, " "));
    assert.ok(bomb.length < MIB);
    const { status } = await target.request("/x/_doc", {
      method: "POST",
      role: "ingest",
      headers: { "content-encoding": "gzip" },
      body: new Uint8Array(bomb),
    });
    assert.equal(status, 413);
    await isServed();
  });
});
