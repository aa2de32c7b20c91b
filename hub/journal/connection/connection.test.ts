import assert from "node:assert/strict";
import { test } from "node:test";
import { silentLogger } from "#proto/kit/log.ts";
import { freePorts } from "#test/harness/free-ports.ts";
import { startGreeter } from "#test/support/journal/greeter.ts";
import { Connection } from "./connection.ts";

test("servers that are away when a hub starts are tried after a loss, too", async (t) => {
  const greeter = await startGreeter(t);
  const servers = [...(await freePorts(7)).map((port) => `nats://127.0.0.1:${port}`), greeter];
  const connection = new Connection({ name: "hub-1", log: silentLogger(), target: () => ({ servers }) });
  await connection.start();
  t.after(() => connection.stop());
  const known = connection.nats.getServers().map(({ listen }) => `nats://${listen}`);
  assert.deepEqual(known.sort(), servers.toSorted());
});
