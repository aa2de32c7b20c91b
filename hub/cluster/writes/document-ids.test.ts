import assert from "node:assert/strict";
import { test } from "node:test";
import { DocumentIds, ID_CHARACTERS } from "./document-ids.ts";
import { shardOf } from "./routing.ts";

/** Ids one after another, one by one. */
function cut(bytes: Uint8Array): string[] {
  const text = Buffer.from(bytes).toString();
  return text.match(new RegExp(`.{${ID_CHARACTERS}}`, "g")) ?? [];
}

const timeOf = (id: string): number => Buffer.from(id, "base64url").readUIntBE(0, 6);
const counterOf = (id: string): number => Buffer.from(id, "base64url").readUIntBE(12, 3);

test("ids are made of what is safe in a path, differ, and rise with time", () => {
  let now = 1_700_000_000_000;
  const ids = new DocumentIds(() => now);
  const all = cut(ids.take(1_000));
  now++;
  all.push(ids.next(), ...cut(ids.take(1_000)));
  now--;
  all.push(...cut(ids.take(1_000)));
  assert.equal(all.length, 3_001);
  assert.equal(new Set(all).size, all.length);
  for (const id of all) assert.match(id, /^[\w-]{20}$/);
  const times = all.map(timeOf);
  assert.ok(times.every((time, at) => at === 0 || time >= times[at - 1]!));
  assert.deepEqual([times[0], times.at(-1)], [1_700_000_000_000, 1_700_000_000_001]);
});

test("ids taken together are those taken one by one", () => {
  const ids = new DocumentIds(() => 1_700_000_000_000);
  const together = cut(ids.take(50));
  const counters = [...together, ids.next()].map(counterOf);
  // The counter has no 0 when it starts again.
  for (const [nth, counter] of counters.entries())
    if (nth > 0) assert.equal(counter, (counters[nth - 1]! % (2 ** 24 - 1)) + 1);
});

for (const shards of [1, 2, 5, 7, 64]) {
  test(`ids for one shard of ${shards} are routed to it`, () => {
    let now = 1_700_000_000_000;
    const ids = new DocumentIds(() => now++);
    const all: string[] = [];
    for (let shard = 0; shard < shards; shard++) {
      const some = cut(ids.take(20, shard, shards));
      for (const id of some) assert.equal(shardOf(id, "", shards), shard);
      all.push(...some);
    }
    assert.equal(new Set(all).size, 20 * shards);
  });
}

test("ids differ when the counter is used up within a millisecond", () => {
  const startMs = 1_700_000_000_000;
  for (const shards of [1, 3]) {
    const ids = new DocumentIds(() => startMs, 2 ** 24 - 50);
    const all = cut(ids.take(200, 0, shards));
    assert.equal(new Set(all).size, 200);
    assert.deepEqual([...new Set(all.map(timeOf))], [startMs, startMs + 1]);
    for (const id of all) assert.equal(shardOf(id, "", shards), 0);
  }
});

test("no ids are no bytes", () => {
  assert.equal(new DocumentIds(() => 1).take(0).length, 0);
});
