import assert from "node:assert/strict";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { isPrivateAddress, type Notice, Notifier } from "./notifier.ts";
import type { Channel } from "./rule.ts";

test("addresses that aren't on the public internet are known", () => {
  const hidden =
    "127.0.0.1 10.1.2.3 172.16.0.1 192.168.1.1 169.254.169.254 100.64.0.1 0.0.0.0 ::1 :: fe80::1 fd00::1 ::ffff:127.0.0.1 ::ffff:10.0.0.1 64:ff9b::7f00:1 2002:7f00:1:: ::127.0.0.1 ::ffff:0:7f00:1 192.88.99.1 224.0.0.1 255.255.255.255 nonsense";
  for (const address of hidden.split(" ")) assert.equal(isPrivateAddress(address), true, address);
  for (const address of ["1.1.1.1", "93.184.216.34", "2606:4700:4700::1111", "::ffff:8.8.8.8"])
    assert.equal(isPrivateAddress(address), false, address);
});

test("a webhook gets JSON and no redirect is followed; private addresses are refused by default", async () => {
  const requests: { body: string; key: unknown }[] = [];
  let status = 200;
  const server = createServer((request: IncomingMessage, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (chunk: string) => {
      body += chunk;
    });
    request.on("end", () => {
      requests.push({ body, key: request.headers["idempotency-key"] });
      response.writeHead(status, { location: "/elsewhere" }).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const notice: Notice = {
    id: "a",
    title: "T",
    event: "firing",
    key: "a/1/firing",
    count: 7,
    condition: "above 5 in 5m",
    at: "2026-01-31T12:00:00Z",
    link: "http://hub/",
  };
  const options = { smtpUrl: "", smtpFrom: "" };
  try {
    const open = new Notifier({ ...options, allowPrivate: true });
    const channel: Channel = { type: "webhook", url: `http://localhost:${port}/hook` };
    await open.send(channel, notice);
    assert.equal(requests[0]?.key, "a/1/firing");
    assert.match((JSON.parse(requests[0].body) as { text: string }).text, /^T: 7 lines, above 5 in 5m/);
    for (status of [302, 500]) await assert.rejects(open.send(channel, notice), { code: "unavailable" });
    assert.equal(requests.length, 3);
    const closed = new Notifier({ ...options, allowPrivate: false });
    for (const host of ["localhost", "127.0.0.1", "[::1]", "[::ffff:127.0.0.1]", "2130706433"])
      await assert.rejects(
        closed.send({ type: "webhook", url: `http://${host}:${port}/` }, notice),
        { code: "forbidden" },
        host,
      );
    assert.equal(requests.length, 3);
    await assert.rejects(open.send({ type: "email", to: ["a@b.cd"] }, notice), /alerts\.smtp\.url/);
  } finally {
    server.close();
  }
});
