import assert from "node:assert/strict";
import { test } from "node:test";
import type { Position } from "#proto/position.ts";
import { LogEnd } from "./log-end.ts";

const at = (sequence: number): Position => ({ incarnation: 1, sequence });

test("callers share a reading that begins after their call, and never one that had begun before", async () => {
  const readings: PromiseWithResolvers<Position>[] = [];
  const end = new LogEnd(() => {
    const reading = Promise.withResolvers<Position>();
    readings.push(reading);
    return reading.promise;
  });
  const first = end.position();
  const [second, third] = [end.position(), end.position()];
  assert.equal(readings.length, 1);
  readings[0]!.resolve(at(5));
  assert.deepEqual(await first, at(5));
  assert.equal(readings.length, 2);
  readings[1]!.resolve(at(9));
  assert.deepEqual(await Promise.all([second, third]), [at(9), at(9)]);
  const fourth = end.position();
  assert.equal(readings.length, 3);
  readings[2]!.reject(new Error("away"));
  await assert.rejects(fourth, /away/);
});
