import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { AppError } from "#proto/kit/errors.ts";
import { silentLogger } from "#proto/kit/log.ts";
import { Metrics } from "#proto/kit/metrics.ts";
import { EVERYTHING, RULE, START, World } from "#test/support/alerts/alert-world.ts";
import { fixtureShards } from "#test/support/host/local-shards.ts";
import { IndexFixture } from "#test/support/search/shards.ts";
import { AlertSearch } from "./alert-search.ts";
import { Alerts } from "./alerts.ts";
import { checkRule } from "./rule.ts";

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
