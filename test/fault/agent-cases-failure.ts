/** Cases of the agent's table about processes, networks and disks that fail. */

import assert from "node:assert/strict";
import { once } from "node:events";
import { appendFileSync, mkdirSync, rmdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer, connect as openSocket, type Socket } from "node:net";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { jetstreamManager } from "@nats-io/jetstream";
import { RAW_STREAM } from "#proto/subjects.ts";
import { openRaw } from "#test/harness/agent.ts";
import { peakResidentBytes } from "#test/harness/processes.ts";
import { SequenceLog } from "#test/harness/sequence-log.ts";
import { type Case, type Cases, health, metric, type Place, until } from "./agent-case.ts";

/** The registry follows within a second. */
const WRITTEN_MS = 1_500;

/** Kills again and again while lines are written. */
const killing =
  (kill: (p: Place, agent: Awaited<ReturnType<Place["agent"]>>) => Promise<void>, rounds: number): Case =>
  async (p) => {
    const log = new SequenceLog("w", "plain");
    let agent = await p.agent();
    for (let round = 0; round < rounds; round++) {
      for (let write = 0; write < 10; write++) {
        p.write(log, "a.log", 200);
        await pause(15);
      }
      await kill(p, agent);
      p.write(log, "a.log", 200);
      if (round % 2 === 0) agent = await p.agent().catch(() => agent);
    }
    await p.agent().catch(() => undefined);
    await p.proves(log);
  };

/** A relay between agent and server that can swallow what the server says. */
async function relay(port: number): Promise<{ port: number; swallow(on: boolean): void; close(): void }> {
  const sockets = new Set<Socket>();
  let swallowing = false;
  const server = createServer((client) => {
    const upstream = openSocket(port, "127.0.0.1");
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on("error", () => undefined);
      socket.on("close", () => {
        client.destroy();
        upstream.destroy();
      });
    }
    client.pipe(upstream);
    upstream.on("data", (chunk: Buffer) => void (swallowing || client.write(chunk)));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const close = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    port: (server.address() as { port: number }).port,
    /** Off again: the connection, of which a part is missing now, ends. */
    swallow(on) {
      swallowing = on;
      if (!on) close();
    },
    close() {
      server.close();
      close();
    },
  };
}

/** Answers are lost; `windowMs`: how long the stream remembers ids. */
const lostAnswers =
  (windowMs: number, repeatsAllowed: boolean): Case =>
  async (p) => {
    const manager = await jetstreamManager(p.nats);
    await manager.streams.update(RAW_STREAM, { duplicate_window: windowMs * 1e6 });
    const between = await relay(p.server.port);
    const log = new SequenceLog("w", "plain");
    const agent = await p.agent({ natsUrl: `nats://127.0.0.1:${between.port}` });
    await until(async () => (await health(agent)) === "ok");
    between.swallow(true);
    p.write(log, "a.log", 500);
    await until(async () => (await p.lines()).length === 500);
    await pause(windowMs < 1_000 ? windowMs * 3 : 0);
    between.swallow(false);
    await until(async () => (await metric(agent, "tailrace_agent_lag_bytes{input")) === 0);
    await p.proves(log);
    if (!repeatsAllowed) assert.equal((await p.lines()).length, 500);
    between.close();
  };

/** The registry's disk is full; shipping continues, and a crash repeats only. */
const fullDisk: Case = async (p, t) => {
  const disk = p.disk(t, 4);
  if (disk === "") return;
  const settings = { "path.data": join(disk, "data") };
  const log = new SequenceLog("w", "plain");
  p.write(log, "a.log", 500);
  const agent = await p.agent({ settings });
  await until(async () => (await p.lines()).length === 500);
  fill(disk);
  for (let file = 0; file < 100; file++) p.write(log, `${file}.log`, 5);
  await until(async () => (await health(agent)) === "degraded");
  await until(async () => (await p.lines()).length === 1_000);
  await agent.kill9();
  rmSync(join(disk, "ballast"));
  p.write(log, "a.log", 500);
  const again = await p.agent({ settings });
  await until(async () => new Set(await p.lines()).size === log.count);
  fill(disk);
  for (let file = 0; file < 100; file++) p.write(log, `${file}.log`, 5);
  await until(async () => (await health(again)) === "degraded");
  rmSync(join(disk, "ballast"));
  await until(async () => (await health(again)) === "ok");
  await pause(WRITTEN_MS);
  const messages = (await p.lines()).length;
  await again.kill9();
  await p.agent({ settings });
  p.write(log, "a.log", 1);
  await until(async () => new Set(await p.lines()).size === log.count);
  assert.equal((await p.lines()).length, messages + 1, "what was written after the disk had room is there");
  await p.proves(log, { unordered: true });
};

function fill(folder: string): void {
  try {
    for (;;) appendFileSync(join(folder, "ballast"), Buffer.alloc(16_384));
  } catch {
    // full
  }
}

export const FAILURE_CASES: Cases = {
  1: killing((_, agent) => agent.kill9(), 4),
  2: async (p) => {
    const log = new SequenceLog("w", "plain");
    for (let round = 0; round < 3; round++) {
      const agent = await p.agent();
      const before = (await p.lines()).length;
      p.write(log, `${round}.log`, 300);
      await until(async () => (await p.lines()).length > before);
      await agent.kill9(); // acknowledged, and not yet in the registry
    }
    await p.agent();
    await p.proves(log, { unordered: true });
  },
  4: async (p) => {
    const log = new SequenceLog("w", "plain");
    const agent = await p.agent({ settings: { shutdown_timeout: "1s" } });
    await p.server.kill9();
    p.write(log, "a.log", 2_000);
    await until(async () => (await metric(agent, "tailrace_agent_lag_bytes")) > 0);
    const began = Date.now();
    assert.equal(await agent.stop(), 0);
    assert.ok(Date.now() - began < 6_000);
    await p.server.restart();
    await p.agent();
    await p.proves(log);
  },
  6: killing(async (p) => {
    await p.server.kill9();
    await pause(100);
    await p.server.restart();
  }, 3),
  7: async (p) => {
    const log = new SequenceLog("w", "plain");
    p.write(log, "a.log", 500);
    await p.agent();
    await until(async () => (await p.lines()).length === 500);
    await p.server.kill9();
    rmSync(join(p.server.dataDir, "jetstream"), { recursive: true });
    await p.server.restart();
    p.write(log, "a.log", 500);
    await pause(300);
    await p.nats.close();
    p.nats = await openRaw(p.server.url, p.server.token);
    await p.proves(log, { unordered: true });
  },
  14: lostAnswers(120_000, false),
  15: lostAnswers(100, true),
  16: fullDisk,
  23: async (p, t) => {
    const group = `/sys/fs/cgroup/memory/tailrace-case-${process.pid}`;
    try {
      mkdirSync(group);
      writeFileSync(join(group, "memory.limit_in_bytes"), String(128 * 1024 ** 2));
    } catch {
      t.skip("memory can't be limited here");
      return;
    }
    const agent = await p.agent();
    writeFileSync(join(group, "cgroup.procs"), String(agent.pid));
    const logs = Array.from({ length: 10 }, (_, at) => new SequenceLog(`w${at}`, "plain", 2_000));
    let bytes = 0;
    for (const log of logs) {
      appendFileSync(p.file(`${log.writer}.log`), log.lines(5_000));
      bytes += statSync(p.file(`${log.writer}.log`)).size;
    }
    for (let part = 0; part < 100; part++) appendFileSync(p.file("long.log"), Buffer.alloc(1024 ** 2, "x"));
    appendFileSync(p.file("long.log"), "\n");
    bytes += 100 * 1024 ** 2;
    await until(async () => (await metric(agent, "tailrace_agent_bytes_acked_total")) >= bytes, 120_000);
    const peak = peakResidentBytes(agent.pid) / 1024 ** 2;
    t.diagnostic(`largest resident memory ${peak.toFixed(0)} MB of 128`);
    await agent.stop();
    rmdirSync(group);
  },
};
