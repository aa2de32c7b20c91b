/**
 * Ports that another program has when a process starts: the hub names the setting, ends and leaves nothing running; an input
 * waits for its port, while the rest works and health names it, and starts when the port is free.
 */

import assert from "node:assert/strict";
import { once } from "node:events";
import { appendFileSync, writeFileSync } from "node:fs";
import { type AddressInfo, connect, createServer } from "node:net";
import { type TestContext, test } from "node:test";
import { ask } from "#test/harness/http.ts";
import { startHub, TestHub } from "#test/harness/hub.ts";
import { count } from "#test/harness/search.ts";
import { startStack } from "#test/harness/stack.ts";
import { until } from "#test/harness/until.ts";
import { Workspace } from "#test/harness/workspace.ts";

/** Takes a port; `free` gives it up. */
async function takePort(t: TestContext): Promise<{ port: number; free: () => Promise<void> }> {
  const occupant = createServer().listen(0, "127.0.0.1");
  await once(occupant, "listening");
  const free = async (): Promise<void> => {
    if (!occupant.listening) return;
    occupant.close();
    await once(occupant, "close");
  };
  t.after(free);
  return { port: (occupant.address() as AddressInfo).port, free };
}

interface Health {
  readonly status: string;
  readonly reason?: string;
  readonly parts?: readonly { readonly part: string; readonly level: string; readonly reason: string }[];
}

async function send(port: number, text: string): Promise<void> {
  const socket = connect(port, "127.0.0.1");
  socket.end(text);
  await once(socket, "close");
}

for (const setting of ["http.port", "dashboard.port", "nats.port"]) {
  test(`a hub whose ${setting} is taken names it, ends, and leaves nothing running`, async (t) => {
    const workspace = new Workspace(t);
    const { port, free } = await takePort(t);
    const settings = { [setting]: port };
    const hub = new TestHub({ dataDir: workspace.path("data"), settings });
    workspace.defer(() => hub.destroy());
    await assert.rejects(hub.start(), new RegExp(`ended \\(status 1\\)[^]*${setting.replace(".", "\\.")}`));
    assert.deepEqual(hub.natsPids(), []);
    await free();
    await hub.start();
    await hub.stop();
  });
}

test("a pipeline's input whose port is taken is named; the hub works, and the input starts when the port is free", async (t) => {
  const workspace = new Workspace(t);
  const { port, free } = await takePort(t);
  const config = workspace.path("pipelines", "main.conf");
  writeFileSync(config, `input { tcp { host => "127.0.0.1" port => ${port} } }\n`);
  const hub = await startHub({ dataDir: workspace.path("data"), settings: { "path.config": [config] } });
  workspace.defer(() => hub.destroy());
  await until("health that names the port", async () => {
    const { parts } = await ask<Health>("GET", `${hub.dashboardUrl}/health`);
    const found = parts?.find(({ part }) => part === "pipelines");
    return (
      (found?.level === "degraded" && found.reason.includes(String(port))) ||
      Promise.reject(new Error(JSON.stringify(parts)))
    );
  });
  await free();
  await until("health that is well", async () => {
    const { parts } = await ask<Health>("GET", `${hub.dashboardUrl}/health`);
    return parts?.find(({ part }) => part === "pipelines")?.level === "ok";
  });
  await send(port, "one\n");
  await until("the line", async () => (await count(hub.searchUrl)) === 1);
});

test("an agent's input whose port is taken is named; the other one ships, and both do when the port is free", async (t) => {
  const workspace = new Workspace(t);
  const { port, free } = await takePort(t);
  const path = workspace.path("logs", "a.log");
  const inputs = [
    { type: "log", id: "files", paths: [path], scan_frequency: "200ms" },
    { type: "tcp", id: "lines", host: `127.0.0.1:${port}` },
  ];
  const { hub, agent } = await startStack(workspace, {
    agentSettings: { "shipper.inputs": inputs },
    input: { paths: [path] },
  });
  appendFileSync(path, "one\n");
  await until("the file's line", async () => (await count(hub.searchUrl)) === 1);
  const { status, reason = "" } = await ask<Health>("GET", `${agent.statusUrl}/health`);
  assert.equal(status, "degraded");
  assert.match(reason, new RegExp(`input lines cannot listen on .*${port}`));
  await free();
  await until("an agent that is well", async () => {
    const health = await ask<Health>("GET", `${agent.statusUrl}/health`);
    return health.status === "ok";
  });
  await send(port, "two\n");
  await until("the other line", async () => (await count(hub.searchUrl)) === 2);
  await agent.stop();
});
