import assert from "node:assert/strict";
import { cpSync, existsSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, type TestContext, test } from "node:test";
import { CopySource } from "#hub/cluster/recovery/copy-source.ts";
import { committedPosition } from "#hub/cluster/shards/position-files.ts";
import { markedShards, markShard } from "#hub/cluster/shards/shard-folders.ts";
import { HubAnswerer } from "#hub/host/copies/hub-answerer.ts";
import { systemClock } from "#proto/kit/clock.ts";
import { AppError } from "#proto/kit/errors.ts";
import { silentLogger } from "#proto/kit/log.ts";
import { Metrics } from "#proto/kit/metrics.ts";
import type { Position } from "#proto/position.ts";
import { MemoryLog, openNode, options, put, temporaryFolder } from "#test/support/cluster/shard-feeding.ts";
import { MemoryBucket } from "#test/support/kit/memory-bucket.ts";
import type { StoredCopies } from "./copy-store.ts";
import { preparePlacement } from "./placement-start.ts";

const at = (sequence: number): Position => ({ incarnation: 1, sequence });

/** Requests between the hubs of a test. */
class Wire {
  readonly #served = new Map<string, (message: { readonly data: Uint8Array }) => Promise<Uint8Array>>();
  isAway = false;

  async request(subject: string, data: Uint8Array): Promise<Uint8Array> {
    if (this.isAway && Buffer.from(data).includes('"read"')) throw new AppError("timeout", "away");
    const answer = this.#served.get(subject);
    if (answer === undefined) throw new AppError("unavailable", "no responder");
    return answer({ data });
  }

  serve(
    subject: string,
    answer: (message: { readonly data: Uint8Array }) => Promise<Uint8Array>,
  ): () => void {
    this.#served.set(subject, answer);
    return () => this.#served.delete(subject);
  }
}

interface World {
  readonly engine: string;
  readonly uuid: string;
  readonly wire: Wire;
  /** What the other hub confirms. */
  readonly other: { hasAll: boolean };
  readonly leftOut: string[];
  readonly start: (given: Given) => Promise<boolean>;
}

interface Given {
  readonly copies?: "all" | "replicas";
  /** Holders of the shard of the index a; null: there is no table. */
  readonly holders?: string[] | null;
  /** The index isn't in the table. */
  readonly isUnplaced?: boolean;
  /** The other hub has published the shard. */
  readonly isElsewhere?: boolean;
  /** The log begins after this message. */
  readonly purgedTo?: number;
}

/** Hub a, which has documents, and hub b, which has those of two messages less on its disk and starts. */
async function openWorld(t: TestContext): Promise<World> {
  const [log, bucket, wire, folder] = [new MemoryLog(), new MemoryBucket(), new Wire(), temporaryFolder(t)];
  const [theirs, engine] = [join(folder, "a", "engine"), join(folder, "b", "engine")];
  const node = await openNode(t, log, theirs, bucket);
  await node.catalog.create("a", { settings: { number_of_shards: 1 }, mappings: {}, aliases: {} });
  await node.documents.write([put("1", { n: 1 })], options);
  node.host.commit();
  cpSync(theirs, engine, { recursive: true, filter: (path) => !path.endsWith(".lock") });
  for (const n of [2, 3]) await node.documents.write([put(`${n}`, { n })], options);
  node.host.commit();
  const { uuid } = node.catalog.get("a")!;
  const [clock, logger, metrics] = [systemClock, silentLogger(), new Metrics()];
  const held = join(folder, "a", "held");
  const source = new CopySource({
    transport: wire,
    node: "a",
    engine: theirs,
    held,
    clock,
    log: logger,
    metrics,
  });
  const other = { hasAll: true };
  const call = async (operation: string) => ({ value: operation === "reach" || other.hasAll, parts: [] });
  const hosts = [{ call, notify: () => undefined }];
  const answerer = new HubAnswerer({
    transport: wire,
    node: "a",
    hosts,
    isLive: () => true,
    behind: () => undefined,
    clock,
    metrics,
  });
  for (const part of [source, answerer]) {
    await part.start();
    t.after(() => part.stop());
  }
  const leftOut: string[] = [];
  const start = ({
    copies = "replicas",
    holders = null,
    isUnplaced,
    isElsewhere = false,
    purgedTo = 0,
  }: Given) => {
    const has = (index: string) => isElsewhere && index === uuid;
    const hubs = [{ id: "a", threads: 1, has }];
    const table = { epoch: 1, copies: isUnplaced === true ? {} : { [uuid]: [holders ?? []] } };
    const stored: StoredCopies | null = holders === null ? null : { table, hubs };
    return preparePlacement(
      {
        settings: { "cluster.copies": copies },
        hosts: {
          leaveOut: (index, shard) => {
            const name = `${index === uuid ? "a" : index}/${shard}`;
            if (!leftOut.includes(name)) leftOut.push(name);
          },
          whileEnded: (change) => change(),
        },
        catalog: { all: () => node.catalog.all() },
        journal: {
          isPurgedAfter: async (_stream, { sequence }) => sequence < purgedTo,
          majorityState: async () => ({ firstSequence: purgedTo + 1 }) as never,
          positionOf: (_stream, sequence) => at(sequence),
          core: wire,
        },
        cluster: {
          copyStore: { read: async () => stored },
          hasOthers: async () => false,
          identity: { node: "b" },
        },
        folder: join(folder, "b"),
        log: logger,
      },
      new AbortController().signal,
    );
  };
  return { engine, uuid, wire, other, leftOut, start };
}

const positionOf = (engine: string): number => committedPosition(engine, silentLogger()).sequence;

describe("shards at the start of a hub", () => {
  test("all can't be on one hub where others have dropped theirs, or this one has", async (t) => {
    const { start, engine, uuid } = await openWorld(t);
    await assert.rejects(start({ copies: "all", holders: ["a"] }), { code: "settings_invalid" });
    assert.equal(await start({ copies: "all" }), false);
    markShard(engine, { uuid, shard: 0 }, "gone");
    await assert.rejects(start({ copies: "all" }), { code: "settings_invalid" });
  });

  test("one that a crash left half taken is removed and left out", async (t) => {
    const { start, engine, uuid, leftOut } = await openWorld(t);
    markShard(engine, { uuid, shard: 0 }, "taking");
    assert.equal(await start({ holders: ["b"] }), true);
    assert.deepEqual([leftOut, existsSync(join(engine, uuid, "0"))], [["a/0"], false]);
  });

  test("one that this hub has dropped isn't made empty where the table was lost", async (t) => {
    const { start, engine, uuid, leftOut } = await openWorld(t);
    markShard(engine, { uuid, shard: 0 }, "gone");
    assert.deepEqual([await start({}), leftOut], [true, ["a/0"]]);
  });

  for (const [what, given, isLeftOut] of [
    ["one that the table names", { holders: ["b"] }, true],
    ["one that another hub has", { holders: [], isUnplaced: true, isElsewhere: true }, true],
    ["one of which this hub hasn't read the messages", { holders: [], isUnplaced: true, purgedTo: 9 }, true],
    ["a new one", { holders: [], isUnplaced: true }, false],
  ] as const)
    test(`${what} is ${isLeftOut ? "left out" : "opened"} where it isn't on the disk`, async (t) => {
      const world = await openWorld(t);
      const { engine, uuid, leftOut } = world;
      rmSync(join(engine, uuid, "0"), { recursive: true });
      await world.start({ ...given, holders: [...given.holders] });
      assert.deepEqual(leftOut, isLeftOut ? ["a/0"] : []);
      assert.equal(markedShards(engine, "gone").length, isLeftOut ? 1 : 0);
    });

  test("one that lacks what was purged is copied aside, and takes the place of the old one then", async (t) => {
    const { start, engine, uuid, wire, leftOut } = await openWorld(t);
    const before = positionOf(engine);
    mkdirSync(join(engine, uuid, "0", "old"));
    wire.isAway = true;
    await assert.rejects(start({ holders: ["b"], isElsewhere: true, purgedTo: 2 }));
    assert.deepEqual([existsSync(join(engine, uuid, "0", "old")), positionOf(engine)], [true, before]);
    wire.isAway = false;
    await start({ holders: ["b"], isElsewhere: true, purgedTo: 2 });
    assert.deepEqual([existsSync(join(engine, uuid, "0", "old")), leftOut], [false, []]);
    assert.deepEqual([positionOf(engine), markedShards(engine, "taking")], [2, []]);
  });

  test("one that lacks what was purged is given up where the hubs of the table confirm theirs", async (t) => {
    const { start, engine, uuid, wire, other, leftOut } = await openWorld(t);
    wire.isAway = true;
    other.hasAll = false;
    await assert.rejects(start({ holders: ["a"], isElsewhere: true, purgedTo: 2 }));
    assert.equal(existsSync(join(engine, uuid, "0")), true);
    other.hasAll = true;
    await start({ holders: ["a"], isElsewhere: true, purgedTo: 2 });
    assert.deepEqual([existsSync(join(engine, uuid, "0")), leftOut], [false, ["a/0"]]);
  });

  test("one that lacks what was purged and is nowhere else stays, marked, until another hub has it", async (t) => {
    const { start, engine, uuid, leftOut } = await openWorld(t);
    await start({ holders: ["b"], purgedTo: 2 });
    assert.deepEqual(markedShards(engine, "incomplete"), [{ uuid, shard: 0 }]);
    assert.deepEqual([existsSync(join(engine, uuid, "0")), positionOf(engine), leftOut], [true, 2, []]);
    await start({ holders: ["b"], purgedTo: 2, isElsewhere: true });
    assert.deepEqual([markedShards(engine, "incomplete"), existsSync(join(engine, uuid, "0"))], [[], true]);
  });
});
