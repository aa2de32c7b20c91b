import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  COPIES_KEY,
  decodeHeld,
  encodeCopies,
  encodeHeld,
  HELD_PREFIX,
} from "#hub/cluster/allocation/copy-table.ts";
import { CopyView } from "#hub/cluster/allocation/copy-view.ts";
import type { MemberRecord } from "#hub/cluster/membership/member-record.ts";
import { AppError } from "#proto/kit/errors.ts";
import { silentLogger } from "#proto/kit/log.ts";
import type { Position } from "#proto/position.ts";
import { StillClock } from "#test/support/kit/still-clock.ts";
import { CopyPlacer } from "./copy-placer.ts";

const INDEX = "x";
/** More than the time before something is tried again. */
const AGAIN_MS = 6_000;

/** What all hubs share: each sees it as it was when it looked last. */
class Bucket {
  readonly values = new Map<string, { readonly value: Uint8Array; readonly revision: number }>();
  readonly lost = new Set<string>();
  readonly hubs = new Map<string, TestHub>();
  replicas = 0;
  #revision = 0;

  put(key: string, value: Uint8Array): void {
    this.values.set(key, { value, revision: ++this.#revision });
  }

  /** "ab b": holders by shard. */
  place(text: string): void {
    const copies = { [INDEX]: text.split(" ").map((ids) => ids.split("")) };
    this.put(COPIES_KEY, encodeCopies({ epoch: this.#revision, copies }));
  }
}

class TestHub {
  readonly id: string;
  readonly shards: Set<number>;
  readonly placer: CopyPlacer;
  readonly clock = new StillClock();
  nowMs = 0;
  readonly taken: string[] = [];
  isValid = true;
  session = "1";
  /** Shards of this hub that lack documents. */
  readonly partial = new Set<number>();
  isBehind = false;
  position = { incarnation: 1, sequence: 5 };
  /** What taking a shard waits for. */
  whileTaking: (signal: AbortSignal) => Promise<void> = async () => undefined;
  publishing: Promise<void> = Promise.resolve();
  /** False: another hub's changes aren't seen until it looks at the leader. */
  watches = true;
  readonly #bucket: Bucket;
  #seen = new Map<string, { readonly value: Uint8Array; readonly revision: number }>();

  constructor(bucket: Bucket, id: string, shards: readonly number[], count: number) {
    this.#bucket = bucket;
    this.id = id;
    bucket.hubs.set(id, this);
    this.shards = new Set(shards);
    const view = new CopyView({
      shared: (key) => (this.watches ? bucket.values : this.#seen).get(key),
      get: (other) => {
        const state = bucket.lost.has(other) ? ("lost" as const) : ("live" as const);
        const record = { id: other, session: "1", state } as MemberRecord;
        return { record, revision: 1, sinceMs: 0, confirmedMs: 0 };
      },
    });
    this.placer = new CopyPlacer({
      node: id,
      places: true,
      view,
      shards: {
        hasShard: (_uuid, shard) => this.shards.has(shard),
        holdings: async () =>
          [...this.shards].map((shard) => ({ uuid: INDEX, shard, isWhole: !this.partial.has(shard) })),
        drop: async (_uuid, shard) => void this.shards.delete(shard),
        position: this.position,
      },
      take: async ({ shard }, from, signal) => {
        await this.whileTaking(signal);
        this.taken.push(`${shard}<${from.join("")}`);
        this.shards.add(shard);
      },
      confirm: async (hub, { shard }, position) => bucket.hubs.get(hub)?.holds(shard, position) ?? false,
      catchUp: async () => {
        if (this.isBehind) throw new AppError("timeout", "the log isn't read yet");
      },
      indices: () => [{ uuid: INDEX, shards: count }],
      replicas: () => bucket.replicas,
      membership: this,
      live: () => ["a", "b", "c"].filter((other) => !bucket.lost.has(other)),
      publish: async (held) => {
        await this.publishing;
        bucket.put(HELD_PREFIX + id, encodeHeld(held));
      },
      refresh: async () => this.look(),
      onChange: () => undefined,
      clock: {
        now: () => this.nowMs,
        monotonic: () => this.nowMs,
        sleep: (ms, signal) => this.clock.sleep(ms, signal),
      },
      log: silentLogger(),
    });
  }

  holds(shard: number, { sequence }: Position): boolean {
    return this.shards.has(shard) && !this.partial.has(shard) && this.position.sequence >= sequence;
  }

  look(): void {
    this.#seen = new Map(this.#bucket.values);
  }

  async step(): Promise<void> {
    await this.placer.follow(new AbortController().signal);
  }
}

/** Hubs a, b, … that have these shards of two. */
function world(...has: (readonly number[])[]): { bucket: Bucket; hubs: TestHub[] } {
  const bucket = new Bucket();
  const hubs = has.map((shards, at) => new TestHub(bucket, "abc"[at]!, shards, 2));
  return { bucket, hubs };
}

const steps = async (hubs: readonly TestHub[], count = 4): Promise<void> => {
  for (let round = 0; round < count; round++)
    for (const hub of hubs) {
      await hub.step().catch(() => undefined);
      hub.nowMs += AGAIN_MS;
    }
};
const onDisk = (hubs: readonly TestHub[]): string =>
  hubs.map(({ shards }) => [...shards].toSorted((a, b) => a - b).join("")).join("|");

describe("the shards of a hub", () => {
  test("stay where there is no table", async () => {
    const { bucket, hubs } = world([0, 1], [0, 1]);
    await steps(hubs);
    // The first table is made of what hubs have.
    assert.deepEqual([onDisk(hubs), [...bucket.values.keys()]], ["01|01", ["held.a", "held.b"]]);
  });

  test("are dropped once all hubs of the table have said that they have them", async () => {
    const { bucket, hubs } = world([0, 1], [0, 1]);
    bucket.place("a b");
    const [a, b] = hubs as [TestHub, TestHub];
    await a.step();
    assert.equal(onDisk(hubs), "01|01");
    await b.step();
    await a.step();
    assert.equal(onDisk(hubs), "0|1");
  });

  test("stay while the table gives others fewer copies than are wanted", async () => {
    // Hub b was away for long, and its copies aren't given to it again yet.
    const { bucket, hubs } = world([0, 1], [0, 1], [1]);
    bucket.replicas = 1;
    bucket.place("a ac");
    await steps(hubs);
    assert.equal(onDisk(hubs), "01|0|1");
    bucket.replicas = Number.POSITIVE_INFINITY;
    bucket.place("c ac");
    await steps(hubs);
    assert.equal(onDisk(hubs), "01|0|01");
    bucket.place("ab ac");
    bucket.replicas = 1;
    await steps(hubs);
    assert.equal(onDisk(hubs), "01|0|1");
  });

  test("are copied from a hub that has them, and dropped there then", async () => {
    const { bucket, hubs } = world([0, 1], []);
    bucket.place("a b");
    await steps(hubs);
    assert.deepEqual([onDisk(hubs), hubs[1]!.taken], ["0|1", ["1<a"]]);
  });

  test("wait while no hub has them", async () => {
    const { bucket, hubs } = world([0], []);
    bucket.place("a b");
    await steps(hubs);
    assert.deepEqual([onDisk(hubs), hubs[1]!.taken], ["0|", []]);
  });

  test("stay while a hub that shall have them is lost, or has joined again and says nothing yet", async () => {
    const lost = world([0, 1], [0, 1]);
    lost.bucket.place("b b");
    await lost.hubs[1]!.step();
    lost.bucket.lost.add("b");
    await lost.hubs[0]!.step();
    assert.equal(onDisk(lost.hubs), "01|01");
    const again = world([0, 1], [0, 1]);
    again.bucket.place("b b");
    again.hubs[1]!.session = "0";
    await steps(again.hubs);
    assert.equal(onDisk(again.hubs), "01|01");
  });

  test("stay while one of several hubs that shall have them lacks them", async () => {
    const { bucket, hubs } = world([0, 1], [0, 1], [0]);
    bucket.place("bc bc");
    const [a, b, c] = hubs as [TestHub, TestHub, TestHub];
    c.isValid = false;
    await steps([b, a], 1);
    assert.equal(onDisk(hubs), "01|01|0");
    c.isValid = true;
    await steps([b, c, a]);
    assert.equal(onDisk(hubs), "|01|01");
  });

  test("stay at a hub that isn't a member for now", async () => {
    const { bucket, hubs } = world([0, 1], [0, 1]);
    bucket.place("b b");
    await hubs[1]!.step();
    hubs[0]!.isValid = false;
    await steps(hubs);
    assert.equal(onDisk(hubs), "01|01");
  });

  test("aren't dropped by two hubs that see different tables", async () => {
    const { bucket, hubs } = world([0, 1], [0, 1]);
    const [a, b] = hubs as [TestHub, TestHub];
    bucket.place("a a");
    await steps([a, b], 1);
    // Hub a follows an old table, by which b shall have them.
    bucket.place("b b");
    a.look();
    a.watches = false;
    bucket.place("a a");
    const late = b.step();
    await a.step();
    await late;
    await steps([b, a], 2);
    assert.match(onDisk(hubs), /0/);
    assert.match(onDisk(hubs), /1/);
  });

  test("stay at a hub that comes back with an old table", async () => {
    const { bucket, hubs } = world([0, 1], [0, 1]);
    const [a, b] = hubs as [TestHub, TestHub];
    bucket.place("b b");
    await steps([b], 1);
    a.look();
    a.watches = false;
    // While hub a was away it got all shards, and hub b has none left.
    bucket.place("a a");
    b.shards.clear();
    await steps([b, a], 3);
    assert.equal(onDisk(hubs), "01|");
  });

  test("aren't published before the hub has read what the log held, in each session", async () => {
    const { bucket, hubs } = world([0, 1], [0, 1]);
    const b = hubs[1]!;
    bucket.place("b b");
    b.isBehind = true;
    await steps(hubs);
    assert.deepEqual([onDisk(hubs), bucket.values.has(`${HELD_PREFIX}b`)], ["01|01", false]);
    b.isBehind = false;
    await steps([b], 1);
    assert.equal(bucket.values.has(`${HELD_PREFIX}b`), true);
    // It joins again, and is behind again.
    b.session = "2";
    b.isBehind = true;
    b.shards.delete(1);
    await steps([b], 2);
    const { session } = decodeHeld(bucket.values.get(`${HELD_PREFIX}b`)!.value);
    assert.equal(session, "1");
  });

  test("aren't a copy for others while they lack documents", async () => {
    const { bucket, hubs } = world([0, 1], [0, 1], []);
    const [a, b] = hubs as [TestHub, TestHub, TestHub];
    bucket.place("b bc");
    for (const shard of [0, 1]) b.partial.add(shard);
    a.shards.delete(1);
    await steps(hubs);
    assert.equal(onDisk(hubs), "0|01|");
    b.partial.clear();
    await steps(hubs);
    assert.equal(onDisk(hubs), "|01|1");
  });

  test("stay as long as another hub doesn't confirm that it has as much", async () => {
    const { bucket, hubs } = world([0, 1], [0, 1]);
    bucket.place("b b");
    hubs[1]!.position = { incarnation: 1, sequence: 4 };
    await steps(hubs);
    assert.equal(onDisk(hubs), "01|01");
    hubs[1]!.position = { incarnation: 1, sequence: 6 };
    await steps(hubs);
    assert.equal(onDisk(hubs), "|01");
  });

  test("are published again where the record of them was removed", async () => {
    const { bucket, hubs } = world([0, 1]);
    bucket.place("a a");
    await steps(hubs, 1);
    bucket.values.delete(`${HELD_PREFIX}a`);
    await steps(hubs, 1);
    assert.equal(bucket.values.has(`${HELD_PREFIX}a`), true);
  });

  test("that are on their way don't hold up the end of a hub, nor does a store that doesn't answer", async () => {
    const { bucket, hubs } = world([0, 1], []);
    bucket.place("a b");
    const [a, b] = hubs as [TestHub, TestHub];
    await a.step();
    const begun = Promise.withResolvers<void>();
    b.whileTaking = (signal) => {
      begun.resolve();
      return new Promise((_resolve, reject) =>
        signal.addEventListener("abort", () => reject(signal.reason), { once: true }),
      );
    };
    await b.placer.start();
    await begun.promise;
    await b.placer.stop();
    a.publishing = new Promise(() => undefined);
    a.shards.delete(0);
    await a.placer.start();
    const stopped = a.placer.stop();
    await a.clock.advance(5_000);
    await stopped;
    assert.equal(onDisk(hubs), "1|");
  });

  test("are somewhere in every order of steps, whatever each hub sees", async () => {
    for (let seed = 1; seed <= 200; seed++) {
      const random = generator(seed);
      const { bucket, hubs } = world([0, 1], [0, 1], [0, 1]);
      bucket.place("a b");
      for (let step = 0; step < 40; step++) {
        const hub = hubs[Math.floor(random() * hubs.length)]!;
        const what = random();
        if (what < 0.2) bucket.place(random() < 0.5 ? "a b" : random() < 0.5 ? "b c" : "ca ab");
        else if (what < 0.35) hub.watches = !hub.watches;
        else if (what < 0.5) hub.look();
        else await Promise.all(hubs.filter(() => random() < 0.6).map((each) => each.step()));
        for (const each of hubs) each.nowMs += AGAIN_MS / 3;
        for (const shard of [0, 1])
          assert.ok(
            hubs.some(({ shards }) => shards.has(shard)),
            `seed ${seed}: nobody has shard ${shard}`,
          );
      }
    }
  });
});

/** mulberry32 */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
