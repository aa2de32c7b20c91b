import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import type { Clock } from "#proto/kit/clock.ts";
import { AppError } from "#proto/kit/errors.ts";
import { type Logger, silentLogger } from "#proto/kit/log.ts";
import { Metrics } from "#proto/kit/metrics.ts";
import { fixtureShards, localShards } from "#test/support/host/local-shards.ts";
import { MemoryBucket } from "#test/support/kit/memory-bucket.ts";
import { IndexFixture } from "#test/support/search/shards.ts";
import { AlertSearch } from "./alert-search.ts";
import { claimed, FIRST_STATE, type Reach } from "./alert-state.ts";
import type { Alert } from "./alert-view.ts";
import { Alerts } from "./alerts.ts";
import type { Notice } from "./notifier.ts";
import { type Channel, checkRule } from "./rule.ts";
import { RuleStore, type Writer } from "./rule-store.ts";

const START = Date.parse("2026-01-31T12:00:00Z");
const EVERYTHING = { indices: ["*"], internal: true };
const SHOP = { indices: ["logs-shop*"], internal: false };
const ADA = { kind: "user", id: "ada", name: "ada" } as const;
const BOB = { kind: "api_key", id: "bob", name: "bob" } as const;
const RULE = {
  title: "Errors",
  query: "level:error",
  threshold: 5,
  window: "5m",
  every: "1m",
  channels: [{ type: "webhook", url: "https://hooks.example.net/a" }],
};

class TestClock implements Clock {
  nowMs = START;
  now = (): number => this.nowMs;
  monotonic = (): number => this.nowMs;
  sleep = (_ms: number, signal?: AbortSignal): Promise<void> =>
    new Promise((resolve) => signal?.addEventListener("abort", () => resolve()));
}

/** Hubs that share a bucket, a clock and the number that a rule counts. */
/** Shards of no index. */
const NO_SHARDS = localShards({} as Parameters<typeof localShards>[0]);

class World {
  readonly bucket = new MemoryBucket();
  readonly clock = new TestClock();
  /** Of who sends requests, and of the last count. */
  reach: Reach = EVERYTHING;
  counted: Reach | undefined;
  isStrict: boolean | undefined;
  readonly warnings: object[] = [];
  writer: Writer | undefined;
  /** What writers may read now, by id. Absent: nobody signs in. */
  present: Map<string, Reach> | undefined;
  /** What happens while a writer's rights are read. */
  meanwhile: (() => Promise<unknown>) | undefined;
  readonly sent: (Notice & { readonly channel: Channel })[] = [];
  count = 0;
  refusal: Error | undefined;
  /** Messages of the rule with this title aren't answered before `until` resolves. */
  hanging: { readonly title: string; readonly until: Promise<void> } | undefined;

  hub(): Alerts {
    return new Alerts({
      bucket: this.bucket,
      sender: () => ({ reach: this.reach, ...(this.writer !== undefined && { writer: this.writer }) }),
      ...(this.present !== undefined && { presentReach: this.#presentReach }),
      maySee: (_rule, reach) => this.reach.internal || !reach.internal,
      search: {
        check: (query) => new AlertSearch(() => [], NO_SHARDS).check(query),
        count: (_rule, { reach, isStrict }) => {
          this.counted = reach;
          this.isStrict = isStrict;
          return Promise.resolve(this.count);
        },
        preview: () => Promise.resolve([]),
      },
      notifier: {
        send: (channel, notice) => {
          if (this.refusal !== undefined) return Promise.reject(this.refusal);
          if (notice.title === this.hanging?.title) return this.hanging.until;
          this.sent.push({ ...notice, channel });
          return Promise.resolve();
        },
        close: () => undefined,
      },
      dashboardUrl: () => "http://hub",
      clock: this.clock,
      log: {
        ...silentLogger(),
        warn: (facts: object) => void this.warnings.push(facts),
      } as unknown as Logger,
      metrics: new Metrics(),
    });
  }

  readonly #presentReach = async ({ id }: Writer): Promise<Reach> => {
    await this.meanwhile?.();
    const reach = this.present?.get(id);
    if (reach === undefined) throw new AppError("forbidden", `${id} was removed`);
    return reach;
  };

  async pass(hub: Alerts, afterMs: number, count: number): Promise<Alert> {
    this.clock.nowMs += afterMs;
    this.count = count;
    await hub.tick();
    return (await hub.list())[0]!;
  }

  told(): string[] {
    return this.sent.map(({ event, count }) => `${event} ${count}`);
  }
}

test("without sign-in a rule counts in what its last writer reached, whoever evaluates it", async () => {
  const world = new World();
  world.reach = SHOP;
  world.writer = ADA;
  const { id } = await world.hub().create(RULE);
  world.reach = EVERYTHING;
  await world.pass(world.hub(), 0, 5);
  assert.deepEqual(world.counted, SHOP);
  await world.hub().put(id, RULE);
  await world.pass(world.hub(), 60_000, 5);
  assert.deepEqual(world.counted, EVERYTHING);
});

test("a rule counts in what its last writer may read now", async () => {
  const world = new World();
  world.present = new Map([["ada", EVERYTHING]]);
  world.writer = ADA;
  const hub = world.hub();
  const { id } = await hub.create(RULE);
  await world.pass(hub, 0, 5);
  assert.deepEqual(world.counted, EVERYTHING);
  world.present.set("ada", SHOP);
  await world.pass(hub, 60_000, 5);
  assert.deepEqual(world.counted, SHOP);
  world.present.set("bob", { indices: ["bob-*"], internal: false });
  world.writer = BOB;
  await hub.put(id, RULE);
  await world.pass(hub, 60_000, 5);
  assert.deepEqual(world.counted?.indices, ["bob-*"]);
});

test("who mutes a rule or turns it off and on leaves it its writer", async () => {
  const world = new World();
  world.present = new Map([["ada", SHOP]]);
  world.writer = ADA;
  world.reach = SHOP;
  const hub = world.hub();
  const { id, revision } = await hub.create(RULE);
  world.writer = BOB;
  world.reach = EVERYTHING;
  const until = "2026-02-01T00:00:00Z";
  const muted = await hub.switch(id, { muted_until: until }, revision);
  assert.deepEqual(muted.rule, { ...checkRule(RULE), muted_until: until });
  await assert.rejects(hub.switch(id, { enabled: false }, revision), { code: "journal_conflict" });
  assert.equal((await hub.switch(id, { enabled: false })).rule.muted_until, until);
  await hub.switch(id, { enabled: true, muted_until: null });
  await world.pass(hub, 0, 9);
  assert.deepEqual(world.counted, SHOP);
  assert.deepEqual(world.told(), ["firing 9"]);
  for (const body of [{}, { enabled: "x" }, { muted_until: "soon" }, { enabled: false, threshold: 1 }])
    await assert.rejects(hub.switch(id, body), { code: "request_invalid" }, JSON.stringify(body));
  await world.bucket.create("rule/wide", Buffer.from(JSON.stringify({ rule: RULE, reach: EVERYTHING })));
  world.reach = SHOP;
  await assert.rejects(hub.switch("wide", { enabled: false }), { code: "not_found" });
});

test("administrators see who saved a rule, and the log has one warning when it stops", async () => {
  const world = new World();
  world.present = new Map([["ada", SHOP]]);
  world.writer = ADA;
  world.reach = SHOP;
  const hub = world.hub();
  const { id } = await hub.create(RULE);
  assert.equal((await hub.get(id)).writer, undefined);
  world.reach = EVERYTHING;
  assert.deepEqual((await hub.get(id)).writer, { kind: "user", name: "ada" });
  await world.pass(hub, 0, 9);
  assert.deepEqual(world.warnings, []);
  world.present.clear();
  await world.pass(hub, 60_000, 9);
  await world.pass(hub, 60_000, 9);
  assert.deepEqual(world.warnings, [{ alert: "Errors", reason: "ada was removed" }]);
  world.present.set("ada", SHOP);
  await world.pass(hub, 60_000, 9);
  world.present.clear();
  await world.pass(hub, 60_000, 9);
  assert.equal(world.warnings.length, 2);
});

test("a rule whose writer is gone doesn't run, says so, and runs at once after it was saved again", async () => {
  const world = new World();
  world.present = new Map([["bob", SHOP]]);
  world.writer = ADA;
  const hub = world.hub();
  const { id, notice } = await hub.create({ ...RULE, every: "1d" });
  assert.equal(notice, "");
  const { state } = await world.pass(hub, 0, 9);
  assert.deepEqual([state.stopped, state.fault, state.condition], [true, "ada was removed", "unknown"]);
  assert.deepEqual([state.events[0]?.event, state.events[0]?.note], ["failed", "ada was removed"]);
  assert.equal(world.counted, undefined);
  assert.deepEqual(world.told(), []);
  world.writer = BOB;
  const saved = await hub.put(id, { ...RULE, every: "1d" });
  assert.deepEqual([saved.state.stopped, saved.state.fault], [false, ""]);
  assert.equal((await world.pass(hub, 1_000, 9)).state.condition, "firing");
  assert.deepEqual(world.told(), ["firing 9"]);
});

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

test("a rule whose writer's rights can't be read now isn't stopped, and is tried again within its interval", async () => {
  const world = new World();
  world.present = new Map([["ada", SHOP]]);
  world.writer = ADA;
  const hub = world.hub();
  await hub.create({ ...RULE, every: "1d" });
  world.meanwhile = () => Promise.reject(new AppError("unavailable", "the log is away"));
  const { state } = await world.pass(hub, 0, 9);
  assert.deepEqual([state.stopped, state.fault], [false, "the log is away"]);
  world.meanwhile = undefined;
  assert.equal((await world.pass(hub, 59_000, 9)).state.fault, "the log is away", "too early");
  const later = await world.pass(hub, 1_000, 9);
  assert.deepEqual([later.state.condition, later.state.fault], ["firing", ""]);
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

test("a stopped rule stays so while its writer's rights can't be read, and what was refused isn't tried again", async () => {
  const world = new World();
  world.present = new Map();
  world.writer = ADA;
  const hub = world.hub();
  await hub.create({ ...RULE, every: "10m" });
  await world.pass(hub, 0, 9);
  let tries = 0;
  world.meanwhile = () => {
    tries++;
    return Promise.reject(new AppError("unavailable", "the log is away"));
  };
  await world.pass(hub, 120_000, 9);
  assert.equal(tries, 0);
  const { state } = await world.pass(hub, 480_000, 9);
  assert.deepEqual([state.stopped, state.fault], [true, "the log is away"]);
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

test("a rule without a writer counts in its stored reach, and asks to be saved where people sign in", async () => {
  const world = new World();
  world.reach = SHOP;
  const { id } = await world.hub().create(RULE);
  assert.equal((await world.hub().get(id)).notice, "");
  world.present = new Map();
  const hub = world.hub();
  const { state, notice } = await world.pass(hub, 0, 9);
  assert.deepEqual([state.condition, state.stopped], ["firing", false]);
  assert.match(notice, /save it again/);
  assert.deepEqual(world.counted, SHOP);
  assert.equal(world.isStrict, false, "what is beyond its reach is left out, as before it was upgraded");
  world.writer = ADA;
  world.present.set("ada", SHOP);
  await hub.put(id, RULE);
  await world.pass(hub, 0, 9);
  assert.equal(world.isStrict, true);
});

test("who doesn't reach what a rule counted in since its writer got more rights sees no such rule", async () => {
  const world = new World();
  world.present = new Map([["ada", EVERYTHING]]);
  world.writer = ADA;
  world.reach = SHOP;
  const hub = world.hub();
  const { id } = await hub.create(RULE);
  assert.equal((await hub.list()).length, 1);
  await hub.tick();
  assert.equal((await hub.list()).length, 0);
  await assert.rejects(hub.get(id), { code: "not_found" });
  world.reach = EVERYTHING;
  assert.equal((await hub.get(id)).state.reach, undefined, "grants aren't shown");
});

test("the history of a rule ends when its writer may read less, and who reads as much sees the rule then", async () => {
  const world = new World();
  world.present = new Map([["ada", EVERYTHING]]);
  world.writer = ADA;
  const hub = world.hub();
  const { id } = await hub.create(RULE);
  await world.pass(hub, 0, 502);
  assert.equal((await world.pass(hub, 60_000, 503)).state.events.length, 1);
  world.present.set("ada", SHOP);
  world.reach = SHOP;
  assert.deepEqual(await hub.list(), [], "what was counted is hidden until the next evaluation");
  const own = await world.pass(hub, 60_000, 2);
  assert.deepEqual(
    own.state.events.map(({ event, count }) => `${event} ${count}`),
    ["resolved 2"],
  );
  world.present.set("ada", { indices: ["logs-shop*", "logs-bank"], internal: false });
  assert.equal((await world.pass(hub, 60_000, 2)).state.events.length, 1, "more rights");
  await hub.switch(id, { enabled: false });
  await hub.delete(id);
});

test("who doesn't reach what a rule counts in sees no such rule", async () => {
  const world = new World();
  const hub = world.hub();
  const { id } = await hub.create(RULE);
  world.reach = SHOP;
  const own = await hub.create({ ...RULE, title: "Own" });
  assert.deepEqual(
    (await hub.list()).map(({ rule }) => rule.title),
    ["Own"],
  );
  const fails = (error: unknown): boolean => error instanceof AppError && error.code === "not_found";
  await assert.rejects(hub.get(id), fails);
  await assert.rejects(hub.put(id, RULE), fails);
  await assert.rejects(hub.delete(id), fails);
  await hub.delete(own.id);
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

test("a rule fires when the count passes its threshold, notifies once, and again when the condition ends", async () => {
  const world = new World();
  const hub = world.hub();
  await hub.create(RULE);
  assert.equal((await world.pass(hub, 0, 5)).state.condition, "ok");
  assert.equal((await world.pass(hub, 60_000, 6)).state.condition, "firing");
  assert.equal((await world.pass(hub, 60_000, 9)).state.condition, "firing");
  const over = await world.pass(hub, 60_000, 0);
  assert.deepEqual([over.state.condition, over.state.firings], ["ok", 1]);
  assert.deepEqual(world.told(), ["firing 6", "resolved 0"]);
  assert.deepEqual(
    over.state.events.map(({ event }) => event),
    ["resolved", "firing"],
  );
  const link = new URLSearchParams(world.sent[0]!.link.split("?")[1]);
  assert.equal(link.get("q"), "level:error");
  assert.equal(Date.parse(link.get("to")!) - Date.parse(link.get("from")!), 300_000);
});

test("of many hubs one evaluates an interval, and one sends the notification", async () => {
  const world = new World();
  const hubs = Array.from({ length: 5 }, () => world.hub());
  await hubs[0]!.create(RULE);
  world.count = 10;
  for (let interval = 0; interval < 10; interval++) {
    world.clock.nowMs += 60_000;
    world.count = interval % 2 === 0 ? 10 : 0;
    await Promise.all(hubs.map((hub) => hub.tick()));
  }
  assert.equal(world.sent.length, 10);
  assert.equal(new Set(world.sent.map(({ key }) => key)).size, 10);
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

test("a muted rule changes its condition but sends no message", async () => {
  const world = new World();
  const hub = world.hub();
  await hub.create({ ...RULE, muted_until: new Date(START + 90_000).toISOString() });
  assert.equal((await world.pass(hub, 60_000, 6)).state.condition, "firing");
  assert.equal((await world.pass(hub, 60_000, 0)).state.condition, "ok");
  assert.deepEqual(world.told(), ["resolved 0"]);
});

test("a message that isn't taken is sent again with the same key, later and later, and given up as an event", async () => {
  const world = new World();
  const hub = world.hub();
  await hub.create(RULE);
  world.refusal = new AppError("unavailable", "hooks.example.net answered with status 500");
  const waiting = await world.pass(hub, 60_000, 6);
  assert.equal(waiting.state.deliveries[0]?.attempts, 1);
  assert.match(waiting.state.deliveries[0].fault, /status 500/);
  assert.equal((await world.pass(hub, 1_000, 6)).state.deliveries[0]?.attempts, 1, "too early");
  world.refusal = undefined;
  assert.deepEqual((await world.pass(hub, 60_000, 6)).state.deliveries, []);
  assert.deepEqual(world.told(), ["firing 6"]);
  world.refusal = new AppError("unavailable", "gone");
  let last = await world.pass(hub, 60_000, 0);
  for (let tries = 0; tries < 12; tries++) last = await world.pass(hub, 601_000, 0);
  assert.deepEqual(last.state.deliveries, []);
  assert.equal(last.state.events[0]?.event, "undelivered");
});

test("a channel that doesn't answer keeps no other rule from being evaluated and none of its messages back", async () => {
  const world = new World();
  const hub = world.hub();
  const { promise: until, resolve: answer } = Promise.withResolvers<void>();
  world.hanging = { title: "A", until };
  await hub.create({ ...RULE, title: "A" });
  await hub.create({ ...RULE, title: "B" });
  const passes: Promise<void>[] = [];
  for (const [count, wanted] of [
    [9, ["firing 9"]],
    [3, ["firing 9", "resolved 3"]],
  ] as const) {
    world.clock.nowMs += 60_000;
    world.count = count;
    passes.push(hub.tick());
    for (let turns = 0; turns < 1_000 && world.sent.length < wanted.length; turns++) await setImmediate();
    assert.deepEqual(world.told(), wanted);
  }
  answer();
  await Promise.all(passes);
});

test("a search that fails is an event, and ends no firing", async () => {
  const world = new World();
  const hub = world.hub();
  await hub.create(RULE);
  await world.pass(hub, 0, 6);
  const broken = new Alerts({
    bucket: world.bucket,
    sender: () => ({ reach: EVERYTHING }),
    maySee: () => true,
    search: {
      check: () => Promise.resolve(),
      count: () => Promise.reject(new AppError("query_shard", "no such field")),
      preview: () => Promise.resolve([]),
    },
    notifier: { send: () => Promise.resolve(), close: () => undefined },
    dashboardUrl: () => "",
    clock: world.clock,
    log: silentLogger(),
    metrics: new Metrics(),
  });
  const { state } = await world.pass(broken, 60_000, 0);
  assert.deepEqual(
    [state.condition, state.fault, state.events[0]?.event],
    ["firing", "no such field", "failed"],
  );
});

test("a rule changed under another revision is refused", async () => {
  const hub = new World().hub();
  const { id, revision } = await hub.create(RULE);
  await hub.put(id, { ...RULE, title: "Other" }, revision);
  await assert.rejects(hub.put(id, RULE, revision), { code: "journal_conflict" });
  await hub.delete(id);
  await assert.rejects(hub.get(id), { code: "not_found" });
});

const WRONG_RULES: readonly (readonly [change: object, said: RegExp])[] = [
  [{ title: "" }, /title/],
  [{ window: "5 parsecs" }, /window/],
  [{ every: "1ms" }, /every must be from 5s/],
  [{ channels: [{ type: "webhook", url: "file:///etc/passwd" }] }, /http/],
  [{ channels: [{ type: "webhook", url: "https://a:b@example.net/" }] }, /password/],
  [{ channels: [{ type: "email", to: ["a@b.c\nbcc: d@e.f"] }] }, /channels/],
  [{ muted_until: "soon" }, /muted_until/],
  [{ thresold: 1 }, /thresold/],
];

test("a rule that can't be is refused with the property's name", () => {
  for (const [change, said] of WRONG_RULES) assert.throws(() => checkRule({ ...RULE, ...change }), said);
});

test("a query that can't be read is refused when the rule is saved", async () => {
  await assert.rejects(new World().hub().create({ ...RULE, query: "level:(" }), /level:\(/);
});

test("lines are counted in the window, and the preview shows what would have been counted", async () => {
  const docs = Array.from({ length: 60 }, (_, minute) => ({
    "@timestamp": new Date(START - minute * 60_000 - 1).toISOString(),
    level: minute < 20 ? "error" : "info",
  }));
  const fixture = new IndexFixture({ docs });
  try {
    const search = new AlertSearch(() => [{ uuid: "uuid-logs", typeName: "_doc" }], fixtureShards(fixture));
    const rule = checkRule({ ...RULE, window: "10m", every: "5m", threshold: 9 });
    assert.equal(await search.count(rule, { reach: EVERYTHING, isStrict: true }, START), 10);
    const points = await search.preview(rule, EVERYTHING, START - 30 * 60_000, START);
    assert.deepEqual(
      points.map(({ count, firing }) => `${count}${firing ? "!" : ""}`),
      ["0", "0", "0", "5", "10!", "10!", "10!"],
    );
  } finally {
    fixture.close();
  }
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
