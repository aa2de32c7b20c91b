/**
 * Random deeds on a hub whose disk fills and empties: the hub and nats-server killed and stopped meanwhile, shards flushed
 * and merged, documents and lines written all the time. What was acknowledged is there in the end, each line once, and each
 * time that there is space again, the hub takes writes by itself. Skipped where no file system may be mounted.
 */

import assert from "node:assert/strict";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { systemClock } from "#proto/kit/clock.ts";
import { MIB } from "#proto/kit/units.ts";
import { assertExactlyOnce } from "#test/harness/exactly-once.ts";
import { request } from "#test/harness/http.ts";
import { TestHub } from "#test/harness/hub.ts";
import { writeInBursts } from "#test/harness/line-writer.ts";
import { chooseSeed, randomFrom } from "#test/harness/random.ts";
import { SequenceLog } from "#test/harness/sequence-log.ts";
import { NO_SMALL_DISK, SmallDisk } from "#test/harness/small-disk.ts";
import { TestAgent } from "#test/harness/stack.ts";
import { until } from "#test/harness/until.ts";
import { Workspace } from "#test/harness/workspace.ts";
import { BulkModel } from "./bulk-model.ts";

const SECONDS = Number(process.env["TAILRACE_FAULT_SECONDS"] ?? 60);
const DISK_BYTES = 256 * MIB;
/** What a disk that isn't quite full has left at most. */
const LEFT_MAX_BYTES = 4 * MIB;
const CLIENTS = 2;
const LINES_PER_SECOND = 100;
const PAUSE_MAX_MS = 200;
const REFUSED_PAUSE_MS = 500;
/** Time that a disk stays full; one of so many times long enough for each time limit of the hub to pass. */
const FULL_MAX_MS = 12_000;
const LONG_FULL_MS = 75_000;
const LONG_SHARE = 0.08;
/** Why a hub doesn't start on a full disk. */
const FULL = /disk is full|no space left|ENOSPC/;
/** Longest wait for a hub that continues: its watchdog waits a minute before it restarts a nats-server. */
const RECOVERY_MS = 240_000;

/** A hub on its disk, an agent beside it, and what is done to them. */
class Scene {
  readonly hub: TestHub;
  readonly disk: SmallDisk;
  readonly random: () => number;
  readonly clients: readonly BulkModel[];
  /** Writes where no other client does: a client has one request at a time. */
  readonly #probe: BulkModel;
  readonly story: string[] = [];
  /** What must not be. */
  readonly wrong: string[] = [];
  #isUp = true;

  constructor(hub: TestHub, disk: SmallDisk, random: () => number, clients: readonly BulkModel[]) {
    this.hub = hub;
    this.disk = disk;
    this.random = random;
    this.clients = clients;
    this.#probe = new BulkModel("probe", random);
  }

  /** Writes as each client does until `signal` is aborted; the last write is waited for. */
  async write(client: BulkModel, random: () => number, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const isDone = (await client.write(this.hub.searchUrl)) === true;
      await systemClock.sleep(random() * PAUSE_MAX_MS + (isDone ? 0 : REFUSED_PAUSE_MS), signal);
    }
  }

  /** Fills the disk, does something there, and empties it. */
  async turn(): Promise<void> {
    await this.#rest(3_000);
    const isFull = this.random() < 0.75;
    if (isFull) {
      const leftBytes = this.random() < 0.6 ? 0 : this.random() * LEFT_MAX_BYTES;
      this.disk.fill(leftBytes);
      this.#tell(`the disk has ${this.disk.freeBytes} bytes`);
      await this.#rest(FULL_MAX_MS);
    }
    await this.#deed();
    if (!isFull) return;
    if (this.random() < LONG_SHARE) await systemClock.sleep(LONG_FULL_MS);
    else await this.#rest(FULL_MAX_MS);
    await this.mend();
    if (this.random() < 0.5) await this.takesWrites();
  }

  /** Gives the disk its space back, and starts the hub if it doesn't run. */
  async mend(): Promise<void> {
    this.disk.empty();
    this.#tell(`the disk has ${this.disk.freeBytes} bytes`);
    if (!this.#isUp) await this.hub.start();
    this.#isUp = true;
    if (!this.hub.running) this.wrong.push("the hub ended by itself");
  }

  /** Resolves when the hub takes writes. */
  async takesWrites(): Promise<void> {
    const startedMs = systemClock.monotonic();
    const { searchUrl } = this.hub;
    const write = async (): Promise<true> => {
      const answer = await this.#probe.write(searchUrl);
      return answer === true || Promise.reject(new Error(answer));
    };
    await until("a write that is taken", write, { deadlineMs: RECOVERY_MS, everyMs: 500 });
    this.#tell(`writes are taken after ${Math.round(systemClock.monotonic() - startedMs)} ms`);
  }

  async #deed(): Promise<void> {
    const deeds: Record<string, () => Promise<unknown>> = {
      "kill -9 of the hub": () => this.#restart(() => this.hub.kill9()),
      "stop of the hub": () => this.#restart(() => this.hub.stop()),
      "kill -9 of nats-server": async () => this.#signalNats("SIGKILL"),
      "nats-server stands still": async () => {
        this.#signalNats("SIGSTOP");
        await this.#rest(FULL_MAX_MS);
        this.#signalNats("SIGCONT");
      },
      flush: () => this.#ask("POST", "_flush"),
      merge: () => this.#ask("POST", "_forcemerge?max_num_segments=1"),
      search: async () => {
        const status = await this.#ask("POST", "_search");
        if (status !== 200) this.wrong.push(`a search answered ${status}`);
      },
      "a little space": async () => this.disk.empty(),
      nothing: async () => undefined,
    };
    const names = Object.keys(deeds);
    const name = names[Math.floor(this.random() * names.length)]!;
    this.#tell(name);
    await deeds[name]!();
  }

  /** Ends the hub and starts it again, which a full disk may refuse: `mend` starts it then. */
  async #restart(end: () => Promise<void>): Promise<void> {
    const startedMs = systemClock.monotonic();
    await end();
    this.#tell(`ended after ${Math.round(systemClock.monotonic() - startedMs)} ms`);
    await this.#rest(2_000);
    try {
      await this.hub.start();
    } catch (error) {
      const lines = (error as Error).message.split("\n");
      const reason = lines.findLast((line) => line.startsWith("tailrace-hub: ")) ?? "";
      if (!/before it was ready/.test(lines[0]!) || !FULL.test(reason)) throw error;
      this.#isUp = false;
      this.#tell(`not started: ${reason}`);
    }
  }

  #signalNats(signal: NodeJS.Signals): void {
    for (const pid of this.hub.natsPids()) process.kill(pid, signal);
  }

  async #ask(method: string, path: string): Promise<number> {
    const { status } = await request(method, `${this.hub.searchUrl}/model-0/${path}`);
    return status;
  }

  async #rest(mostMs: number): Promise<void> {
    await systemClock.sleep(this.random() * mostMs);
  }

  #tell(what: string): void {
    this.story.push(`${new Date().toISOString()} ${what}`);
  }
}

async function setTheScene(
  t: TestContext,
  seed: number,
): Promise<{ scene: Scene; path: string } | undefined> {
  const workspace = new Workspace(t);
  const disk = SmallDisk.mount(workspace.path("disk"), DISK_BYTES, workspace);
  if (disk === undefined) {
    t.skip(NO_SMALL_DISK);
    return undefined;
  }
  const hub = new TestHub({ dataDir: join(disk.folder, "data"), logFile: workspace.path("hub.log") });
  workspace.defer(() => hub.destroy());
  await hub.start();
  const path = workspace.path("logs", "a.log");
  const agent = new TestAgent(hub, workspace, { input: { paths: [path] } });
  workspace.defer(() => agent.kill9());
  await agent.start();
  const clients = Array.from(
    { length: CLIENTS },
    (_, at) => new BulkModel(`model-${at}`, randomFrom(seed + 1 + at)),
  );
  return { scene: new Scene(hub, disk, randomFrom(seed), clients), path };
}

/** Compares what is there with what was acknowledged. */
async function judge({ hub, clients }: Scene, log: SequenceLog, hint: string): Promise<void> {
  for (const client of clients)
    assert.deepEqual(await client.judge(hub.searchUrl), { lost: [], doubled: [] }, hint);
  await assertExactlyOnce(hub.searchUrl, [log], hint);
}

test(`a disk that fills and empties for ${SECONDS} s loses and doubles nothing, whatever ends meanwhile`, async (t) => {
  const seed = chooseSeed();
  const found = await setTheScene(t, seed);
  if (found === undefined) return;
  const { scene, path } = found;
  for (const client of scene.clients) assert.equal(await client.write(scene.hub.searchUrl), true);
  const over = new AbortController();
  const log = new SequenceLog("disk");
  const deeds = (async () => {
    const endMs = systemClock.monotonic() + SECONDS * 1_000;
    while (systemClock.monotonic() < endMs) await scene.turn();
    await scene.mend();
  })().finally(() => over.abort());
  const lines = SECONDS * LINES_PER_SECOND;
  const options = { log, path, lines, random: randomFrom(seed), rate: LINES_PER_SECOND, until: deeds };
  try {
    await Promise.all([
      deeds,
      writeInBursts(options),
      ...scene.clients.map((client, at) => scene.write(client, randomFrom(seed - 1 - at), over.signal)),
    ]);
    await scene.takesWrites();
    const hint = `(repeat with --seed ${seed})`;
    await judge(scene, log, hint);
    await scene.hub.stop();
    await scene.hub.start();
    await judge(scene, log, `after a restart ${hint}`);
    const unanswered = scene.clients.flatMap((client) => client.unanswered);
    assert.deepEqual([...scene.wrong, ...unanswered], [], hint);
  } finally {
    t.diagnostic(scene.story.join("\n"));
  }
  const sum = (pick: (client: BulkModel) => number): number =>
    scene.clients.reduce((total, client) => total + pick(client), 0);
  t.diagnostic(
    `seed ${seed}: ${log.count} lines, ${sum((each) => each.acknowledged)} operations acknowledged, ` +
      `${sum((each) => each.unknown)} unknown (by status ${JSON.stringify(scene.clients.map(({ refusals }) => [...refusals]))}), ` +
      `${scene.story.length} deeds; missing 0, doubled 0, acknowledged writes lost 0`,
  );
});
