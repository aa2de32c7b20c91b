import assert from "node:assert/strict";
import { test } from "node:test";
import { AppError } from "#proto/kit/errors.ts";
import { ADA, BOB, EVERYTHING, RULE, SHOP, World } from "#test/support/alerts/alert-world.ts";
import { checkRule } from "./rule.ts";

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
