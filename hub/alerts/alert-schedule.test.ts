import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { AppError } from "#proto/kit/errors.ts";
import { ADA, BOB, EVERYTHING, RULE, SHOP, START, World } from "#test/support/alerts/alert-world.ts";
import { claimed, FIRST_STATE } from "./alert-state.ts";
import type { Alert } from "./alert-view.ts";
import { RuleStore } from "./rule-store.ts";

test("a rule that is saved while it is evaluated is evaluated again at once, with its new writer", async () => {
  const world = new World();
  world.present = new Map([["bob", SHOP]]);
  world.writer = ADA;
  const hub = world.hub();
  const { id } = await hub.create({ ...RULE, every: "1d" });
  world.writer = BOB;
  world.meanwhile = () => hub.put(id, { ...RULE, every: "1d" });
  const { state } = await world.pass(hub, 0, 9);
  world.meanwhile = undefined;
  assert.deepEqual([state.stopped, state.fault], [false, ""], "the refusal of the writer before");
  assert.equal((await world.pass(hub, 0, 9)).state.condition, "firing");
  assert.deepEqual(world.counted, SHOP);
});

test("a rule that was changed since a check read the list isn't evaluated as it was", async () => {
  const world = new World();
  const hub = world.hub();
  await hub.create({ ...RULE, title: "A" });
  const later = await hub.create({ ...RULE, title: "B" });
  world.count = 9;
  let isChanged = false;
  const get = world.bucket.get.bind(world.bucket);
  world.bucket.get = async (key) => {
    if (key === `state/${later.id}` && !isChanged) {
      isChanged = true;
      await hub.put(later.id, { ...RULE, title: "B", enabled: false });
    }
    return get(key);
  };
  await hub.tick();
  assert.deepEqual(
    world.sent.map(({ title }) => title),
    ["A"],
  );
});

test("a failed evaluation is tried again a bounded number of times in an interval", async () => {
  const world = new World();
  world.present = new Map();
  world.writer = ADA;
  const hub = world.hub();
  await hub.create({ ...RULE, every: "1d" });
  let tries = 0;
  world.meanwhile = () => {
    tries++;
    return Promise.reject(new AppError("unavailable", "the log is away"));
  };
  for (let minutes = 0; minutes < 11 * 60; minutes++) await world.pass(hub, 60_000, 9);
  assert.equal(tries, 8);
});

test("a rule whose hub died while it evaluated it is evaluated again within its interval", async () => {
  const world = new World();
  const hub = world.hub();
  const { id } = await hub.create({ ...RULE, every: "1d" });
  const store = new RuleStore(world.bucket);
  const stored = await store.get(id);
  await store.replaceState(id, await store.state(id), claimed(FIRST_STATE, stored, START));
  assert.equal((await world.pass(hub, 59_000, 9)).state.condition, "unknown");
  assert.equal((await world.pass(hub, 1_000, 9)).state.condition, "firing");
});

test("a stored rule that can't be read keeps none from the others, is shown, and can be deleted", async () => {
  const world = new World();
  const hub = world.hub();
  await hub.create(RULE);
  await world.bucket.create("rule/old", Buffer.from('{"rule":{"title":"x","window":"soon"},"reach":{}}'));
  await world.bucket.create("rule/torn", Buffer.from("{"));
  await world.pass(hub, 0, 9);
  assert.deepEqual(world.told(), ["firing 9"]);
  const shown = await hub.list();
  assert.deepEqual(
    shown.map(({ id, rule }) => [id.length > 4 ? "" : id, rule.enabled]),
    [
      ["", true],
      ["old", false],
      ["torn", false],
    ],
  );
  assert.match(shown[1]!.state.fault, /window/);
  await hub.delete("torn");
  await hub.put("old", RULE);
  assert.equal((await hub.list()).length, 2);
});

test("nothing is evaluated twice in an interval, and nothing while a rule is turned off", async () => {
  const world = new World();
  const hub = world.hub();
  const { id, rule } = (await hub.create(RULE)) as Alert;
  await world.pass(hub, 0, 0);
  assert.equal((await world.pass(hub, 20_000, 99)).state.condition, "ok");
  await hub.put(id, { ...rule, enabled: false });
  assert.equal((await world.pass(hub, 600_000, 99)).state.condition, "ok");
});

/** A store that watches the bucket until the test ends. */
function followedStore(t: TestContext, { bucket }: World): RuleStore {
  const store = new RuleStore(bucket);
  const stop = new AbortController();
  const followed = store.follow(stop.signal);
  t.after(async () => {
    stop.abort();
    await followed;
  });
  return store;
}

test("a rule is due when it has changed, at each interval, and while a message waits; at no other time", async (t) => {
  const world = new World();
  const store = followedStore(t, world);
  const isDue = async (): Promise<boolean> => {
    await setImmediate(); // the watch sees what was stored
    return store.takeDue(world.clock.nowMs);
  };
  const hub = world.hub();
  assert.equal(await isDue(), false, "without rules");
  await hub.create({ ...RULE, every: "1m" });
  assert.equal(await isDue(), true, "it is new");
  assert.equal(await isDue(), true, "it was never evaluated");
  await hub.tick();
  assert.equal(await isDue(), false);
  world.clock.nowMs += 60_000;
  assert.equal(await isDue(), true, "its interval is over");
  world.count = 6;
  world.refusal = new Error("status 500");
  await hub.tick();
  assert.equal(await isDue(), false, "its message waits for the next attempt");
  world.clock.nowMs += 5_000;
  assert.equal(await isDue(), true, "the attempt is due");
  const [alert] = await hub.list();
  await hub.delete(alert!.id);
  assert.equal(await isDue(), true, "it was deleted");
  assert.equal(await isDue(), false, "nothing is left");
});

test("while a receiver doesn't answer, checks read no rules that aren't due", async (t) => {
  const world = new World();
  const { promise: until, resolve: answer } = Promise.withResolvers<void>();
  world.hanging = { title: RULE.title, until };
  const wakes: (() => void)[] = [];
  world.clock.sleep = (_ms, signal) =>
    new Promise((resolve) => {
      wakes.push(resolve);
      if (signal?.aborted === true) resolve();
      signal?.addEventListener("abort", () => resolve());
    });
  const reads = t.mock.method(world.bucket, "get");
  const hub = world.hub();
  await hub.start();
  t.after(() => {
    answer();
    return hub.stop();
  });
  await hub.create({ ...RULE, every: "1m" });
  const checkAfter = async (ms: number): Promise<number> => {
    await setImmediate(); // the watch sees what was stored
    const before = reads.mock.callCount();
    world.clock.nowMs += ms;
    for (const wake of wakes.splice(0)) wake();
    for (let turns = 0; turns < 100; turns++) await setImmediate();
    return reads.mock.callCount() - before;
  };
  world.count = 9;
  assert.ok((await checkAfter(0)) > 0, "the rule is new");
  world.count = 0;
  assert.ok((await checkAfter(60_000)) > 0, "its interval is over");
  assert.equal((await hub.list())[0]!.state.deliveries.length, 2);
  await checkAfter(0);
  assert.equal(await checkAfter(1_000), 0, "another message waits for the first");
  assert.equal(await checkAfter(1_000), 0);
});

test("a rule with a longer interval than before is evaluated", async () => {
  const world = new World();
  const hub = world.hub();
  const { id } = await hub.create({ ...RULE, every: "1m" });
  await world.pass(hub, 0, 1);
  await hub.put(id, { ...RULE, every: "5m" });
  await world.pass(hub, 300_000, 9);
  assert.deepEqual(world.told(), ["firing 9"]);
});

test("a damaged state, or one that a deleted rule left, keeps no rule from being evaluated, and makes none due", async (t) => {
  const world = new World();
  const store = followedStore(t, world);
  const state = { slot: 0, deliveries: [{ notBeforeMs: 0 }] };
  await world.bucket.create("state/gone", Buffer.from(JSON.stringify(state)));
  await setImmediate();
  assert.equal(store.takeDue(world.clock.nowMs), false);
  await world.bucket.create("state/torn", Buffer.from('{"deliveries":5}'));
  await world.bucket.create("rule/torn", Buffer.from(JSON.stringify({ rule: RULE, reach: EVERYTHING })));
  await setImmediate();
  assert.equal(store.takeDue(world.clock.nowMs), true, "it has changed");
  assert.equal(store.takeDue(world.clock.nowMs), true, "it was never evaluated");
});

test("a damaged state hides no rule, is replaced with one warning, and its rule can be deleted", async () => {
  const world = new World();
  const hub = world.hub();
  const [one, two] = [await hub.create(RULE), await hub.create({ ...RULE, title: "Other" })];
  for (const { id } of [one, two]) await world.bucket.put(`state/${id}`, Buffer.from('{"deliveries":5}'));
  assert.equal((await hub.list()).length, 2);
  await hub.delete(two.id);
  assert.equal((await world.pass(hub, 0, 9)).state.condition, "firing");
  assert.deepEqual(world.told(), ["firing 9"]);
  await world.pass(hub, 60_000, 9);
  assert.deepEqual(world.warnings, [{ alert: "Errors" }]);
});

test("a stopped rule that a hub of an earlier version has evaluated since runs", async () => {
  const world = new World();
  world.present = new Map();
  world.writer = ADA;
  const hub = world.hub();
  const { id } = await hub.create(RULE);
  assert.equal((await world.pass(hub, 0, 9)).state.stopped, true);
  const store = new RuleStore(world.bucket);
  const known = await store.state(id);
  await store.replaceState(id, known, { ...known.state, fault: "" });
  assert.equal((await hub.get(id)).state.stopped, false);
});

test("the states of hidden rules aren't read for a list", async (t) => {
  const world = new World();
  const hub = world.hub();
  await hub.create(RULE);
  world.reach = SHOP;
  const reads = t.mock.method(world.bucket, "get");
  await hub.list();
  assert.equal(reads.mock.callCount(), 1, "the rule alone");
});

test("a rule is evaluated after the clock was set back, and not twice by hubs whose clocks differ a little", async () => {
  const world = new World();
  const hub = world.hub();
  await hub.create(RULE);
  await world.pass(hub, 0, 1);
  await world.pass(hub, -120_000, 9);
  assert.deepEqual(world.told(), []);
  await world.pass(hub, -86_400_000, 9);
  assert.deepEqual(world.told(), ["firing 9"]);
});

test("rules are watched again after a watch failed", async (t) => {
  const world = new World();
  const { bucket, clock } = world;
  const watch = bucket.watch.bind(bucket);
  const isSeen = Promise.withResolvers<void>();
  let tries = 0;
  bucket.watch = (signal) => {
    if (++tries === 1) throw new AppError("unavailable", "no watch");
    isSeen.resolve();
    return watch(signal);
  };
  clock.sleep = () => new Promise((resolve) => void setImmediate().then(resolve));
  const hub = world.hub();
  await hub.create(RULE);
  world.count = 9;
  await hub.start();
  t.after(() => hub.stop());
  await isSeen.promise;
  while (world.sent.length === 0) await setImmediate();
  assert.deepEqual(world.told(), ["firing 9"]);
});
