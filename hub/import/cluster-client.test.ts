import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { type TestContext, test } from "node:test";
import { gzipSync } from "node:zlib";
import { systemClock } from "#proto/kit/clock.ts";
import { listen } from "#test/harness/listen.ts";
import { ClusterClient } from "./cluster-client.ts";

/** A client, with credentials, of a source that answers each request so. */
async function clientOf(
  t: TestContext,
  body: string | Buffer,
  { status = 200, headers = {} }: { status?: number; headers?: Record<string, string> } = {},
): Promise<{ client: ClusterClient }> {
  const server = createServer((_request, response) => void response.writeHead(status, headers).end(body));
  const url = await listen(t, server);
  const secret = { authorization: "Basic c2VjcmV0" };
  const client = new ClusterClient({ url, headers: secret, signal: new AbortController().signal });
  t.after(() => client.close());
  return { client };
}

test("an answer of few bytes that takes much memory once it is read is refused", async (t) => {
  const { client } = await clientOf(t, `{"a":[${"[],".repeat(4_000_001)}[]]}`);
  await assert.rejects(client.ask("GET", "/"), {
    code: "request_too_large",
    message: /more than 8000000 values/,
  });
});

test("an answer that nests deep, or isn't JSON, counts as empty", async (t) => {
  for (const text of [`{"a":${"[".repeat(100_000)}`, `{"a":${"[".repeat(501)}${"]".repeat(501)}}`, "<html>"])
    assert.deepEqual(await (await clientOf(t, text)).client.ask("GET", "/"), {});
});

test("a compressed answer, which wasn't asked for, isn't unpacked", async (t) => {
  const packed = gzipSync(`{"a":${" ".repeat(1_048_576)}1}`);
  const { client } = await clientOf(t, packed, { headers: { "content-encoding": "gzip" } });
  assert.deepEqual(await client.ask("GET", "/"), {});
});

test("a redirect is a refusal: credentials go to the address that was given alone", async (t) => {
  const other: string[] = [];
  const elsewhere = createServer((request, response) => {
    other.push(request.url ?? "");
    response.end("{}");
  });
  const location = await listen(t, elsewhere);
  const { client } = await clientOf(t, "", { status: 302, headers: { location } });
  await assert.rejects(client.ask("GET", "/"), { code: "request_invalid", message: /302/ });
  assert.deepEqual(other, []);
});

test("an address where nothing has ever answered is refused at once; one that answered is asked again", async (t) => {
  const pauses: number[] = [];
  const clock = { ...systemClock, sleep: async (ms: number) => void pauses.push(ms) };
  const server = createServer((_request, response) => void response.end("{}"));
  const url = await listen(t, server);
  const options = { url, headers: {}, signal: new AbortController().signal, clock };
  const [first, second] = [new ClusterClient(options), new ClusterClient(options)];
  t.after(() => [first, second].map((each) => each.close()));
  await first.ask("GET", "/");
  server.closeAllConnections();
  server.close();
  await once(server, "close");
  await assert.rejects(second.ask("GET", "/"), { code: "unavailable", message: /doesn't answer/ });
  assert.deepEqual(pauses, []);
  await assert.rejects(first.until(options.signal).ask("GET", "/"), { code: "unavailable" });
  assert.equal(pauses.length, 8);
});
