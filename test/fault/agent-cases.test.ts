import assert from "node:assert/strict";
import { once } from "node:events";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { connect as connectTo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { jetstreamManager } from "@nats-io/jetstream";
import type { NatsConnection } from "@nats-io/transport-node";
import { RAW_STREAM } from "#proto/subjects.ts";
import {
  type AgentProcess,
  type AgentProcessOptions,
  openRaw,
  readRaw,
  startAgent,
} from "#test/harness/agent.ts";
import { startNats, type TestNats } from "#test/harness/nats.ts";
import { AGENT_CASES } from "./agent-case-table.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const TRIES_MAX = 500;

/** A server of its own, agents on it, and a folder, all gone after the test. */
class Place {
  readonly folder = mkdtempSync(join(tmpdir(), "tailrace-case-"));
  readonly logs = join(this.folder, "logs");
  readonly server: TestNats;
  nats: NatsConnection;
  readonly #agents: AgentProcess[] = [];

  constructor(server: TestNats, nats: NatsConnection) {
    this.server = server;
    this.nats = nats;
    mkdirSync(this.logs);
  }

  file(name: string): string {
    return join(this.logs, name);
  }

  async agent(options: Partial<AgentProcessOptions> = {}): Promise<AgentProcess> {
    const { folder, logs, server } = this;
    const common = {
      folder: join(folder, "agent"),
      paths: [join(logs, "*.log")],
      natsUrl: server.url,
      token: server.token,
    };
    const agent = await startAgent({ ...common, ...options });
    this.#agents.push(agent);
    return agent;
  }

  /** Lines and messages of events in RAW, sorted. */
  async lines(): Promise<string[]> {
    const messages = await readRaw(this.nats);
    return messages
      .flatMap(({ batch, data }) => [
        ...data
          .toString()
          .split("\n")
          .filter((line) => line !== ""),
        ...(batch.block?.events ?? []).map(({ message }) => Buffer.from(message ?? []).toString()),
      ])
      .sort();
  }

  /** Resolves when RAW holds exactly `expected`. */
  async holds(expected: readonly string[]): Promise<void> {
    const wanted = expected.toSorted();
    for (let tries = 0; tries < TRIES_MAX; tries++) {
      const found = await this.lines().catch(() => []);
      if (found.length === wanted.length || tries === TRIES_MAX - 1) {
        assert.deepEqual(found, wanted);
        return;
      }
      await pause(20);
    }
  }

  async stop(): Promise<void> {
    for (const agent of this.#agents) await agent.kill9();
    await this.nats.close();
    await this.server.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

async function place(t: TestContext): Promise<Place> {
  const server = await startNats();
  const made = new Place(server, await openRaw(server.url, server.token));
  t.after(() => made.stop());
  return made;
}

const many = (prefix: string, count: number): string[] =>
  Array.from({ length: count }, (_, n) => `${prefix} ${n} ${"x".repeat(n % 100)}`);

const text = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join("");

async function metric(agent: AgentProcess, name: string): Promise<number> {
  const answer = await fetch(`${agent.statusUrl}/metrics`);
  const line = (await answer.text()).split("\n").find((each) => each.startsWith(name));
  return Number(line?.split(" ").at(-1) ?? Number.NaN);
}

async function health(agent: AgentProcess): Promise<string> {
  return ((await (await fetch(`${agent.statusUrl}/health`)).json()) as { status: string }).status;
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; !(await condition()); tries++) {
    assert.ok(tries < TRIES_MAX, "in vain");
    await pause(20);
  }
}

const HERE: Readonly<Record<number, (p: Place) => Promise<void>>> = {
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

for (const [number, name, proof] of AGENT_CASES) {
  const run = HERE[number];
  if (proof === "here") {
    test(`${number} ${name}`, { timeout: 30_000 }, async (t) => {
      assert.ok(run, "there is no such test");
      await run(await place(t));
    });
  } else if ("reason" in proof) {
    test(`${number} ${name}`, { skip: proof.reason }, () => undefined);
  } else {
    test(`${number} ${name} is shown by a test of ${proof.file}`, () => {
      const source = readFileSync(join(ROOT, proof.file), "utf8").replaceAll(/\s+/g, " ");
      assert.ok(source.includes(proof.test), `${proof.file} has no test "${proof.test}"`);
    });
  }
}

test("each of the 101 cases stands in the table once", () => {
  assert.deepEqual(
    AGENT_CASES.map(([number]) => number),
    Array.from({ length: 101 }, (_, n) => n + 1),
  );
});
