import assert from "node:assert/strict";
import { test } from "node:test";
import { DocumentIds, ID_CHARACTERS } from "./document-ids.ts";

/** Ids behind each other, one by one. */
function cut(bytes: Uint8Array): string[] {
  const text = Buffer.from(bytes).toString();
  return text.match(new RegExp(`.{${ID_CHARACTERS}}`, "g")) ?? [];
}

test("ids are made of what is safe in a path, differ, and rise with time", () => {
  let now = 1_700_000_000_000;
  const ids = new DocumentIds(() => now);
  const all = cut(ids.take(1_000));
  now++;
  all.push(ids.next(), ...cut(ids.take(1_000)));
  assert.equal(all.length, 2_001);
  assert.equal(new Set(all).size, all.length);
  for (const id of all) assert.match(id, /^[\w-]{20}$/);
  const times = all.map((id) => Buffer.from(id, "base64url").readUIntBE(0, 6));
  assert.ok(times.every((time, at) => at === 0 || time >= times[at - 1]!));
});

test("ids taken together are those taken one by one", () => {
  let now = 1_700_000_000_000;
  let asked = 0;
  const counters = (list: readonly string[]): number[] =>
    list.map((id) => Buffer.from(id, "base64url").readUIntBE(6, 3));
  const ids = new DocumentIds(() => (++asked % 10 === 0 ? ++now : now));
  const together = cut(ids.take(50));
  const [first = 0] = counters(together);
  assert.deepEqual(
    counters([...together, ids.next()]),
    Array.from({ length: 51 }, (_, nth) => (first + nth) & 0xff_ffff),
  );
  const random = new Set(together.map((id) => id.slice(12)));
  assert.equal(random.size, 1, "the rest is the process's");
});

test("no ids are no bytes", () => {
  assert.equal(new DocumentIds(() => 1).take(0).length, 0);
});
