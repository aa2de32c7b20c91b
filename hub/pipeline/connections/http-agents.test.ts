import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { httpAgents } from "./http-agents.ts";

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
