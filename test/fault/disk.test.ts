/**
 * A full disk under the hub, its nats-server included, and under a merge, on a file system of its own. Run by name: it takes
 * minutes. What was acknowledged is there afterwards, /health names the disk meanwhile, and the hub continues by itself when
 * there is space again. Skipped where no file system may be mounted.
 */

import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { FileSink } from "#hub/engine/files/segment-file.ts";
import { Spool } from "#hub/engine/files/spool.ts";
import type { Shard } from "#hub/engine/shard.ts";
import { MIB } from "#proto/kit/units.ts";
import { request } from "#test/harness/http.ts";
import { startHub, type TestHub } from "#test/harness/hub.ts";
import { NO_SMALL_DISK, SmallDisk } from "#test/harness/small-disk.ts";
import { until } from "#test/harness/until.ts";
import { Workspace } from "#test/harness/workspace.ts";
import { apply, contents, INDEX, openShard, operation } from "#test/support/engine/shard.ts";

const DISK_BYTES = 256 * MIB;
/** As many as are merged without being asked for. */
const MERGED_SEGMENTS = 8;
/** Of so many, a merge puts words aside. */
const DOCUMENTS_OF_SEGMENT = 1_500;
const DOCUMENTS_AT_ONCE = 200;
/** Longest wait for a hub that continues: its watchdog waits a minute before it restarts a nats-server. */
const RECOVERY_MS = 240_000;
/** A part's check runs every few seconds. */
const HEALTH_MS = 60_000;
/** A hub whose log doesn't answer gives its parts 15 s and the log 25 s; see hub/node/hub.ts. */
const STOP_MS = 45_000;
/** No write is answered later: its own timeout is a minute. */
const WRITE_MS = 90_000;

/** A small disk with a hub on it, and what the hub acknowledged. */
class FullDisk {
  readonly hub: TestHub;
  readonly #disk: SmallDisk;
  readonly #acknowledged = new Set<string>();
  #round = 0;
  /** Why the last write wasn't taken. */
  #refusal = "";

  private constructor(hub: TestHub, disk: SmallDisk) {
    this.hub = hub;
    this.#disk = disk;
  }

  /** Returns undefined where nothing may be mounted. */
  static async start(t: TestContext): Promise<FullDisk | undefined> {
    const workspace = new Workspace();
    t.after(() => workspace.close());
    const disk = SmallDisk.mount(join(workspace.folder, "disk"), DISK_BYTES, workspace);
    if (disk === undefined) {
      t.skip(NO_SMALL_DISK);
      return undefined;
    }
    const hub = await startHub({
      dataDir: join(disk.folder, "data"),
      logFile: join(workspace.folder, "hub.log"),
    });
    workspace.defer(() => hub.destroy());
    return new FullDisk(hub, disk);
  }

  /** Fills the disk to its last byte. */
  fill(): void {
    this.#disk.fill();
    assert.equal(this.#disk.freeBytes, 0, "the disk is full");
  }

  empty(): void {
    this.#disk.empty();
  }

  /** Writes documents; returns whether all of them were acknowledged. */
  async write(): Promise<boolean> {
    const round = this.#round++;
    const ids = Array.from({ length: DOCUMENTS_AT_ONCE }, (_, at) => `${round}-${at}`);
    const line = (id: string): string =>
      `{"index":{"_index":"a","_type":"_doc","_id":"${id}"}}\n{"text":"${`${id} `.repeat(200)}"}\n`;
    try {
      const answer = await fetch(`${this.hub.searchUrl}/_bulk`, {
        method: "POST",
        headers: { "content-type": "application/x-ndjson" },
        body: ids.map(line).join(""),
        signal: AbortSignal.timeout(WRITE_MS),
      });
      const text = await answer.text();
      this.#refusal = text.slice(0, 500);
      if (!answer.ok) return false;
      const { items } = JSON.parse(text) as { items: { index: { _id: string; status: number } }[] };
      const taken = items.map(({ index }) => index).filter(({ status }) => status < 300);
      for (const { _id } of taken) this.#acknowledged.add(_id);
      return taken.length === ids.length;
    } catch (error) {
      this.#refusal = String(error);
      return false;
    }
  }

  /** Resolves when a write is taken. */
  async takesWrites(): Promise<void> {
    await until(
      "a write that is taken",
      async () => (await this.write()) || Promise.reject(new Error(this.#refusal)),
      { deadlineMs: RECOVERY_MS, everyMs: 1_000 },
    );
  }

  /** Checks that the hub has each acknowledged document, once. */
  async checkDocuments(): Promise<void> {
    await request("POST", `${this.hub.searchUrl}/a/_refresh`);
    for (const id of this.#acknowledged) {
      const { status } = await fetch(`${this.hub.searchUrl}/a/_doc/${id}`);
      assert.equal(status, 200, `document ${id} was acknowledged`);
    }
  }

  /** Resolves when no write is taken any more. */
  async takesNoWrites(): Promise<void> {
    const refused = async (): Promise<boolean> => !(await this.write());
    await until("a write that isn't taken", refused, { deadlineMs: RECOVERY_MS });
  }

  /** Returns whether the hub keeps space for its end. */
  get hasReserve(): boolean {
    return existsSync(join(this.hub.dataDir, "reserve"));
  }

  /** Resolves when /health has said this. */
  async health(wanted: RegExp): Promise<void> {
    await until(
      `a health of ${wanted}`,
      async () => {
        const text = await (await fetch(`${this.hub.dashboardUrl}/health`)).text();
        return wanted.test(text) || Promise.reject(new Error(text));
      },
      { deadlineMs: HEALTH_MS },
    );
  }
}

test("a hub on a full disk says so and continues by itself when there is space", async (t) => {
  const disk = await FullDisk.start(t);
  if (disk === undefined) return;
  for (let round = 0; round < 5; round++) assert.ok(await disk.write());
  disk.fill();
  await disk.health(/"part":"disk","level":"failing"/);
  await disk.takesNoWrites();
  const { status } = await fetch(`${disk.hub.searchUrl}/a/_search`);
  assert.equal(status, 200, "searches are answered");
  disk.empty();
  await disk.takesWrites();
  await disk.checkDocuments();
});

test("a hub on a full disk stops in time, in order where nats-server answers, and has every document when there is space", async (t) => {
  const disk = await FullDisk.start(t);
  if (disk === undefined) return;
  for (let round = 0; round < 5; round++) assert.ok(await disk.write());
  await until("the reserve of disk space", () => disk.hasReserve);
  disk.fill();
  await disk.takesNoWrites();
  const startedMs = performance.now();
  await disk.hub.stop();
  const tookMs = Math.round(performance.now() - startedMs);
  t.diagnostic(`stopped after ${tookMs} ms`);
  assert.ok(tookMs < STOP_MS, `stopped after ${tookMs} ms`);
  const log = readFileSync(disk.hub.logFile, "utf8");
  if (!log.includes("the log does not answer")) assert.doesNotMatch(log, /did not stop cleanly/);
  assert.equal(disk.hasReserve, false, "the reserve was used");
  disk.empty();
  await disk.hub.start();
  await disk.takesWrites();
  await disk.checkDocuments();
});

test("a hub killed on a full disk starts on it, answers searches, and continues when there is space", async (t) => {
  const disk = await FullDisk.start(t);
  if (disk === undefined) return;
  for (let round = 0; round < 5; round++) assert.ok(await disk.write());
  await until("the reserve of disk space", () => disk.hasReserve);
  disk.fill();
  await disk.takesNoWrites();
  await disk.hub.kill9();
  await disk.hub.start();
  assert.equal(disk.hasReserve, false, "the reserve was used");
  await disk.checkDocuments();
  disk.empty();
  await disk.takesWrites();
  await disk.checkDocuments();
});

/** When the disk gets full while segments are merged, by the call of a merge that meets it. */
const MERGE_MOMENTS: readonly {
  readonly name: string;
  readonly fillBefore: (t: TestContext, fill: () => void) => void;
}[] = [
  {
    name: "while words are put aside",
    fillBefore: (t, fill) => fillBeforeCall(t, Spool.prototype, "write", fill),
  },
  {
    name: "while words that were put aside are written",
    fillBefore: (t, fill) => fillBeforeCall(t, Spool.prototype, "pieces", fill),
  },
  {
    name: "while documents are written",
    fillBefore: (t, fill) => fillBeforeCall(t, FileSink.prototype, "write", fill),
  },
];

/** Calls `fill` before the first call of a method. */
function fillBeforeCall<T extends object>(
  t: TestContext,
  of: T,
  name: keyof T & string,
  fill: () => void,
): void {
  const methods = of as Record<string, (...all: unknown[]) => unknown>;
  const method = methods[name]!;
  const mocked = t.mock.method(methods, name, function (this: T, ...all: unknown[]) {
    mocked.mock.restore();
    fill();
    return method.apply(this, all);
  });
}

for (const { name, fillBefore } of MERGE_MOMENTS)
  test(`a merge that meets a full disk ${name} loses nothing, leaves no file, and is done when there is space`, async (t) => {
    const workspace = new Workspace();
    t.after(() => workspace.close());
    const disk = SmallDisk.mount(join(workspace.folder, "disk"), DISK_BYTES, workspace);
    if (disk === undefined) return t.skip(NO_SMALL_DISK);
    const folder = join(disk.folder, "shard");
    mkdirSync(folder);
    const shard = openShard(folder);
    workspace.defer(() => shard.close());
    const words = ["all", "of", "these", "words", "are", "there", "once"];
    const write = (sequence: number, count: number): void => {
      const ids = Array.from({ length: count }, (_, at) => `${sequence}-${at}`);
      const operations = ids.map((id) =>
        operation(INDEX, id, { message: words.map((word) => `${word}${id}`).join(" "), k: id }),
      );
      apply(shard, sequence, ...operations);
      shard.refresh();
    };
    for (let sequence = 1; sequence <= MERGED_SEGMENTS; sequence++) write(sequence, DOCUMENTS_OF_SEGMENT);
    shard.commit();
    const files = (): string[] => readdirSync(folder).sort();
    const before = files();

    fillBefore(t, () => disk.fill());
    await assert.rejects(shard.forceMerge(1), { code: "disk_full" });
    assert.deepEqual(files(), before);
    const wanted = contents(shard.searcher());
    assert.equal(wanted.size, MERGED_SEGMENTS * DOCUMENTS_OF_SEGMENT);
    assert.equal(shard.stats().segments, MERGED_SEGMENTS);
    // It is tried again, as often as it takes, and a write waits in memory meanwhile.
    assert.throws(() => whileMerging(shard), { code: "disk_full" });
    write(MERGED_SEGMENTS + 1, 1);
    assert.deepEqual(
      files().filter((file) => file.endsWith(".tmp")),
      [],
    );

    disk.empty();
    whileMerging(shard);
    shard.commit();
    assert.ok(shard.stats().segments <= 2, `${shard.stats().segments} segments`);
    shard.close();
    const again = openShard(folder);
    const found = contents(again.searcher());
    again.close();
    assert.equal(found.size, wanted.size + 1);
    for (const [id, source] of wanted) assert.equal(found.get(id), source);
    assert.deepEqual(
      files().filter((file) => file.endsWith(".tmp")),
      [],
    );
  });

/** Merges as the shard's thread does, as long as there is something to merge. */
function whileMerging(shard: Shard): void {
  while (shard.mergeStep());
}
