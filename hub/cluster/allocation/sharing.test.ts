import assert from "node:assert/strict";
import { describe, type TestContext, test } from "node:test";
import { DUTIES_KEY, Duties } from "#hub/cluster/membership/duties.ts";
import { MemberDirectory } from "#hub/cluster/membership/member-directory.ts";
import { MEMBER_LEASE_MS, type MemberProgress } from "#hub/cluster/membership/member-record.ts";
import { Membership } from "#hub/cluster/membership/membership.ts";
import { EXPIRY_FACTOR } from "#hub/journal/buckets/lease.ts";
import { AppError } from "#proto/kit/errors.ts";
import { silentLogger } from "#proto/kit/log.ts";
import { Metrics } from "#proto/kit/metrics.ts";
import type { StateEntry } from "#proto/kit/state-bucket.ts";
import { DAY_MS } from "#proto/kit/units.ts";
import { MemoryBucket } from "#test/support/kit/memory-bucket.ts";
import { StillClock } from "#test/support/kit/still-clock.ts";
import { PartitionAllocator } from "./partition-allocator.ts";
import { PartitionOwner } from "./partition-owner.ts";

const ALL = 256;
/** A hub is found dead after EXPIRY_FACTOR durations, within a poll. */
const FOUND_DEAD_MS = EXPIRY_FACTOR * MEMBER_LEASE_MS + 2_000;
/** From the moment on that a hub is silent in one direction until others process its partitions. Lines need a second more. */
const TAKEN_OVER_MS = 13_000;
const PROGRESS: MemberProgress = { httpAddress: "", doc: null, raw: null, needsAllPartitions: false };

/**
 * One hub's way to a shared bucket; `away` cuts it, as a stopped process or a broken network would. `mute`: its calls are held
 * back until `speak`, but it hears what others change. `deaf`: its calls are done, but it hears nothing. `stuck`: its calls wait
 * for that promise, as those to a server that stands still.
 */
class Link extends MemoryBucket {
  readonly #shared: MemoryBucket;
  readonly #held: (() => Promise<unknown>)[] = [];
  away = false;
  isMute = false;
  isDeaf = false;
  stuck = Promise.resolve();

  constructor(shared: MemoryBucket) {
    super();
    this.#shared = shared;
  }

  override get(key: string): Promise<StateEntry | null> {
    return this.#reach(() => this.#shared.get(key));
  }

  override create(key: string, value: Uint8Array): Promise<number> {
    return this.#reach(() => this.#shared.create(key, value));
  }

  override update(key: string, value: Uint8Array, revision: number): Promise<number> {
    return this.#reach(() => this.#shared.update(key, value, revision));
  }

  override delete(key: string, revision?: number): Promise<void> {
    return this.#reach(() => this.#shared.delete(key, revision));
  }

  override keys(prefix?: string): Promise<string[]> {
    return this.#reach(() => this.#shared.keys(prefix));
  }

  override async *watch(signal: AbortSignal) {
    for await (const change of this.#shared.watch(signal)) if (!this.away && !this.isDeaf) yield change;
  }

  /** Does what was held back, in its order, before anything else. */
  async speak(): Promise<void> {
    for (const call of this.#held.splice(0)) await call().catch(() => undefined);
    this.isMute = false;
  }

  async #reach<T>(call: () => Promise<T>): Promise<T> {
    if (this.away) throw new AppError("unavailable", "away");
    await this.stuck;
    if (this.isMute) this.#held.push(call);
    else if (this.isDeaf) await call().catch(() => undefined);
    else return call();
    throw new AppError("timeout", "no answer");
  }
}

/** A hub with everything but a pipeline; `running` is what a pipeline would process. */
class Hub {
  readonly link: Link;
  readonly membership: Membership;
  readonly partitions: PartitionOwner;
  running: ReadonlySet<number> = new Set();
  abandoned = 0;
  needsAllPartitions = false;
  /** What a part of its duties waits for before it has stopped. */
  stopping = Promise.resolve();
  readonly #directory: MemberDirectory;
  readonly #duties: Duties;

  constructor(id: string, name: string, bucket: MemoryBucket, clock: StillClock) {
    this.link = new Link(bucket);
    const shared = { bucket: this.link, clock, log: silentLogger() };
    const directory = new MemberDirectory({ ...shared, metrics: new Metrics() });
    this.#directory = directory;
    const facts = { id, name, version: "", host: "", transportAddress: "", attributes: {}, startedMs: 0 };
    this.membership = new Membership({
      ...shared,
      directory,
      facts,
      progress: () => ({ ...PROGRESS, needsAllPartitions: this.needsAllPartitions }),
    });
    this.partitions = new PartitionOwner({ ...shared, directory, membership: this.membership });
    this.partitions.use({
      assign: async (partitions) => void (this.running = partitions),
      abandon: () => {
        this.abandoned++;
        this.running = new Set();
      },
    });
    this.#duties = new Duties({
      ...shared,
      node: id,
      process: this.membership.process,
      parts: () => [
        ["allocator", new PartitionAllocator({ ...shared, directory, isHeld: () => this.#duties.held })],
        ["another part", { start: async () => {}, stop: () => this.stopping }],
      ],
    });
  }

  async start(): Promise<void> {
    await this.join();
    await this.partitions.start();
  }

  /** What a hub does long before it can process anything. */
  async join(): Promise<void> {
    await this.#directory.start();
    await this.membership.start();
    await this.#duties.start();
  }

  async stop(): Promise<void> {
    await this.partitions.stop();
    await this.#duties.stop();
    await this.membership.stop();
    await this.#directory.stop();
  }
}

interface World {
  readonly clock: StillClock;
  readonly bucket: MemoryBucket;
  readonly hub: (id: string, name?: string) => Promise<Hub>;
  /** A hub that isn't started. */
  readonly idle: (id: string, name?: string) => Hub;
  /** Moves time; asserts all along that no partition is processed by two hubs that may write. */
  readonly pass: (ms: number) => Promise<void>;
}

function world(t: TestContext): World {
  const clock = new StillClock();
  const bucket = new MemoryBucket();
  const hubs: Hub[] = [];
  t.after(async () => {
    let over = false;
    const stopped = Promise.all(hubs.map((hub) => hub.stop())).finally(() => (over = true));
    while (!over) await clock.advance(100);
    await stopped;
  });
  const idle = (id: string, name = id): Hub => {
    const hub = new Hub(id, name, bucket, clock);
    hubs.push(hub);
    return hub;
  };
  return {
    clock,
    bucket,
    idle,
    async hub(...given) {
      const hub = idle(...given);
      await hub.start();
      return hub;
    },
    async pass(ms) {
      for (let passed = 0; passed < ms; passed += 100) {
        await clock.advance(100);
        const writing = hubs.filter(({ membership }) => membership.isValid);
        const total = writing.reduce((sum, { running }) => sum + running.size, 0);
        const different = writing.reduce((all, { running }) => all.union(running), new Set<number>());
        assert.equal(total, different.size, "a partition has two owners");
      }
    },
  };
}

/** Resolves when the hub has just renewed its membership. */
async function renewed({ link, membership }: Hub, pass: World["pass"]): Promise<void> {
  const revision = async (): Promise<number> => (await link.get(`node.${membership.id}`))!.revision;
  const before = await revision();
  while ((await revision()) === before) await pass(100);
}

describe("hubs that share a bucket", () => {
  test("a single hub processes everything at once", async (t) => {
    const { hub, pass } = world(t);
    const a = await hub("a");
    await pass(500);
    assert.equal(a.running.size, ALL);
  });

  test("a second hub takes a half, and gives it back when it leaves", async (t) => {
    const { hub, pass } = world(t);
    const a = await hub("a");
    await pass(1_000);
    const b = await hub("b");
    await pass(3_000);
    assert.deepEqual([a.running.size, b.running.size], [ALL / 2, ALL / 2]);
    const stopped = b.stop();
    await pass(3_000);
    await stopped;
    assert.equal(a.running.size, ALL);
  });

  test("a hub that starts gets partitions when it can process them, not when it joins", async (t) => {
    const { hub, idle, pass } = world(t);
    const a = await hub("a");
    await pass(1_000);
    const b = idle("b");
    await b.join();
    await pass(10_000);
    assert.equal(a.running.size, ALL);
    await b.partitions.start();
    await pass(3_000);
    assert.deepEqual([a.running.size, b.running.size], [ALL / 2, ALL / 2]);
  });

  test("the others have the partitions of a hub that stops before it leaves", async (t) => {
    const { hub, pass } = world(t);
    const [a, b] = [await hub("a"), await hub("b")];
    await pass(3_000);
    await b.partitions.stop();
    b.running = new Set();
    await b.membership.accept(false);
    await pass(2_000);
    assert.equal(a.running.size, ALL);
    assert.equal(b.membership.isValid, true);
  });

  test("hubs whose store was lost and is empty join it anew and share the work again", async (t) => {
    const { bucket, hub, pass } = world(t);
    const a = await hub("a");
    await pass(60_000);
    const b = await hub("b");
    await pass(5_000);
    const { session } = b.membership;
    for (const { link } of [a, b]) link.away = true;
    await pass(10_000);
    bucket.lose();
    a.link.away = false;
    await pass(30_000);
    assert.equal(a.running.size, ALL);
    b.link.away = false;
    await pass(30_000);
    assert.notEqual(b.membership.session, session);
    assert.deepEqual([a.running.size, b.running.size], [ALL / 2, ALL / 2]);
  });

  test("a lost hub is forgotten when another one has its name", async (t) => {
    const { hub, pass, bucket } = world(t);
    const [, b] = [await hub("a"), await hub("b")];
    await pass(3_000);
    b.link.away = true;
    await pass(FOUND_DEAD_MS);
    assert.ok((await bucket.keys()).includes("node.b"));
    const replaced = hub("c", "b");
    await pass(8_000);
    await replaced;
    await pass(2_000);
    const keys = await bucket.keys("node.");
    assert.deepEqual(keys.toSorted(), ["node.a", "node.c"]);
  });

  test("a clock that is set forward doesn't make a lost hub forgotten: the log waits for it", async (t) => {
    const { hub, pass, bucket, clock } = world(t);
    const [, b] = [await hub("a"), await hub("b")];
    await pass(3_000);
    b.link.away = true;
    await pass(FOUND_DEAD_MS);
    t.mock.method(clock, "now", () => clock.monotonic() + 400 * DAY_MS);
    await pass(2_000);
    assert.ok((await bucket.keys()).includes("node.b"));
  });

  test("a hub that can't reach the store stops before the others take its partitions over", async (t) => {
    const { hub, pass } = world(t);
    const [a, b] = [await hub("a"), await hub("b")];
    await pass(3_000);
    a.link.away = true;
    for (let passedMs = 0; a.running.size > 0; passedMs += 100) {
      assert.equal(b.running.size, ALL / 2);
      assert.ok(passedMs <= MEMBER_LEASE_MS, "it stops when its lease is over");
      await pass(100);
    }
    assert.equal(a.membership.isValid, false);
    assert.equal(b.running.size, ALL / 2);
    // The duties were the lost hub's: their lease ends too.
    await pass(FOUND_DEAD_MS);
    assert.equal(b.running.size, ALL);
  });

  test("a hub that comes back after it was replaced joins anew and gets its share", async (t) => {
    const { hub, pass } = world(t);
    const [a, b] = [await hub("a"), await hub("b")];
    await pass(3_000);
    const { session } = b.membership;
    b.link.away = true;
    await pass(FOUND_DEAD_MS + 2_000);
    assert.equal(a.running.size, ALL);
    b.link.away = false;
    await pass(8_000);
    assert.notEqual(b.membership.session, session);
    assert.deepEqual([a.running.size, b.running.size], [ALL / 2, ALL / 2]);
  });

  test("a hub that comes back right after its loss gets its share when the others have read what they took over", async (t) => {
    const { hub, pass } = world(t);
    const [a, b] = [await hub("a"), await hub("b")];
    await pass(3_000);
    b.link.away = true;
    while (a.running.size < ALL) await pass(100);
    const { session } = b.membership;
    b.link.away = false;
    await pass(3_000);
    assert.notEqual(b.membership.session, session);
    assert.deepEqual([a.running.size, b.running.size], [ALL, 0]);
    await pass(4_000);
    assert.deepEqual([a.running.size, b.running.size], [ALL / 2, ALL / 2]);
  });

  test("a hub whose duties are being stopped when it comes back after a takeover assigns nothing", async (t) => {
    const { hub, pass } = world(t);
    const [a, b] = [await hub("a"), await hub("b")];
    await pass(3_000);
    const { session } = a.membership;
    const [goesOn, isStopped] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    a.link.stuck = goesOn.promise;
    a.stopping = isStopped.promise;
    while (b.running.size < ALL) await pass(100);
    goesOn.resolve();
    await pass(3_000);
    assert.notEqual(a.membership.session, session);
    assert.deepEqual([a.running.size, b.running.size], [0, ALL]);
    isStopped.resolve();
    await pass(4_000);
    assert.deepEqual([a.running.size, b.running.size], [ALL / 2, ALL / 2]);
  });

  for (const [name, direction] of [
    ["whose calls don't arrive, though it hears the others", "isMute"],
    ["that hears nothing, though its calls arrive", "isDeaf"],
  ] as const)
    for (const duties of [true, false])
      test(`the partitions of a hub ${name}, are taken over while that lasts${duties ? ", and the duties" : ""}`, async (t) => {
        const { hub, pass, clock } = world(t);
        const [a, b] = [await hub("a"), await hub("b")];
        await pass(3_000);
        const [silent, other] = duties ? [a, b] : [b, a];
        const { session } = silent.membership;
        // As late as can be: a renewal was answered just now.
        await renewed(silent, pass);
        const startMs = clock.monotonic();
        silent.link[direction] = true;
        while (other.running.size < ALL && clock.monotonic() - startMs < 60_000) await pass(100);
        assert.ok(clock.monotonic() - startMs <= TAKEN_OVER_MS, `${clock.monotonic() - startMs} ms`);
        assert.deepEqual([silent.membership.isValid, silent.running.size], [false, 0]);
        await pass(20_000);
        assert.equal(other.running.size, ALL);

        // What it sent meanwhile arrives first, and changes nothing.
        silent.link.isDeaf = false;
        await silent.link.speak();
        await pass(10_000);
        assert.notEqual(silent.membership.session, session);
        assert.deepEqual([silent.running.size, other.running.size], [ALL / 2, ALL / 2]);
      });

  test("a short outage of the store for all costs nobody its partitions", async (t) => {
    const { hub, pass } = world(t);
    const [a, b] = [await hub("a"), await hub("b")];
    await pass(3_000);
    const sessions = [a.membership.session, b.membership.session];
    for (const { link } of [a, b]) link.away = true;
    await pass(30_000);
    assert.deepEqual([a.running.size, b.running.size], [0, 0]);
    for (const { link } of [a, b]) link.away = false;
    await pass(10_000);
    assert.deepEqual([a.membership.session, b.membership.session], sessions);
    assert.deepEqual([a.running.size, b.running.size], [ALL / 2, ALL / 2]);
  });

  test("a hub whose renewals take longer than its membership stops once, not again after the first that is stored", async (t) => {
    const { hub, pass } = world(t);
    const a = await hub("a");
    await pass(3_000);
    const { promise, resolve } = Promise.withResolvers<void>();
    a.link.stuck = promise;
    await pass(7_500);
    assert.equal(a.abandoned, 1);
    resolve();
    await pass(5_000);
    assert.equal(a.abandoned, 1);
    assert.equal(a.running.size, ALL);
  });

  test("a hub whose renewals meet one conflict after the other tries again four times a second, and then goes on", async (t) => {
    const { hub, pass } = world(t);
    const a = await hub("a");
    await pass(3_000);
    let refused = 0;
    const refusing = t.mock.method(a.link, "update", () => {
      refused++;
      return Promise.reject(new AppError("journal_conflict", "another change is on its way"));
    });
    await pass(4_000);
    assert.ok(refused > 8 && refused < 40, `${refused} tries`);
    refusing.mock.restore();
    await pass(3_000);
    assert.ok(a.membership.isValid);
    assert.equal(a.running.size, ALL);
  });

  test("a restarted hub goes on without a wait, duties included", async (t) => {
    const { hub, pass, bucket } = world(t);
    const a = await hub("a");
    await pass(1_000);
    a.link.away = true; // killed
    a.running = new Set();
    const again = await hub("a");
    await pass(1_500);
    assert.equal(again.running.size, ALL);
    assert.match(
      Buffer.from((await bucket.get(DUTIES_KEY))!.value).toString(),
      new RegExp(again.membership.process),
    );
  });

  test("a process with a copied data folder displaces the first one, which stays out", async (t) => {
    const { hub, pass } = world(t);
    const a = await hub("a");
    await pass(1_000);
    const copy = await hub("a");
    await pass(MEMBER_LEASE_MS);
    assert.equal(a.membership.isDisplaced, true);
    assert.equal(a.running.size, 0);
    assert.equal(copy.running.size, ALL);
  });

  test("one hub processes everything while a filter needs that", async (t) => {
    const { hub, pass } = world(t);
    const [a, b] = [await hub("a"), await hub("b")];
    for (const each of [a, b]) each.needsAllPartitions = true;
    await pass(8_000);
    assert.deepEqual(
      [a.running.size, b.running.size].toSorted((x, y) => x - y),
      [0, ALL],
    );
  });

  test("a name that a live hub has is refused", async (t) => {
    const { hub, pass } = world(t);
    await hub("a");
    await pass(1_000);
    const refused = assert.rejects(hub("b", "a"), /node\.name of its own/);
    await pass(10_000);
    await refused;
  });
});
