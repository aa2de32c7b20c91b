import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { MINUTE_MS } from "#proto/kit/units.ts";
import { MemoryBucket } from "#test/support/kit/memory-bucket.ts";
import { StillClock } from "#test/support/kit/still-clock.ts";
import { SealedFlows, StoredFlows } from "./flows.ts";

const FLOW = { verifier: "v".repeat(43), purpose: "/here" };

function makeFlows() {
  const bucket = new MemoryBucket();
  const clock = new StillClock();
  const stored = new StoredFlows<string>({ bucket, clock }, "flow");
  const key = randomBytes(32);
  const sealedWith = (with32: Uint8Array) => new SealedFlows<string>(with32, clock, stored);
  return { bucket, clock, stored, key, sealedWith, sealed: sealedWith(key) };
}

test("a sealed flow is stored nowhere, and any hub opens it for the browser that began it", async () => {
  const { bucket, sealed, sealedWith, key } = makeFlows();
  const state = await sealed.keep(FLOW, "browser");
  assert.deepEqual(await bucket.keys(), []);
  assert.ok(!Buffer.from(state.split(".")[3] ?? "", "base64url").includes(FLOW.verifier));
  const { verifier, purpose } = (await sealedWith(key).take(state, "browser"))!;
  assert.deepEqual({ verifier, purpose }, FLOW);
  assert.notEqual(await sealed.keep(FLOW, "browser"), state);
});

test("a sealed flow of another browser or hub is refused, and one that was changed", async () => {
  const { sealed, sealedWith } = makeFlows();
  const state = await sealed.keep(FLOW, "browser");
  assert.equal(await sealed.take(state, "other"), null);
  assert.equal(await sealed.take(state, ""), null);
  assert.equal(await sealedWith(randomBytes(32)).take(state, "browser"), null);
  const [version, id, iv, text = "", tag] = state.split(".");
  const changed = `${text.startsWith("A") ? "B" : "A"}${text.slice(1)}`;
  for (const forged of [
    [version, id, iv, changed, tag],
    [version, id, iv, text],
    [version, "other", iv, text, tag],
    [version],
    ["v1", "", ""],
  ])
    assert.equal(await sealed.take(forged.join("."), "browser"), null, forged.join("."));
});

test("a flow is over after 15 minutes", async () => {
  const { clock, sealed, stored } = makeFlows();
  for (const flows of [sealed, stored]) {
    const [used, late] = [await flows.keep(FLOW, "browser"), await flows.keep(FLOW, "browser")];
    await clock.advance(15 * MINUTE_MS - 10);
    assert.notEqual(await flows.take(used, "browser"), null);
    await clock.advance(10);
    assert.equal(await flows.take(late, "browser"), null);
  }
});

test("a flow that is too long for an address is stored, as those of hubs of before are", async () => {
  const { bucket, sealed, stored } = makeFlows();
  assert.ok((await sealed.keep({ ...FLOW, purpose: `/${"x".repeat(1_300)}` }, "browser")).length <= 2_000);
  const long = { ...FLOW, purpose: `/${"x".repeat(1_500)}` };
  const state = await sealed.keep(long, "browser");
  assert.ok(state.length < 100);
  assert.equal((await sealed.take(state, "browser"))?.purpose, long.purpose);
  assert.equal((await sealed.take(await stored.keep(FLOW, "browser"), "browser"))?.purpose, FLOW.purpose);
  assert.deepEqual(await bucket.keys(), []);
});

test("a stored flow is good once, and used up by whichever browser sends it", async () => {
  const { stored } = makeFlows();
  const [first, second] = [await stored.keep(FLOW, "browser"), await stored.keep(FLOW, "browser")];
  assert.notEqual(await stored.take(first, "browser"), null);
  assert.equal(await stored.take(first, "browser"), null);
  assert.equal(await stored.take(second, "other"), null);
  assert.equal(await stored.take(second, "browser"), null);
});
