import assert from "node:assert/strict";
import { appendFileSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { type AgentProcess, assemble, openRaw, readRaw, startAgent } from "#test/harness/agent.ts";
import { startNats } from "#test/harness/nats.ts";
import { until } from "#test/harness/until.ts";

const LINES = 20_000;
const LINES_PER_WRITE = 50;
const FILES = 3;
/** Longest wait for the last line, ms: a loaded machine is slow. */
const ARRIVAL_MS = 60_000;

test("no byte is missing in RAW after repeated kills of agent and nats-server during 20,000 lines", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "tailrace-agent-fault-"));
  const logs = join(folder, "logs");
  mkdirSync(logs);
  const server = await startNats();
  const nats = await openRaw(server.url, server.token);
  const options = { folder, paths: [join(logs, "*.log*")], natsUrl: server.url, token: server.token };
  let agent: AgentProcess = await startAgent(options);
  let passed = false;
  t.after(async () => {
    await agent.kill9();
    await nats.close();
    await server.stop();
    if (passed) rmSync(folder, { recursive: true, force: true });
    else t.diagnostic(`kept ${folder}`);
  });

  const faults = (async () => {
    for (let round = 0; round < 4; round++) {
      await pause(200 + Math.random() * 300);
      await agent.kill9();
      agent = await startAgent(options);
      await pause(100 + Math.random() * 300);
      await server.kill9();
      await pause(Math.random() * 300);
      await server.restart();
    }
  })();
  let written = 0;
  while (written < LINES) {
    for (let file = 0; file < FILES; file++) {
      let text = "";
      for (let line = 0; line < LINES_PER_WRITE && written < LINES; line++)
        text += `seq=${written++} ${"x".repeat(written % 200)}\n`;
      appendFileSync(join(logs, `${file}.log`), text);
    }
    if (written % 4_500 === 0) renameSync(join(logs, "0.log"), join(logs, `0.log.${written}`));
    await pause(25);
  }
  await faults;

  const deadline = Date.now() + ARRIVAL_MS;
  let missing = LINES;
  while (missing > 0 && Date.now() < deadline) {
    await pause(200);
    const files = assemble(await readRaw(nats));
    const seen = new Set<number>();
    for (const content of files.values()) {
      for (const line of content.toString().split("\n").slice(0, -1)) {
        const sequence = Number(/^seq=(\d+) (x*)$/.exec(line)?.[1]);
        assert.ok(Number.isInteger(sequence), `corrupt line: ${line}`);
        assert.ok(!seen.has(sequence), `line ${sequence} stands at two places of the files`);
        seen.add(sequence);
      }
    }
    missing = LINES - seen.size;
  }
  assert.equal(missing, 0);
  assert.equal(await agent.stop(), 0);
  passed = true;
});

test("when RAW is replaced by an empty store, the agent sends again what the hub never committed", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "tailrace-agent-wiped-"));
  const file = join(folder, "a.log");
  const server = await startNats();
  const nats = await openRaw(server.url, server.token);
  writeFileSync(file, "1\n2\n");
  const agent = await startAgent({ folder, paths: [file], natsUrl: server.url, token: server.token });
  t.after(async () => {
    await agent.kill9();
    await nats.close();
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  await until("the first batch", async () => (await readRaw(nats)).length > 0);
  await server.kill9();
  rmSync(join(server.dataDir, "jetstream"), { recursive: true });
  await server.restart();
  await until("the connection", async () => !nats.isClosed() && (await nats.rtt()) > 0);
  const renewed = await openRaw(server.url, server.token);
  appendFileSync(file, "3\n");
  const content = await until("all lines in the new store", async () => {
    const [found] = [...assemble(await readRaw(renewed)).values()];
    return found !== undefined && found.length >= 6 && found;
  });
  await renewed.close();
  assert.equal(content.toString(), "1\n2\n3\n");
});
