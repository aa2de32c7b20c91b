import assert from "node:assert/strict";
import { test } from "node:test";
import { MIB, MINUTE_MS } from "#proto/kit/units.ts";
import { LogBacklog } from "./log-backlog.ts";

test("committed messages count as long as the log keeps them", () => {
  const backlog = new LogBacklog();
  backlog.add(3, 300);
  assert.deepEqual(backlog.print(0, true), {
    operations: 3,
    bytes: 300,
    uncommittedOperations: 3,
    uncommittedBytes: 300,
  });
  backlog.commit(0);
  backlog.add(1, 50);
  assert.deepEqual(backlog.print(14 * MINUTE_MS, true), {
    operations: 4,
    bytes: 350,
    uncommittedOperations: 1,
    uncommittedBytes: 50,
  });
  assert.equal(backlog.print(14 * MINUTE_MS, false).operations, 1);
  assert.equal(backlog.print(16 * MINUTE_MS, true).operations, 1);
});

test("any number of commits costs the same and loses no count", () => {
  const backlog = new LogBacklog();
  for (let n = 0; n < 1000; n++) {
    backlog.add(1, 1);
    backlog.commit(n);
  }
  assert.equal(backlog.print(1000, true).operations, 1000);
});

test("of many committed messages those count that the log keeps", () => {
  const backlog = new LogBacklog();
  for (let n = 0; n < 3; n++) {
    backlog.add(60, 6 * MIB);
    backlog.commit(n);
  }
  backlog.add(1, 100);
  const { operations, bytes } = backlog.print(3, true);
  assert.deepEqual([operations, bytes], [81, 8 * MIB + 100]);
});
