/** Cases of the agent's table about stopping, an unreachable output, and logging. */

import assert from "node:assert/strict";
import { once } from "node:events";
import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect as connectTo, createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { jetstreamManager } from "@nats-io/jetstream";
import { RAW_STREAM } from "#proto/subjects.ts";
import { readRaw } from "#test/harness/agent.ts";
import { type Cases, health, many, metric, text, until } from "./agent-case.ts";

export const OPERATION_CASES: Cases = {
  3: async (p) => {
    const lines = many("a", 20_000);
    writeFileSync(p.file("a.log"), text(lines.slice(0, 10_000)));
    const first = await p.agent();
    await until(async () => (await p.lines()).length > 0);
    const began = Date.now();
    assert.equal(await first.stop(), 0);
    assert.ok(Date.now() - began < 6_000);
    appendFileSync(p.file("a.log"), text(lines.slice(10_000)));
    await p.agent();
    await p.holds(lines);
  },
  5: async (p) => {
    const lines = many("a", 5_000);
    await p.agent();
    await p.server.kill9();
    writeFileSync(p.file("a.log"), text(lines));
    await pause(500);
    await p.server.restart();
    await p.holds(lines);
  },
  8: async (p) => {
    const manager = await jetstreamManager(p.nats);
    await manager.streams.update(RAW_STREAM, { max_bytes: 1_000_000 });
    const lines = many("a", 40_000);
    writeFileSync(p.file("a.log"), text(lines));
    const agent = await p.agent();
    await until(async () => (await metric(agent, 'tailrace_agent_publish_retries_total{reason="full"}')) > 0);
    await manager.streams.update(RAW_STREAM, { max_bytes: -1 });
    await p.holds(lines);
  },
  12: async (p) => {
    const lines = many("a", 5_000);
    await p.agent({ settings: { "output.pipeline.ack_timeout": "1s" } });
    p.server.pause();
    writeFileSync(p.file("a.log"), text(lines));
    await pause(1_500);
    p.server.resume();
    await p.holds(lines);
  },
  20: async (p) => {
    writeFileSync(p.file("a.log"), "one\n");
    const first = await p.agent();
    await p.holds(["one"]);
    await first.stop();
    rmSync(join(p.folder, "agent", "data"), { recursive: true });
    await p.agent();
    await p.holds(["one", "one"]);
  },
  13: async (p) => {
    const agent = await p.agent();
    const lines = many("a", 2_000);
    p.server.pause();
    writeFileSync(p.file("a.log"), text(lines));
    await pause(1_000);
    p.server.resume();
    await p.holds(lines);
    assert.equal(await metric(agent, 'tailrace_agent_publish_retries_total{reason="timeout"}'), Number.NaN);
  },
  30: async (p) => {
    writeFileSync(p.file("a.log"), "one\n");
    const first = await p.agent({ settings: { shutdown_timeout: "0s" } });
    await p.holds(["one"]);
    await p.server.kill9();
    appendFileSync(p.file("a.log"), "two\n");
    await until(async () => (await metric(first, "tailrace_agent_lag_bytes")) === 4);
    await first.stop();
    rmSync(p.file("a.log"));
    await p.server.restart();
    const second = await p.agent();
    await until(async () => (await metric(second, "tailrace_agent_lost_bytes_total")) === 4);
  },
  67: async (p) => {
    const input = { "multiline.pattern": "^\\s", "multiline.timeout": "1h" };
    const traces = many("Error", 2_000).map((line) => `${line}\n  at a\n  at b`);
    const half = text(traces.slice(0, 1_000));
    writeFileSync(p.file("a.log"), half.slice(0, -10));
    const first = await p.agent({ input });
    await until(async () => (await p.lines()).length > 0);
    await first.kill9();
    appendFileSync(p.file("a.log"), `${half.slice(-10)}${text(traces.slice(1_000))}end\n`);
    await p.agent({ input });
    await until(async () => new Set(await p.lines()).size === traces.length);
    const found = new Set(await p.lines());
    assert.deepEqual([...found].sort(), traces.toSorted());
  },
  75: async (p) => {
    await p.agent({ paths: [join(p.logs, "**", "*.log")] });
    mkdirSync(p.file("x/y/z"), { recursive: true });
    writeFileSync(p.file("x/y/z/a.log"), "deep\n");
    await p.holds(["deep"]);
  },
  78: async (p) => {
    mkdirSync(p.file("x"));
    writeFileSync(p.file("x/a.log"), "one\n");
    await p.agent({ paths: [join(p.logs, "*", "*.log")] });
    await p.holds(["one"]);
    rmSync(p.file("x"), { recursive: true });
    await pause(300);
    mkdirSync(p.file("x"));
    writeFileSync(p.file("x/a.log"), "two\n");
    await p.holds(["one", "two"]);
  },
  81: async (p) => {
    const folder = join(p.folder, "agent");
    const agent = await p.agent({ paths: [join(folder, "**", "*"), join(p.logs, "*.log")] });
    writeFileSync(p.file("a.log"), "one\n");
    await until(async () => (await p.lines()).includes("one"));
    await until(async () => (await metric(agent, "tailrace_agent_scans_total")) > 2);
    const paths = (await readRaw(p.nats)).map(({ batch }) => batch.block?.source?.path ?? "");
    assert.ok(
      paths.every((path) => !path.startsWith(join(folder, "data"))),
      paths.join(),
    );
  },
  83: async (p) => {
    writeFileSync(p.file("a.log"), "one\n");
    const inputs = ["x", "y"].map((id) => ({ type: "log", id, paths: [p.file("*.log")] }));
    await p.agent({ settings: { "shipper.inputs": inputs } });
    await p.holds(["one"]);
    assert.match(readFileSync(join(p.folder, "agent", "agent.out"), "utf8"), /input [xy] reads it already/);
  },
  100: async (p) => {
    const probe = createServer().listen(0, "127.0.0.1");
    await once(probe, "listening");
    const { port } = probe.address() as { port: number };
    probe.close();
    await once(probe, "close");
    const inputs = [{ type: "tcp", id: "t", host: `127.0.0.1:${port}` }];
    const agent = await p.agent({
      settings: { "shipper.inputs": inputs, "output.pipeline.batch_bytes": "16kb" },
    });
    await p.server.kill9();
    const lines = many("a", 5_000);
    const socket = connectTo(port, "127.0.0.1");
    socket.end(text(lines));
    await once(socket.resume(), "close");
    await until(async () => (await metric(agent, 'tailrace_agent_lag_bytes{input="t"}')) > 200_000);
    assert.ok(existsSync(join(p.folder, "agent", "data", "spool", "t")));
    await p.server.restart();
    await p.holds(lines);
  },
  101: async (p) => {
    const agent = await p.agent();
    await until(async () => (await health(agent)) === "ok");
    await p.server.kill9();
    await until(async () => (await health(agent)) === "degraded");
    await p.server.restart();
    await until(async () => (await health(agent)) === "ok");
  },
};
