import assert from "node:assert/strict";
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { silentLogger } from "#proto/kit/log.ts";
import { ServiceManager } from "./sd-notify.ts";

/** A stand-in for systemd-notify that records its messages, and a service that uses it. */
function service(t: TestContext, extra: NodeJS.ProcessEnv = {}, body = "") {
  const folder = mkdtempSync(join(tmpdir(), "tailrace-notify-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const noted = join(folder, "noted");
  const program = join(folder, "systemd-notify");
  writeFileSync(program, `#!/bin/sh\necho "$*" >> "${noted}"\n${body}\n`);
  chmodSync(program, 0o755);
  const env = { PATH: `${folder}:/usr/bin:/bin`, NOTIFY_SOCKET: "/run/systemd/notify", ...extra };
  const manager = new ServiceManager({ env, log: silentLogger() });
  t.after(() => manager.stop());
  const messages = () => (existsSync(noted) ? readFileSync(noted, "utf8").trim().split("\n") : []);
  return { manager, messages };
}

test("readiness and the stop are notified in order", async (t) => {
  const { manager, messages } = service(t);
  manager.ready();
  manager.stopping();
  await manager.stop();
  assert.deepEqual(messages(), ["READY=1", "STOPPING=1"]);
});

test("a start that takes long is extended each minute, and not once the service works", async (t) => {
  t.mock.timers.enable({ apis: ["setInterval"] });
  const { manager, messages } = service(t);
  manager.starting();
  for (let minute = 0; minute < 2; minute++) {
    t.mock.timers.tick(60_000);
    await manager.flushed();
  }
  manager.ready();
  t.mock.timers.tick(600_000);
  await manager.stop();
  const extension = "EXTEND_TIMEOUT_USEC=120000000";
  assert.deepEqual(messages(), [extension, extension, "READY=1"]);
});

test("a start without a manager, or one that fails, extends nothing", async (t) => {
  t.mock.timers.enable({ apis: ["setInterval"] });
  const [alone, failed] = [service(t, { NOTIFY_SOCKET: "" }), service(t)];
  alone.manager.starting();
  failed.manager.starting();
  await failed.manager.stop();
  t.mock.timers.tick(600_000);
  await Promise.all([alone, failed].map(({ manager }) => manager.flushed()));
  assert.deepEqual([...alone.messages(), ...failed.messages()], []);
});

test("the watchdog is notified twice in its interval, and not after the stop", async (t) => {
  t.mock.timers.enable({ apis: ["setInterval"] });
  const { manager, messages } = service(t, { WATCHDOG_USEC: "20000000", WATCHDOG_PID: String(process.pid) });
  manager.ready();
  await manager.flushed();
  for (let ping = 0; ping < 2; ping++) {
    t.mock.timers.tick(10_000);
    await manager.flushed();
  }
  assert.deepEqual(messages(), ["READY=1", "WATCHDOG=1", "WATCHDOG=1"]);
  await manager.stop();
  t.mock.timers.tick(60_000);
  await turn();
  assert.equal(messages().length, 3);
});

test("a slow manager gets one message at a time", async (t) => {
  t.mock.timers.enable({ apis: ["setInterval"] });
  const { manager, messages } = service(t, { WATCHDOG_USEC: "2000000" });
  manager.ready();
  t.mock.timers.tick(10_000);
  await manager.stop();
  assert.deepEqual(messages(), ["READY=1"], "what says the same isn't queued");
});

for (const [what, env] of [
  ["without a manager that listens", { NOTIFY_SOCKET: "" }],
  [
    "with a watchdog of another process",
    { NOTIFY_SOCKET: "/run/systemd/notify", WATCHDOG_USEC: "20000000", WATCHDOG_PID: "1" },
  ],
] as const) {
  test(`${what} the watchdog is left alone`, async (t) => {
    t.mock.timers.enable({ apis: ["setInterval"] });
    const { manager, messages } = service(t, env);
    manager.ready();
    t.mock.timers.tick(60_000);
    await manager.stop();
    assert.deepEqual(messages(), env.NOTIFY_SOCKET === "" ? [] : ["READY=1"]);
  });
}

test("a message that fails stops nothing", async (t) => {
  const { manager, messages } = service(t, {}, "exit 1");
  manager.ready();
  manager.stopping();
  await manager.stop();
  assert.equal(messages().length, 2);
});
