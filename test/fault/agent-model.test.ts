/**
 * Random deeds on an agent and its files: appended, written by halves, rotated, copied and truncated, deleted; the agent
 * and nats-server killed, disks full. Every line that could be kept is indexed once in the end.
 */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { appendFileSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { NatsConnection } from "@nats-io/transport-node";
import { systemClock } from "#proto/kit/clock.ts";
import { type AgentProcess, addRaw, openRaw, startAgent } from "#test/harness/agent.ts";
import { FoldingHub } from "#test/harness/folding-hub.ts";
import { startNats, type TestNats } from "#test/harness/nats.ts";
import { chooseSeed, randomFrom } from "#test/harness/random.ts";
import { readMark } from "#test/harness/sequence-log.ts";
import { until } from "#test/harness/until.ts";
import { Workspace } from "#test/harness/workspace.ts";
import { AgentWorld } from "./agent-model-files.ts";

const SECONDS = Number(process.env["TAILRACE_FAULT_SECONDS"] ?? 60);
const WRITERS = 4;
const STEP_MAX_MS = 30;
/** One step in so many is a deed on processes or disks. */
const DEEDS_SHARE = 0.02;
/** Time without anything new after which what was found is the verdict. */
const SETTLE_MS = 30_000;
/** A registry that can be written again is written within a second. */
const REGISTRY_CAUGHT_UP_MS = 2_000;
const REGISTRY_DISK_BYTES = 4 * 1024 ** 2;

/** Everything the deeds are done to. */
class Scene {
  readonly workspace: Workspace;
  readonly server: TestNats;
  readonly world: AgentWorld;
  readonly random: () => number;
  readonly story: string[] = [];
  readonly #tmpfs: string | null;
  #agent: AgentProcess | undefined;
  #full = false;
  readonly #nats: NatsConnection;
  readonly hub: FoldingHub;

  constructor(workspace: Workspace, server: TestNats, nats: NatsConnection, random: () => number) {
    this.workspace = workspace;
    this.server = server;
    this.random = random;
    this.world = new AgentWorld(join(workspace.folder, "logs"), WRITERS, random);
    this.#nats = nats;
    this.#tmpfs = mountDisk(workspace);
    this.hub = new FoldingHub(nats, ({ text }) => this.world.arrived(text));
    this.hub.start();
    workspace.defer(() => this.hub.stop());
    workspace.defer(() => this.#agent?.kill9());
  }

  get agentUp(): boolean {
    return this.#agent !== undefined;
  }

  async startAgent(): Promise<void> {
    this.#agent = await startAgent({
      folder: this.workspace.path("agent", ""),
      paths: [join(this.workspace.folder, "logs", "*.log"), join(this.workspace.folder, "logs", "*.log.*")],
      natsUrl: this.server.url,
      token: this.server.token,
      settings: {
        "path.data": this.#tmpfs ?? join(this.workspace.folder, "agent", "data"),
        "output.pipeline.ack_timeout": "1s",
        shutdown_timeout: "1s",
      },
      input: { id: "model", scan_frequency: "100ms", rotated_wait: "1s" },
    });
    this.world.agentBegan();
  }

  /** Does one of the great deeds and returns which. */
  async deed(): Promise<string> {
    const die = this.random();
    if (die < 0.35) return this.#endAgent("kill9");
    if (die < 0.5) return this.#endAgent("stop");
    if (die < 0.7) return this.#killNats();
    if (die < 0.8) return this.#pauseNats();
    if (die < 0.86) return this.#loseLog("copied");
    if (die < 0.88) return this.#loseLog("all");
    return this.#turnDisk();
  }

  /** Makes everything work again. */
  async mend(): Promise<void> {
    if (this.#full) this.#turnDisk();
    this.world.finish();
    if (this.#agent === undefined) await this.startAgent();
  }

  async #endAgent(how: "kill9" | "stop"): Promise<string> {
    const agent = this.#agent!;
    this.#agent = undefined;
    await agent[how]();
    this.world.agentEnded();
    const steps = Math.floor(this.random() * 30);
    for (let step = 0; step < steps; step++) this.story.push(`  agent away: ${this.world.step(false)}`);
    if (this.#full) this.#turnDisk();
    await this.startAgent();
    return `${how} of the agent, ${steps} steps without it`;
  }

  async #killNats(): Promise<string> {
    await this.server.kill9();
    await this.#steps(30);
    await this.server.restart();
    return "kill9 of nats-server";
  }

  async #pauseNats(): Promise<string> {
    this.server.pause();
    await this.#steps(100);
    this.server.resume();
    return "nats-server stood still";
  }

  /** The log's store is replaced by an older copy, or lost; some of it the hub hadn't read yet. */
  async #loseLog(what: "copied" | "all"): Promise<string> {
    const copy = this.workspace.path("store", "copy");
    if (what === "copied") {
      await this.server.kill9();
      this.server.copyStore(copy);
      await this.server.restart();
      await this.#steps(60);
    }
    this.hub.away = true;
    await this.#steps(30);
    await this.server.kill9();
    this.server.replaceStore(what === "copied" ? copy : null);
    await this.#steps(10);
    await this.server.restart();
    await until("the stream", () => addRaw(this.#nats).then(() => true));
    await this.#steps(10);
    this.hub.away = false;
    return `the log was lost: ${what}`;
  }

  /** Fills the disk of the registry, or makes room again. */
  #turnDisk(): string {
    if (this.#tmpfs === null) return "nothing";
    const ballast = join(this.#tmpfs, "..", "ballast");
    this.#full = !this.#full;
    this.world.registryWrites = false;
    if (this.#full) {
      try {
        for (;;) appendFileSync(ballast, Buffer.alloc(65_536));
      } catch {
        // full
      }
    } else {
      rmSync(ballast);
      setTimeout(() => (this.world.registryWrites = !this.#full), REGISTRY_CAUGHT_UP_MS);
    }
    return this.#full ? "the registry's disk is full" : "the registry's disk has room";
  }

  async #steps(most: number): Promise<void> {
    const steps = Math.floor(this.random() * most);
    for (let step = 0; step < steps; step++) {
      this.story.push(`  ${this.world.step(true)}`);
      await systemClock.sleep(this.random() * STEP_MAX_MS);
    }
  }
}

test(`every line that could be kept is indexed once after ${SECONDS} s of random operations`, async (t) => {
  const seed = chooseSeed();
  const random = randomFrom(seed);
  const scene = await setTheScene(t, random);
  const endMs = systemClock.monotonic() + SECONDS * 1_000;
  while (systemClock.monotonic() < endMs) {
    const deed = random() < DEEDS_SHARE;
    scene.story.push(deed ? await scene.deed() : scene.world.step(scene.agentUp));
    await systemClock.sleep(random() * STEP_MAX_MS);
  }
  await scene.mend();
  await settle(scene);
  const { written, destroyed, ...judgement } = scene.world.judge();
  const { missing, doubled, corrupt } = judgement;
  t.diagnostic(
    `seed ${seed}: ${written} lines written, missing ${missing.length}, doubled in the index ${doubled.length}, ` +
      `corrupt ${corrupt.length}; ${destroyed} destroyed before they could be read, ${scene.hub.repeats} repeats dropped, the log lost ${scene.hub.rollbacks} times`,
  );
  if (missing.length + doubled.length + corrupt.length > 0)
    appendFileSync(
      scene.workspace.path("story.log"),
      [...scene.story, `missing ${missing.join()}`, ...placesOf(scene, doubled)].join("\n"),
    );
  const few = { missing: missing.slice(0, 20), doubled: doubled.slice(0, 20), corrupt: corrupt.slice(0, 5) };
  assert.deepEqual(few, { missing: [], doubled: [], corrupt: [] }, `repeat with --seed ${seed}`);
});

async function setTheScene(t: TestContext, random: () => number): Promise<Scene> {
  const workspace = new Workspace(t);
  const server = await startNats();
  workspace.defer(() => server.stop());
  const nats = await openRaw(server.url, server.token);
  workspace.defer(() => nats.close());
  const scene = new Scene(workspace, server, nats, random);
  await scene.startAgent();
  return scene;
}

/** Tells under which names doubled lines arrived. */
function placesOf({ hub }: Scene, doubled: readonly string[]): string[] {
  const marks = new Set(doubled.slice(0, 1_000));
  return hub.lines.flatMap(({ text, source, offset, path }) => {
    const { writer = "", sequence = -1 } = readMark(text) ?? {};
    return marks.has(`${writer}/${sequence}`) ? [`${writer}/${sequence} ${source}@${offset} ${path}`] : [];
  });
}

/** Waits until all lines are there, or nothing has come for a while. */
async function settle({ world, hub }: Scene): Promise<void> {
  let messages = -1;
  let sinceMs = systemClock.monotonic();
  while (world.outstanding > 0 && systemClock.monotonic() - sinceMs < SETTLE_MS) {
    if (hub.messages !== messages) sinceMs = systemClock.monotonic();
    messages = hub.messages;
    await systemClock.sleep(100);
  }
  await systemClock.sleep(1_000); // what arrives twice may still be on its way
}

/** Returns a folder on a small disk of its own, or null where none can be mounted. */
function mountDisk(workspace: Workspace): string | null {
  const folder = join(workspace.folder, "disk");
  mkdirSync(folder);
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", `size=${REGISTRY_DISK_BYTES}`, "tmpfs", folder], {
      stdio: "ignore",
    });
  } catch {
    return null;
  }
  workspace.defer(() => execFileSync("umount", ["-l", folder]));
  return join(folder, "data");
}
