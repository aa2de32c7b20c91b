import assert from "node:assert/strict";
import { test } from "node:test";
import { systemClock } from "#proto/kit/clock.ts";
import { StillClock } from "#test/support/kit/still-clock.ts";
import {
  AwayTimes,
  COPY_WAIT_MS,
  committedByLive,
  isAwaited,
  neededOfDoc,
  processedRaw,
  RESTART_WAIT_MS,
  StoppedMembers,
} from "./cluster-progress.ts";
import type { MemberRecord } from "./member-record.ts";

const at = (sequence: number) => ({ incarnation: 1, sequence });

function member(id: string, given: Partial<MemberRecord>): MemberRecord {
  return { id, state: "live", active: 1, doc: null, raw: null, ...given } as MemberRecord;
}

test("agents' files are committed when every live hub has them; a lost one isn't waited for", () => {
  const members = [
    member("a", { doc: at(1) }),
    member("b", { doc: at(5) }),
    member("c", { state: "lost", doc: at(2) }),
  ];
  assert.equal(committedByLive(members, "a", at(9)).sequence, 5);
  assert.equal(committedByLive([...members, member("new", {})], "a", at(9)).sequence, 0);
});

test("what a hub had committed before the log was lost isn't known once it has passed the loss", () => {
  const members = [member("a", {}), member("b", { doc: { incarnation: 2, sequence: 1 } })];
  assert.deepEqual(committedByLive(members, "a", at(5), 2), at(5));
  assert.equal(committedByLive(members, "a", at(5), 1).sequence, 0);
});

test("the log waits an hour for the copies of a lost hub", () => {
  const members = [member("a", { doc: at(9) }), member("b", { state: "lost", doc: at(3) })];
  assert.equal(neededOfDoc(members, () => COPY_WAIT_MS - 1, []).sequence, 3);
  assert.equal(neededOfDoc(members, () => COPY_WAIT_MS, []).sequence, 9);
});

test("the log waits a quarter of an hour for the copies of a hub that was stopped, until it joins again", () => {
  let nowMs = 0;
  const stopped = new StoppedMembers({ ...systemClock, monotonic: () => nowMs });
  const [a, b, lost] = [
    member("a", { doc: at(9) }),
    member("b", { doc: at(3) }),
    member("c", { state: "lost", doc: at(1) }),
  ];
  const needed = (): number => neededOfDoc([a], () => undefined, stopped.positions()).sequence;
  stopped.observe([a, b, lost]);
  assert.equal(needed(), 9);
  stopped.observe([a]);
  assert.equal(needed(), 3, "a lost hub that is forgotten doesn't count");
  nowMs += RESTART_WAIT_MS - 1;
  stopped.observe([{ ...a, doc: at(12) }]);
  assert.equal(needed(), 3);
  nowMs += 1;
  assert.equal(needed(), 9);
  stopped.observe([a, b]);
  stopped.observe([a]);
  stopped.observe([a, member("b", {})]);
  assert.equal(needed(), 9, "its own record counts again");
});

test("the log is awaited for an hour while a shard has no live copy, as its hub is lost or has left", () => {
  const copies = { x: [["a"], ["b", "c"]] };
  // Hub d has a copy that was to move to hub a.
  const has = [
    ["a", "d"],
    ["b", "c"],
  ];
  const awaited = (live: string, awayForMs: Readonly<Record<string, number>>): boolean =>
    isAwaited(
      copies,
      (_uuid, shard) => has[shard]!.some((id) => live.includes(id)),
      (id) => awayForMs[id],
    );
  assert.equal(awaited("abc", {}), false);
  assert.equal(awaited("ac", { b: 1 }), false);
  assert.equal(awaited("bc", { a: 1 }), true);
  assert.equal(awaited("bcd", { a: 1 }), false);
  assert.equal(awaited("a", { b: 1, c: 1 }), true);
  assert.equal(awaited("bc", { a: COPY_WAIT_MS }), false);
  // A hub that starts has said nothing yet.
  assert.equal(awaited("", {}), false);
});

test("how long a hub is away is measured here, whatever its record says; a second loss begins anew", async () => {
  const clock = new StillClock();
  const away = new AwayTimes(clock);
  // Another hub's clock, years ahead and years behind.
  const observe = (recordedMs: number): void => away.observe(new Map([["a", recordedMs]]));
  assert.equal(away.forMs("a"), undefined);
  observe(1e15);
  await clock.advance(10);
  observe(1e15);
  assert.equal(away.forMs("a"), 10);
  observe(-1e15);
  assert.equal(away.forMs("a"), 0);
  away.observe(new Map());
  assert.equal(away.forMs("a"), undefined);
});

test("RAW is done with where every owner of the present table is, and not while partitions move", () => {
  const table = { epoch: 2, ids: ["a", "b"] };
  const settled = [member("a", { raw: at(7), active: 2 }), member("b", { raw: at(4), active: 2 })];
  assert.equal(processedRaw(settled, table)?.sequence, 4);
  assert.equal(processedRaw([settled[0]!, member("b", { raw: at(4), active: 1 })], table), undefined);
  assert.equal(processedRaw([settled[0]!], table), undefined);
  assert.equal(processedRaw(settled, { epoch: 2, ids: [] }), undefined);
});
