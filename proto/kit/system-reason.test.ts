import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { type AddressInfo, connect, createServer } from "node:net";
import { test } from "node:test";
import { systemReason } from "./system-reason.ts";

test("a missing file and a folder are described in words", () => {
  for (const [path, reason] of [
    ["/nowhere/at/all", "there is no such file"],
    ["/", "it is a folder"],
  ] as const) {
    let said = "";
    try {
      readFileSync(path);
    } catch (error) {
      said = systemReason(error);
    }
    assert.equal(said, reason);
  }
});

test("a port without a listener is described in words, also where a name has several addresses", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  const [error] = (await once(connect(port, "localhost"), "error").catch((thrown: unknown) => [thrown])) as [
    unknown,
  ];
  assert.equal(systemReason(error), "nothing listens there");
});

test("any other error keeps its message", () => {
  assert.equal(systemReason(new Error("odd")), "odd");
  assert.equal(systemReason("odd"), "odd");
});
