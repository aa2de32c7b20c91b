/** What a case of the agent's table has: a nats-server, agents on it, files, and a verifier of what arrived. */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { appendFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import type { NatsConnection } from "@nats-io/transport-node";
import {
  type AgentProcess,
  type AgentProcessOptions,
  openRaw,
  readRaw,
  startAgent,
} from "#test/harness/agent.ts";
import { FoldingHub } from "#test/harness/folding-hub.ts";
import { type NatsOptions, startNats, type TestNats } from "#test/harness/nats.ts";
import { flawless, type SequenceLog, verify } from "#test/harness/sequence-log.ts";
import { until as untilTrue } from "#test/harness/until.ts";

/** A case itself may take 150 s. A loaded machine is slow: this is about being stuck. */
const WAIT_MS = 90_000;
/** Time without anything new after which what was found is the verdict. */
const SETTLE_MS = 30_000;
const EVERY_MS = 20;

/** What a case does. It throws where it doesn't hold. */
export type Case = (p: Place, t: TestContext) => Promise<void>;
export type Cases = Readonly<Record<number, Case>>;

/** A server of its own, agents on it, and a folder, all gone after the test. */
export class Place {
  readonly folder = mkdtempSync(join(tmpdir(), "tailrace-case-"));
  readonly logs = join(this.folder, "logs");
  readonly server: TestNats;
  nats: NatsConnection;
  readonly #agents: AgentProcess[] = [];
  readonly #mounts: string[] = [];

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

  /** Resolves when RAW holds exactly `expected`; throws the difference at the deadline. */
  async holds(expected: readonly string[]): Promise<void> {
    let found: string[] = [];
    const areThere = async (): Promise<boolean> => {
      found = await this.lines();
      return found.length >= expected.length;
    };
    await until(areThere).catch(() => undefined);
    assert.deepEqual(found, expected.toSorted());
  }

  /** Appends lines of a log to a file. */
  write(log: SequenceLog, name: string, count: number): void {
    appendFileSync(this.file(name), log.lines(count));
  }

  /**
   * Resolves when every line of the logs is there once, whole and in the order of its file, after repeats are dropped
   * as the index drops them. `unordered`: the lines went to several files.
   */
  async proves(logs: SequenceLog | readonly SequenceLog[], { unordered = false } = {}): Promise<void> {
    const all = [logs].flat() as SequenceLog[];
    const hub = new FoldingHub(this.nats);
    hub.start();
    const wanted = all.reduce((sum, { count }) => sum + count, 0);
    let seen = -1;
    let sinceMs = Date.now();
    while (hub.lines.length < wanted && Date.now() - sinceMs < SETTLE_MS) {
      if (hub.lines.length !== seen) sinceMs = Date.now();
      seen = hub.lines.length;
      await pause(EVERY_MS);
    }
    await pause(100);
    await hub.stop();
    const texts = hub.lines.map((line) => line.text);
    for (const { writer, count } of all)
      assert.deepEqual(verify(writer, count, texts, !unordered), flawless(count), `lines of ${writer}`);
  }

  /** The agent's own log. */
  said(): string {
    return readdirSync(join(this.folder, "agent")).includes("agent.out")
      ? readFileSync(join(this.folder, "agent", "agent.out"), "utf8")
      : "";
  }

  /** Mounts a small disk of its own; skips the case where that isn't allowed. Returns its folder. */
  disk(t: TestContext, megabytes: number): string {
    const folder = join(this.folder, `disk-${megabytes}`);
    mkdirSync(folder);
    try {
      execFileSync("mount", ["-t", "tmpfs", "-o", `size=${megabytes}m`, "tmpfs", folder], {
        stdio: "ignore",
      });
    } catch {
      t.skip("mounting a file system isn't allowed here");
      return "";
    }
    this.#mounts.push(folder);
    return folder;
  }

  /** A mount that the end must undo. */
  mounted(folder: string): void {
    this.#mounts.push(folder);
  }

  async stop(): Promise<void> {
    for (const agent of this.#agents) await agent.kill9();
    await this.nats.close();
    await this.server.stop();
    for (const folder of this.#mounts) execFileSync("umount", ["-l", folder], { stdio: "ignore" });
    rmSync(this.folder, { recursive: true, force: true });
  }
}

export async function place(t: TestContext, options: NatsOptions = {}): Promise<Place> {
  const server = await startNats(options);
  const made = new Place(server, await openRaw(server.url, server.token));
  t.after(() => made.stop());
  return made;
}

export const many = (prefix: string, count: number): string[] =>
  Array.from({ length: count }, (_, n) => `${prefix} ${n} ${"x".repeat(n % 100)}`);

export const text = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join("");

export async function metric(agent: AgentProcess, name: string): Promise<number> {
  const answer = await fetch(`${agent.statusUrl}/metrics`);
  const line = (await answer.text()).split("\n").find((each) => each.startsWith(name));
  return Number(line?.split(" ").at(-1) ?? Number.NaN);
}

export async function health(agent: AgentProcess): Promise<string> {
  return ((await (await fetch(`${agent.statusUrl}/health`)).json()) as { status: string }).status;
}

/** Resolves when `condition` holds; throws after `deadlineMs`. */
export async function until(condition: () => Promise<boolean>, deadlineMs = WAIT_MS): Promise<void> {
  await untilTrue(condition.toString(), condition, { deadlineMs, everyMs: EVERY_MS });
}
