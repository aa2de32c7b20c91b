import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer, type IncomingMessage, type RequestListener, request } from "node:http";
import { createServer as createHttps } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { type TestContext, test } from "node:test";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { issueCertificate, makeAuthority } from "#test/harness/certificates.ts";
import { discardBody, httpAgents, TlsFetch } from "./http-agents.ts";

/** A server with a certificate, and a client that trusts it. */
async function secure(t: TestContext, answer: RequestListener) {
  const folder = mkdtempSync(join(tmpdir(), "tailrace-agents-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const authority = makeAuthority(folder);
  const own = issueCertificate(folder, "server", authority, ["localhost"]);
  let connections = 0;
  const server = createHttps({ cert: readFileSync(own.certificate), key: readFileSync(own.key) }, answer)
    .on("secureConnection", () => connections++)
    .listen(0, "localhost");
  await once(server, "listening");
  const client = new TlsFetch({ ca: readFileSync(authority.certificate) });
  t.after(() => {
    client.close();
    server.close();
  });
  const base = `https://localhost:${(server.address() as AddressInfo).port}`;
  const ask = (path: string, method = "GET"): Promise<Response> =>
    client.fetch(new URL(`${base}${path}`), {
      method,
      headers: {},
      redirect: "manual",
      signal: AbortSignal.timeout(30_000),
    });
  return { ask, connections: () => connections };
}

test("the connection of an answer that is discarded serves the next request, unless the answer is long or slow", async (t) => {
  const ended: string[] = [];
  const { ask, connections } = await secure(t, (incoming, response) => {
    response.on("close", () => ended.push(incoming.url!));
    response.write("taken");
    if (incoming.url === "/long") response.write(Buffer.alloc(1_000_000));
    else if (incoming.url !== "/slow") response.end();
  });
  for (const path of ["/1", "/2", "/3"]) await discardBody(await ask(path));
  assert.equal(connections(), 1);
  await discardBody(await ask("/long"));
  await discardBody(await ask("/slow"));
  await discardBody(await ask("/4"));
  assert.equal(connections(), 3);
  assert.deepEqual(ended.toSorted(), ["/1", "/2", "/3", "/4", "/long", "/slow"]);
});

test("an answer is unpacked over TLS as fetch unpacks it, and requests name their sender", async (t) => {
  const packed: Record<string, Buffer> = {
    gzip: gzipSync("text"),
    "x-gzip": gzipSync("text"),
    deflate: deflateSync("text"),
    br: brotliCompressSync("text"),
    identity: Buffer.from("text"),
  };
  const asked: IncomingMessage["headers"][] = [];
  const { ask } = await secure(t, ({ url, headers }, response) => {
    asked.push(headers);
    const encoding = url!.slice(1);
    response.writeHead(200, { "Content-Encoding": encoding }).end(packed[encoding]);
  });
  for (const encoding of Object.keys(packed)) {
    assert.equal(await (await ask(`/${encoding}`)).text(), "text", encoding);
    assert.equal(await (await ask(`/${encoding}`, "HEAD")).text(), "", encoding);
  }
  assert.deepEqual([asked[0]!["user-agent"], asked[0]!["accept-encoding"]], ["tailrace", "gzip"]);
  for (const encoding of Object.keys(packed)) {
    packed[encoding] = Buffer.alloc(0);
    assert.equal(await (await ask(`/${encoding}`)).text(), "", encoding);
  }
  packed["gzip"] = Buffer.from("no gzip");
  await assert.rejects((await ask("/gzip")).text());
});

test("agents go by the environment's proxy where the runtime does", async (t) => {
  const asked: (string | undefined)[] = [];
  const proxy = createServer((incoming, response) => {
    asked.push(incoming.url);
    response.end("by proxy");
  }).listen(0, "127.0.0.1");
  await once(proxy, "listening");
  t.after(() => proxy.close());
  const before = { ...process.env };
  t.after(() => {
    process.env = before;
  });
  process.env["HTTP_PROXY"] = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  process.env["NODE_USE_ENV_PROXY"] = "1";
  const agents = httpAgents(undefined);
  t.after(() => agents.http.destroy());
  const sent = request({ hostname: "search.invalid", port: 9200, path: "/_bulk", agent: agents.http });
  sent.end();
  const [answer] = await once(sent, "response");
  assert.equal(await text(answer), "by proxy");
  assert.deepEqual(asked, ["http://search.invalid:9200/_bulk"]);
  delete process.env["NODE_USE_ENV_PROXY"];
  const direct = request({ hostname: "search.invalid", port: 9200, agent: httpAgents(undefined).http });
  direct.end();
  await assert.rejects(once(direct, "response"), { code: /ENOTFOUND|EAI_AGAIN/ });
});
