import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { systemClock } from "#proto/kit/clock.ts";
import { AppError } from "#proto/kit/errors.ts";
import { START } from "#proto/position.ts";
import { chooseSeed, randomFrom } from "#test/harness/random.ts";
import { setting as logSetting, messages, type Setting, started } from "#test/harness/running-pipeline.ts";
import { decodeCursor } from "./cursor.ts";
import { Floors } from "./floors.ts";
import type { Pipeline } from "./pipeline.ts";
import type { PipelineOptions } from "./pipeline-options.ts";
import type { RawSource, WrittenDocuments } from "./ports.ts";

/** Waits of a change are at least this long. */
const STALL_MS = 3_000;
const LOSSES = { incarnation: 1, survives: () => true };

/** A log to which lines of partitions are written, and hubs that share it. */
class World {
  readonly log: Setting = logSetting();
  /** Partitions whose documents aren't taken until `open`. */
  readonly held = new Set<number>();
  /** Calls of the sink with documents of a held partition. */
  holding = 0;
  readonly #context: TestContext;
  readonly #lengths = new Map<number, { lines: number; bytes: number }>();
  #opened = Promise.withResolvers<void>();

  constructor(context: TestContext) {
    this.#context = context;
    context.after(() => this.open());
    this.log.sink.before = async ({ partition }) => {
      if (!this.held.has(partition)) return;
      this.holding++;
      await this.#opened.promise;
    };
  }

  /** Writes further lines of a partition, such as `7/0`, one a message. */
  write(partition: number, count: number): void {
    const file = this.#lengths.get(partition) ?? { lines: 0, bytes: 0 };
    this.#lengths.set(partition, file);
    for (let at = 0; at < count; at++) {
      const text = `${partition}/${file.lines++}\n`;
      this.log.raw.append({ text, from: file.bytes, fileKey: `f${partition}`, partition });
      file.bytes += text.length;
    }
  }

  /** All lines that were written, sorted. */
  get written(): string[] {
    return [...this.#lengths]
      .flatMap(([partition, { lines }]) => Array.from({ length: lines }, (_, at) => `${partition}/${at}`))
      .sort();
  }

  hub(options: Partial<PipelineOptions> = {}): Promise<Pipeline> {
    return started(this.#context, this.log, { sharing: { mayWrite: () => true }, ...options });
  }

  /** The lines of all documents, sorted. */
  get arrived(): string[] {
    return messages(this.log.sink).map(String).sort();
  }

  open(): void {
    this.held.clear();
    this.#opened.resolve();
    this.#opened = Promise.withResolvers();
  }

  async untilHeld(): Promise<void> {
    while (this.holding === 0) await setImmediate();
  }

  /** Sequence in RAW up to which a partition's stored cursor covers it. */
  async covered(partition: number): Promise<number> {
    const entry = await this.log.cursors.get(`cursor.${partition}`);
    return entry === null ? 0 : decodeCursor(entry.key, entry.value).rawPosition.sequence;
  }

  /** Asserts that each line was written to the sink, and no message more than once. */
  assertOnce(): void {
    const { sink } = this.log;
    assert.deepEqual(this.arrived, this.written);
    const origins = sink.writes.map(({ origin }) => origin.rawSequence);
    assert.equal(origins.length, new Set(origins).size, "a message was processed twice");
  }
}

/** Counts the readers of a log, of which those after the first wait for `open` before each message. */
class HeldReaders implements RawSource {
  begun = 0;
  open = 0;
  readonly #source: RawSource;
  readonly #opened = Promise.withResolvers<void>();

  constructor(source: RawSource) {
    this.#source = source;
  }

  async *read(options: Parameters<RawSource["read"]>[0]) {
    const isFirst = this.begun++ === 0;
    this.open++;
    try {
      for await (const entry of this.#source.read(options)) {
        if (!isFirst) await this.#opened.promise;
        yield entry;
      }
    } finally {
      this.open--;
    }
  }

  letGo(): void {
    this.#opened.resolve();
  }
}

/** Whether a promise has settled. */
function follow(promise: Promise<unknown>): { isOver: boolean } {
  const state = { isOver: false };
  promise.then(
    () => (state.isOver = true),
    () => (state.isOver = true),
  );
  return state;
}

/** A clock whose waits for blocked outputs are short. */
const hasty: typeof systemClock = {
  ...systemClock,
  sleep: (ms, signal) => systemClock.sleep(ms >= STALL_MS ? ms / 20 : ms, signal),
};

test("partitions that stay are read and written while one that is given away is drained", async (t) => {
  const world = new World(t);
  const { sink, raw } = world.log;
  const source = new HeldReaders(raw);
  const pipeline = await world.hub({ source });
  await pipeline.assign(new Set([7, 8]));
  world.held.add(8);
  world.write(8, 3);
  world.write(7, 3);
  await world.untilHeld();
  const change = pipeline.assign(new Set([7]));
  const state = follow(change);
  world.write(7, 3);
  await sink.reached(6);
  assert.equal(state.isOver, false);
  world.open();
  await change;
  assert.equal(await world.covered(8), 3);
  world.write(7, 1);
  await sink.reached(10);
  assert.equal(source.begun, 1);
  world.assertOnce();
});

test("lines of a partition that was given away are another hub's", async (t) => {
  const world = new World(t);
  const { sink } = world.log;
  const [first, second] = [await world.hub(), await world.hub({ hub: "hub-2" })];
  await first.assign(new Set([7, 8]));
  world.write(7, 2);
  world.write(8, 2);
  await sink.reached(4);
  await first.assign(new Set([7]));
  world.write(8, 2);
  world.write(7, 2);
  await sink.reached(6);
  await second.assign(new Set([8]));
  await sink.reached(8);
  await second.assign(new Set([8, 7]));
  await first.assign(new Set());
  world.assertOnce();
});

test("partitions are taken over at once while writes of others hang", async (t) => {
  const world = new World(t);
  world.held.add(7);
  const pipeline = await world.hub();
  await pipeline.assign(new Set([7]));
  world.write(7, 3);
  world.write(8, 3);
  await world.untilHeld();
  await pipeline.assign(new Set([7, 8]));
  await world.log.sink.reached(3);
  assert.deepEqual(messages(world.log.sink), ["8/0", "8/1", "8/2"]);
  world.open();
  await world.log.sink.reached(6);
  world.assertOnce();
});

test("the backlog of partitions that are taken over keeps the others back neither before nor after it is read", async (t) => {
  const world = new World(t);
  const { sink, raw, cursors } = world.log;
  const source = new HeldReaders(raw);
  const pipeline = await world.hub({ source });
  world.write(8, 20);
  world.write(7, 2);
  await pipeline.assign(new Set([7]));
  await sink.reached(2);
  await pipeline.assign(new Set([7, 8]));
  assert.equal(pipeline.floor.sequence, 0);
  world.write(7, 10);
  await sink.reached(12);
  assert.equal(source.open, 2);
  source.letGo();
  await sink.reached(32);
  while (source.open > 1) await setImmediate();
  world.write(8, 2);
  world.write(7, 2);
  await sink.reached(36);
  assert.equal(source.begun, 2);
  await pipeline.assign(new Set([8]));
  const floors = new Floors();
  await floors.load(cursors, LOSSES);
  assert.equal(floors.of(7).sequence, 36);
  world.assertOnce();
});

test("partitions can be taken and given away while others catch up", async (t) => {
  const world = new World(t);
  const { sink, raw } = world.log;
  const source = new HeldReaders(raw);
  const pipeline = await world.hub({ source });
  for (const partition of [6, 8, 9, 7]) world.write(partition, 4);
  await pipeline.assign(new Set([7]));
  await sink.reached(4);
  await pipeline.assign(new Set([7, 8, 9]));
  await pipeline.assign(new Set([7, 9]));
  await pipeline.assign(new Set([6, 9]));
  world.write(9, 4);
  await setImmediate();
  assert.equal(sink.documents.length, 4);
  source.letGo();
  await sink.reached(16);
  while (source.open > 1) await setImmediate();
  world.write(6, 1);
  world.write(9, 1);
  await sink.reached(18);
  await pipeline.assign(new Set([6, 7, 8, 9]));
  await sink.reached(22);
  world.assertOnce();
});

test("a message that waited for capacity while its partition was given away and taken again isn't passed over", async (t) => {
  const world = new World(t);
  const { sink } = world.log;
  const pipeline = await world.hub({ inFlightBytes: 1 });
  await pipeline.assign(new Set([7, 8]));
  world.held.add(7);
  world.write(7, 1);
  world.write(8, 1);
  await world.untilHeld();
  await pipeline.assign(new Set([7]));
  await pipeline.assign(new Set([7, 8]));
  world.open();
  await sink.reached(1);
  world.write(8, 1);
  await sink.reached(3);
  world.assertOnce();
});

test("a floor says where the next hub reads a partition that never had a message", async (t) => {
  const world = new World(t);
  const { sink, cursors } = world.log;
  const pipeline = await world.hub();
  await pipeline.assign(new Set([7, 8]));
  world.write(7, 5);
  await sink.reached(5);
  await pipeline.assign(new Set([7]));
  const floors = new Floors();
  await floors.load(cursors, LOSSES);
  assert.equal(floors.of(8).sequence, 5);
});

test("a floor that is being stored when partitions are added isn't theirs", async (t) => {
  const world = new World(t);
  const { sink, cursors } = world.log;
  // The first floor is due at once.
  const clock = { ...systemClock, monotonic: () => systemClock.monotonic() + 3_600_000 };
  const pipeline = await world.hub({ clock });
  const [begun, stored] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const put = cursors.put.bind(cursors);
  cursors.put = async (key, value) => {
    if (!key.startsWith("floor.")) return put(key, value);
    begun.resolve();
    await stored.promise;
    return put(key, value);
  };
  world.write(8, 2);
  await pipeline.assign(new Set([7]));
  world.write(7, 2);
  await sink.reached(2);
  await begun.promise;
  world.held.add(8);
  await pipeline.assign(new Set([7, 8]));
  stored.resolve();
  await world.untilHeld();
  for (let at = 0; at < 10; at++) await setImmediate();
  assert.equal(pipeline.floor.sequence, 0);
  world.open();
  await sink.reached(4);
});

test("an output that is blocked delays what is given away by seconds, and gets each line once", async (t) => {
  const world = new World(t);
  const hubs = await Promise.all([1, 2].map((number) => withFile(t, world, `hub-${number}`)));
  const [first, second] = hubs as [FileHub, FileHub];
  // There is a folder where the file should be.
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

test("a cursor that another hub stores during a change has the session load it again", async (t) => {
  const world = new World(t);
  const { sink, cursors } = world.log;
  const pipeline = await world.hub();
  await pipeline.assign(new Set([7, 8]));
  world.write(7, 2);
  await sink.reached(2);
  while ((await world.covered(7)) < 2) await setImmediate();
  world.held.add(8);
  world.write(8, 1);
  await world.untilHeld();
  const change = pipeline.assign(new Set([7]));
  const { value } = (await cursors.get("cursor.7"))!;
  const other = { ...(JSON.parse(Buffer.from(value).toString()) as object), owner: "other" };
  await cursors.put("cursor.7", Buffer.from(JSON.stringify(other)));
  world.write(7, 2);
  await sink.reached(4);
  await systemClock.sleep(400); // until the cursor is to be stored
  world.open();
  await change;
  world.write(7, 2);
  await sink.reached(7);
  assert.deepEqual(world.arrived, world.written);
});

test("a partition that has stopped is processed again after a change", async (t) => {
  const world = new World(t);
  const { sink, cursors } = world.log;
  const stopped = Promise.withResolvers<number>();
  let isMember = true;
  const pipeline = await world.hub({
    sharing: { mayWrite: () => isMember },
    events: {
      onPartitionStopped: (partition) => {
        isMember = true;
        stopped.resolve(partition);
      },
    },
  });
  await pipeline.assign(new Set([7, 8]));
  cursors.create = () => {
    delete (cursors as Partial<typeof cursors>).create;
    isMember = false;
    return Promise.reject(new AppError("journal_conflict", "another hub has stored it"));
  };
  world.write(7, 2);
  await sink.reached(2);
  assert.equal(await stopped.promise, 7);
  world.write(7, 2);
  world.write(8, 2);
  await pipeline.assign(new Set([7, 8, 9]));
  await sink.reached(6);
  assert.deepEqual(world.arrived, world.written);
});

test("a pipeline that stops during a change stores what has arrived", async (t) => {
  const world = new World(t);
  const pipeline = await world.hub();
  await pipeline.assign(new Set([7, 8]));
  world.held.add(8);
  world.write(8, 1);
  await world.untilHeld();
  const change = assert.rejects(pipeline.assign(new Set([7])), { code: "closed" });
  await setImmediate();
  const stopped = pipeline.stop();
  await change;
  world.open();
  await stopped;
  assert.equal(await world.covered(8), 1);
});

test("a membership that lapses during a change ends it", async (t) => {
  const world = new World(t);
  const { sink } = world.log;
  const pipeline = await world.hub();
  await pipeline.assign(new Set([7, 8]));
  world.held.add(8);
  world.write(8, 2);
  await world.untilHeld();
  const change = pipeline.assign(new Set([7, 9]));
  await setImmediate();
  pipeline.abandon();
  world.open();
  await change;
  await pipeline.assign(new Set());
  await pipeline.assign(new Set([7, 8]));
  world.write(7, 1);
  await sink.reached(3);
  assert.deepEqual(world.arrived, world.written);
});

test("where the cursors of new partitions can't be loaded, the others are read on, and the next try takes them", async (t) => {
  const world = new World(t);
  const { sink, cursors } = world.log;
  const pipeline = await world.hub();
  await pipeline.assign(new Set([6, 7]));
  cursors.keys = () => Promise.reject(new AppError("unavailable", "no answer"));
  await assert.rejects(pipeline.assign(new Set([7, 8])), { code: "unavailable" });
  for (const partition of [6, 7, 8]) world.write(partition, 2);
  await sink.reached(2);
  delete (cursors as Partial<typeof cursors>).keys;
  await pipeline.assign(new Set([6, 7, 8]));
  await sink.reached(6);
  world.assertOnce();
});

test("a loss before a change is taken into account for partitions that stay as well", async (t) => {
  const world = new World(t);
  const { sink } = world.log;
  const losses = { incarnation: 1, survives: () => losses.incarnation === 1 };
  const pipeline = await world.hub({ losses });
  await pipeline.assign(new Set([7]));
  world.write(7, 3);
  await sink.reached(3);
  losses.incarnation = 2;
  await pipeline.assign(new Set([7, 8]));
  while (sink.writes.length < 6) await setImmediate();
  assert.deepEqual(pipeline.written.sequence, 6);
});

test("a loss during a change is taken into account for new partitions as well", async (t) => {
  const world = new World(t);
  const { sink, cursors } = world.log;
  const losses = {
    incarnation: 1,
    survives: (written: WrittenDocuments) => written.docIncarnation === losses.incarnation,
  };
  const [first, second] = [await world.hub({ losses }), await world.hub({ losses, hub: "hub-2" })];
  await first.assign(new Set([7]));
  await second.assign(new Set([8]));
  for (const partition of [7, 8]) world.write(partition, 2);
  await sink.reached(4);
  await second.assign(new Set());
  const keys = cursors.keys.bind(cursors);
  cursors.keys = async (prefix) => {
    const found = await keys(prefix);
    losses.incarnation = 2;
    return found;
  };
  await first.assign(new Set([7, 8]));
  assert.deepEqual(first.floor, START);
  const { length } = sink.writes;
  await first.resume();
  const again = (): Set<number> => new Set(sink.writes.slice(length).map(({ origin }) => origin.rawSequence));
  while (again().size < 4) await setImmediate();
  assert.deepEqual(world.arrived, world.written);
});

test("where a cursor can't be stored, the next hub repeats what came after the stored one, and shards drop it", async (t) => {
  const world = new World(t);
  const { sink, cursors } = world.log;
  const [first, second] = [await world.hub(), await world.hub({ hub: "hub-2" })];
  await first.assign(new Set([7, 8]));
  const create = t.mock.method(cursors, "create", () =>
    Promise.reject(new AppError("unavailable", "no answer")),
  );
  for (const partition of [7, 8]) world.write(partition, 2);
  await sink.reached(4);
  await first.assign(new Set([7]));
  create.mock.restore();
  world.write(8, 1);
  await second.assign(new Set([8]));
  await sink.reached(5);
  assert.deepEqual(world.arrived, world.written);
});

test("a thread that dies during a change does its batch again", async (t) => {
  const world = new World(t);
  const folder = mkdtempSync(join(tmpdir(), "tailrace-change-"));
  t.after(() => rmSync(folder, { recursive: true }));
  process.env["TAILRACE_DYING"] = join(folder, "died");
  const workerScript = new URL("../../../test/fixtures/exiting-pipeline-worker.ts", import.meta.url);
  const settings = { id: "main", workers: 1, batchSize: 1, batchDelayMs: 1 };
  const [first, second] = [await world.hub({ workerScript, settings }), await world.hub({ hub: "hub-2" })];
  await first.assign(new Set([7, 8]));
  world.write(7, 4);
  world.write(8, 4);
  await world.log.sink.reached(5);
  await first.assign(new Set([7]));
  assert.ok(existsSync(join(folder, "died")));
  await second.assign(new Set([8]));
  await world.log.sink.reached(8);
  world.assertOnce();
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
