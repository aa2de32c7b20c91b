import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { systemClock } from "#proto/kit/clock.ts";
import { chooseSeed, randomFrom } from "#test/harness/random.ts";
import { hasty, STALL_MS, World } from "#test/support/pipeline/exchanged-partitions.ts";
import type { Pipeline } from "./pipeline.ts";

test("an output that is blocked delays what is given away by seconds, and gets each line once", async (t) => {
  const world = new World(t);
  const hubs = await Promise.all([1, 2].map((number) => withFile(t, world, `hub-${number}`)));
  const [first, second] = hubs as [FileHub, FileHub];
  // A folder is where the file should be.
  mkdirSync(first.path);
  await first.pipeline.assign(new Set([7, 8]));
  world.write(7, 4);
  world.write(8, 4);
  while (first.pipeline.status().failures.length === 0) await setImmediate();
  const startedMs = systemClock.monotonic();
  await first.pipeline.assign(new Set([7]));
  assert.ok(systemClock.monotonic() - startedMs < STALL_MS);
  await second.pipeline.assign(new Set([8]));
  while (second.lines().length < 4) await setImmediate();
  rmdirSync(first.path);
  while (first.lines().length < 4) await systemClock.sleep(10);
  await first.pipeline.stop();
  await second.pipeline.stop();
  assert.deepEqual([...first.lines(), ...second.lines()].sort(), world.written);
  assert.deepEqual(world.arrived, world.written);
});

test("events that a filter keeps move with all partitions", async (t) => {
  const world = new World(t);
  const text = `filter { aggregate {
    task_id => "%{[host][name]}"
    code => "map['sum'] = (map['sum'] || 0) + 1; event.set('sum', map.sum)"
  } }`;
  const pipelines = [{ id: "main", files: [{ path: "p.conf", text }] }];
  const settings = { id: "main", pipelines, workers: 1, batchSize: 2, batchDelayMs: 1 };
  const [first, second] = [await world.hub({ settings }), await world.hub({ settings, hub: "hub-2" })];
  const { sink } = world.log;
  await first.assign(new Set([7, 8]));
  world.write(7, 2);
  world.write(8, 2);
  await sink.reached(4);
  await first.assign(new Set());
  await second.assign(new Set([7, 8]));
  world.write(7, 1);
  await sink.reached(5);
  assert.equal(sink.documents.at(-1)!.source["sum"], 5);
  assert.deepEqual(world.arrived, world.written);
});

interface FileHub {
  readonly pipeline: Pipeline;
  readonly path: string;
  readonly lines: () => string[];
}

/** A hub whose lines go to its own file as well. */
async function withFile(t: TestContext, world: World, hub: string): Promise<FileHub> {
  const folder = mkdtempSync(join(tmpdir(), "tailrace-change-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "out.log");
  const text = `output {
    elasticsearch { index => "lines" }
    file { path => "out.log" codec => line { format => "%{message}" } }
  }`;
  const pipelines = [{ id: "main", files: [{ path: "p.conf", text }] }];
  const pipeline = await world.hub({
    hub,
    clock: hasty,
    settings: { id: "main", pipelines, workers: 2, batchSize: 4, batchDelayMs: 1 },
    outputs: {
      folder,
      folders: [],
      checkTarget: () => undefined,
      bearer: () => Promise.reject(new Error("there is none")),
    },
  });
  return { pipeline, path, lines: () => linesOf(path) };
}

function linesOf(path: string): string[] {
  try {
    return readFileSync(path, "utf8").split("\n").slice(0, -1);
  } catch {
    return [];
  }
}

test("hubs that exchange partitions at random give each line to the log and the outputs once", async (t) => {
  const seed = chooseSeed();
  const random = randomFrom(seed);
  const world = new World(t);
  const { sink } = world.log;
  const hubs = await Promise.all([1, 2, 3].map((number) => withFile(t, world, `hub-${number}`)));
  const partitions = [3, 4, 5, 6, 7, 8];
  let owners = partitions.map(() => 0);
  const sharesOf = (given: readonly number[]): Set<number>[] =>
    hubs.map((_, hub) => new Set(partitions.filter((_, at) => given[at] === hub)));
  await Promise.all(hubs.map(({ pipeline }, hub) => pipeline.assign(sharesOf(owners)[hub]!)));
  for (let round = 0; round < 40; round++) {
    for (const partition of partitions) world.write(partition, Math.floor(random() * 6));
    if (random() < 0.5) await sink.reached(Math.floor(world.written.length * random()));
    const next = owners.map((owner) => (random() < 0.3 ? Math.floor(random() * hubs.length) : owner));
    const [before, after] = [sharesOf(owners), sharesOf(next)];
    // As PartitionOwner does: all have released before one takes.
    await Promise.all(hubs.map(({ pipeline }, at) => pipeline.assign(before[at]!.intersection(after[at]!))));
    await Promise.all(hubs.map(({ pipeline }, at) => pipeline.assign(after[at]!)));
    owners = next;
  }
  await sink.reached(world.written.length);
  for (const { pipeline } of hubs) await pipeline.stop();
  assert.deepEqual(world.arrived, world.written, `seed ${seed}`);
  assert.deepEqual(hubs.flatMap(({ lines }) => lines()).sort(), world.written, `seed ${seed}`);
});
