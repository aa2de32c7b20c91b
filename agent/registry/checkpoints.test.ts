import assert from "node:assert/strict";
import { test } from "node:test";
import { silentLogger } from "#proto/kit/log.ts";
import { Metrics } from "#proto/kit/metrics.ts";
import { Checkpoints } from "./checkpoints.ts";
import type { Database } from "./store.ts";

interface Operation {
  readonly type: "put" | "del";
  readonly key: string;
  readonly value?: string;
}

/** A database in memory whose disk may be full. */
class Disk {
  readonly kept = new Map<string, string>();
  full = false;
  opened = 0;
  closed = 0;

  open(): Promise<Database> {
    if (this.full) return Promise.reject(new Error("No space left on device"));
    this.opened++;
    return Promise.resolve({
      batch: (operations: readonly Operation[]) => this.#batch(operations),
      put: (key: string, value: string) => this.#batch([{ type: "put", key, value }]),
      close: () => {
        this.closed++;
        return Promise.resolve();
      },
    } as unknown as Database);
  }

  #batch(operations: readonly Operation[]): Promise<void> {
    if (this.full) return Promise.reject(new Error("No space left on device"));
    for (const { type, key, value = "" } of operations) {
      if (type === "put") this.kept.set(key, value);
      else this.kept.delete(key);
    }
    return Promise.resolve();
  }
}

async function scene() {
  const disk = new Disk();
  const now = new Map<string, string>();
  const failures = new Metrics().counter("tailrace_test_failures_total", "Failures.");
  const checkpoints = new Checkpoints(await disk.open(), {
    open: () => disk.open(),
    valueOf: (key) => now.get(key),
    keys: () => now.keys(),
    onWritten: () => undefined,
    folder: "/data",
    failures,
    log: silentLogger(),
  });
  const set = (key: string, value: string): void => {
    now.set(key, value);
    checkpoints.touch(key);
  };
  return { disk, now, checkpoints, set };
}

test("changed rows are written, removed rows deleted, and a clean close is marked", async () => {
  const { disk, now, checkpoints, set } = await scene();
  for (let row = 0; row < 1_200; row++) set(`f/${row}`, "1");
  await checkpoints.write();
  assert.equal(disk.kept.size, 1_200);
  now.delete("f/0");
  checkpoints.touch("f/0");
  await checkpoints.close(["m/clean", "yes"]);
  assert.deepEqual([disk.kept.has("f/0"), disk.kept.get("m/clean"), disk.opened], [false, "yes", 1]);
});

test("after a failure the database is reopened, and gets all rows, as its content is unknown", async () => {
  const { disk, checkpoints, set } = await scene();
  set("f/1", "1");
  await checkpoints.write();
  disk.full = true;
  set("f/2", "1");
  await checkpoints.write();
  await checkpoints.write();
  assert.match(checkpoints.problem, /can't be written: No space left on device/);
  disk.full = false;
  disk.kept.clear();
  await checkpoints.write();
  assert.deepEqual([checkpoints.problem, disk.opened], ["", 2]);
  assert.deepEqual([...disk.kept.keys()].sort(), ["f/1", "f/2"]);
  await checkpoints.close(["m/clean", "yes"]);
});

test("an end on a full disk is not marked as one in order", async () => {
  const { disk, checkpoints, set } = await scene();
  disk.full = true;
  set("f/1", "1");
  await checkpoints.close(["m/clean", "yes"]);
  assert.equal(disk.kept.size, 0);
});

test("a database with nothing to write is closed on a full disk as well", async () => {
  const { disk, checkpoints } = await scene();
  disk.full = true;
  await checkpoints.close(["m/clean", "yes"]);
  assert.deepEqual([disk.kept.size, disk.closed], [0, 1]);
});
