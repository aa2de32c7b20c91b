import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { IndexCatalog } from "#hub/cluster/catalog/index-catalog.ts";
import type { AliasOptions, IndexMetadata } from "#hub/cluster/catalog/index-metadata.ts";
import { silentLogger } from "#proto/kit/log.ts";
import { Metrics } from "#proto/kit/metrics.ts";
import type { StateBucket } from "#proto/kit/state-bucket.ts";
import { DAY_MS } from "#proto/kit/units.ts";
import { MemoryBucket } from "#test/support/kit/memory-bucket.ts";
import { Lifecycles, type LifecyclesOptions } from "./lifecycles.ts";

const ROLLING = {
  phases: {
    hot: { actions: { rollover: { max_age: "1d", max_docs: 100 } } },
    warm: { min_age: "2d", actions: { readonly: {}, forcemerge: { max_num_segments: 1 } } },
    delete: { min_age: "30d", actions: { delete: {} } },
  },
};
const DELETING = { phases: { delete: { min_age: "30d", actions: { delete: {} } } } };

/** The bucket of a hub to which no change of others is delivered. */
function unwatched(bucket: StateBucket): StateBucket {
  return {
    get: (key) => bucket.get(key),
    create: (key, value) => bucket.create(key, value),
    update: (key, value, revision) => bucket.update(key, value, revision),
    put: (key, value) => bucket.put(key, value),
    delete: (key, revision) => bucket.delete(key, revision),
    keys: (prefix) => bucket.keys(prefix),
    async *watch(signal) {
      await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
      yield* [];
    },
  };
}

/** A cluster whose clock the test sets; every index has `docs` documents unless `sizes` says otherwise. */
class World {
  days = 1_000;
  docs = 1;
  mayAct = true;
  readonly sizes = new Map<string, number>();
  readonly merged: string[] = [];
  readonly bucket = new MemoryBucket();
  readonly catalog = new IndexCatalog({
    bucket: unwatched(this.bucket),
    log: silentLogger(),
    now: () => this.nowMs,
  });
  readonly lifecycles: Lifecycles;

  constructor(options: Partial<LifecyclesOptions> = {}) {
    this.lifecycles = new Lifecycles({
      indices: this.catalog,
      size: async ({ name }) => {
        const docs = this.sizes.get(name) ?? this.docs;
        return { docs, bytes: docs, shardBytes: docs };
      },
      merge: async ({ name }) => void this.merged.push(name),
      mayAct: () => this.mayAct,
      clock: { now: () => this.nowMs, monotonic: () => 0, sleep: () => Promise.resolve() },
      log: silentLogger(),
      metrics: new Metrics(),
      ...options,
    });
  }

  static async open(
    t: TestContext,
    policy: object = ROLLING,
    options?: (world: () => World) => Partial<LifecyclesOptions>,
  ): Promise<World> {
    const world: World = new World(options?.(() => world));
    await world.catalog.start();
    t.after(() => world.catalog.stop());
    await world.catalog.lifecycles.put("p", { ...policy });
    return world;
  }

  get nowMs(): number {
    return this.days * DAY_MS;
  }

  get names(): string[] {
    return this.catalog.all().map(({ name }) => name);
  }

  make(name: string, aliases: Record<string, AliasOptions> = {}): Promise<IndexMetadata> {
    const settings = { "lifecycle.name": "p", "lifecycle.rollover_alias": "logs" };
    return this.catalog.create(name, { settings, mappings: {}, aliases });
  }

  /** Lets days pass with a check on each. */
  async pass(days: number): Promise<void> {
    for (let day = 0; day < days; day++) {
      this.days++;
      await this.lifecycles.check();
    }
  }

  aliasOf(name: string): AliasOptions | undefined {
    return this.catalog.get(name)?.aliases["logs"];
  }
}

const WRITE = { logs: { is_write_index: true } };

/** Gives new indices the policy, as users do. */
async function addTemplate(world: World): Promise<void> {
  const settings = { "lifecycle.name": "p", "lifecycle.rollover_alias": "logs" };
  const template = { index_patterns: ["logs-*"], composed_of: [], template: { settings } };
  await world.catalog.templateCatalog.putComposable("logs", template);
}

test("an alias goes through its whole life", async (t) => {
  const world = await World.open(t);
  await addTemplate(world);
  await world.make("logs-000001", WRITE);
  await world.lifecycles.check();
  assert.deepEqual(world.names, ["logs-000001"]);
  await world.pass(1);
  assert.deepEqual(world.names, ["logs-000001", "logs-000002"]);
  assert.deepEqual(world.aliasOf("logs-000001"), { is_write_index: false });
  assert.deepEqual(world.aliasOf("logs-000002"), { is_write_index: true });
  world.docs = 0;
  await world.pass(20);
  assert.equal(world.names.length, 2, "an index without documents isn't rolled over");
  assert.equal(world.catalog.get("logs-000001")!.settings.raw["blocks.write"], true);
  assert.equal(world.catalog.get("logs-000002")!.settings.raw["blocks.write"], undefined);
  assert.deepEqual(world.merged, ["logs-000001"], "it is merged once");
  await world.pass(9);
  assert.equal(world.names.length, 2);
  await world.pass(1);
  assert.deepEqual(world.names, ["logs-000002"]);
  await world.pass(50);
  assert.deepEqual(world.names, ["logs-000002"]);
});

test("a data stream rolls over by documents, and its generations are deleted", async (t) => {
  const world = await World.open(t);
  const template = { settings: { "lifecycle.name": "p" } };
  await world.catalog.templateCatalog.putComposable("s", {
    index_patterns: ["s"],
    composed_of: [],
    template,
    data_stream: {},
  });
  const first = await world.catalog.createDataStream("s");
  world.sizes.set(first.name, 100);
  world.docs = 0;
  await world.lifecycles.check();
  assert.equal(world.names.length, 2);
  await world.pass(31);
  assert.equal(world.names.length, 1);
  assert.notEqual(world.names[0], first.name);
});

test("an index keeps the age that it has from its rollover when the next generation is deleted", async (t) => {
  const world = await World.open(t);
  await addTemplate(world);
  await world.make("logs-000001", WRITE);
  await world.pass(1);
  world.docs = 0;
  await world.pass(1);
  await world.make("logs-000009");
  await world.catalog.updateAliases([{ kind: "add", index: "logs-000009", alias: "logs", info: WRITE.logs }]);
  await world.catalog.delete(["logs-000002"]);
  await world.pass(29);
  assert.deepEqual(world.names, ["logs-000009"]);
});

for (const [what, docs, expected] of [
  ["completes a rollover that ended before the alias was moved", 0, { is_write_index: true }],
  ["doesn't take an index with documents for its own", 7, undefined],
] as const) {
  test(`a check ${what}`, async (t) => {
    const world = await World.open(t);
    const old = await world.make("logs-000001", WRITE);
    await world.make("logs-000002");
    world.sizes.set("logs-000002", docs);
    await world.pass(1);
    assert.deepEqual(world.aliasOf("logs-000002"), expected);
    const fault = world.catalog.lifecycles.fault(old);
    if (expected !== undefined) return assert.equal(fault, undefined);
    assert.match(fault!.reason, /index \[logs-000002\S* already exists/);
    await world.catalog.delete(["logs-000002"]);
    await world.pass(1);
    assert.deepEqual(world.aliasOf("logs-000002"), WRITE.logs);
    assert.equal(world.catalog.lifecycles.fault(old), undefined, "it is tried again");
  });
}

test("a rollover that ended between the two indices of the alias keeps the old one for searches", async (t) => {
  const world = await World.open(t);
  await world.make("logs-000001", { logs: { is_write_index: false } });
  await world.make("logs-000002");
  world.sizes.set("logs-000002", 0);
  await world.pass(1);
  assert.deepEqual(world.aliasOf("logs-000001"), { is_write_index: false });
  assert.deepEqual(world.aliasOf("logs-000002"), { is_write_index: true });
});

/** What another hub does while this one counts documents, which is between the check and the rollover. */
for (const [what, meanwhile] of [
  ["hands the duties over", (world: World) => void (world.mayAct = false)],
  ["stops the policies", (world: World) => world.catalog.lifecycles.setStopped(true)],
  [
    "removes the policy from the index",
    (world: World) => world.catalog.putSettings("logs-000001", { "lifecycle.name": null }),
  ],
  [
    "moves the alias",
    (world: World) => world.catalog.updateAliases([{ kind: "remove", index: "logs-000001", alias: "logs" }]),
  ],
] as const) {
  test(`no rollover when somebody ${what} between check and act`, async (t) => {
    const world = await World.open(t, ROLLING, (self) => ({
      size: async () => {
        await meanwhile(self());
        return { docs: 500, bytes: 1, shardBytes: 1 };
      },
    }));
    await world.make("logs-000001", WRITE);
    await world.pass(1);
    assert.deepEqual(world.names, ["logs-000001"]);
  });
}

/** A change in the store that the watch of this hub hasn't delivered. */
for (const [what, change] of [
  [
    "keeps it longer",
    (other: IndexCatalog) =>
      other.lifecycles.put("p", { phases: { delete: { min_age: "90d", actions: { delete: {} } } } }),
  ],
  ["stops the policies", (other: IndexCatalog) => other.lifecycles.setStopped(true)],
  [
    "lets an alias write to it",
    (other: IndexCatalog) =>
      other.updateAliases([{ kind: "add", index: "daily", alias: "w", info: { is_write_index: true } }]),
  ],
  [
    "made it anew",
    async (other: IndexCatalog) => {
      await other.delete(["daily"]);
      await other.create("daily", { settings: { "lifecycle.name": "p" }, mappings: {}, aliases: {} });
    },
  ],
] as const) {
  test(`an index isn't deleted when another hub ${what}`, async (t) => {
    const world = await World.open(t, DELETING);
    await world.make("daily");
    world.days += 31;
    const other = new IndexCatalog({ bucket: world.bucket, log: silentLogger(), now: () => world.nowMs });
    await other.start();
    t.after(() => other.stop());
    await change(other);
    await world.lifecycles.check();
    assert.deepEqual(world.names, ["daily"]);
  });
}

test("an index is deleted by its policy and not while the clock is set back, the hub has no duties, or it is stopped", async (t) => {
  const world = await World.open(t, DELETING);
  await world.make("daily");
  world.days -= 100;
  await world.pass(1);
  world.days += 200;
  world.mayAct = false;
  await world.lifecycles.check();
  world.mayAct = true;
  await world.catalog.lifecycles.setStopped(true);
  await world.lifecycles.check();
  assert.deepEqual(world.names, ["daily"]);
  await world.catalog.lifecycles.setStopped(false);
  await world.lifecycles.check();
  assert.deepEqual(world.names, []);
});

test("one index that fails doesn't keep others, and a merge that fails lets others go first", async (t) => {
  const merged: string[] = [];
  const world = await World.open(
    t,
    { phases: { warm: { actions: { forcemerge: { max_num_segments: 1 } } } } },
    () => ({
      merge: async ({ name }) => {
        merged.push(name);
        if (name === "a") throw new Error("disk full");
      },
    }),
  );
  const bad = await world.make("a");
  await world.make("b");
  for (let check = 0; check < 3; check++) await world.lifecycles.check();
  assert.deepEqual(merged, ["a", "b", "a"]);
  assert.equal(world.catalog.lifecycles.fault(bad)?.step, "forcemerge");
  await world.catalog.delete(["a"]);
  await world.lifecycles.check();
  assert.deepEqual(world.catalog.lifecycles.faulty(), []);
});
