import assert from "node:assert/strict";
import { test } from "node:test";
import { InFlight } from "./in-flight.ts";

test("readers that wait for capacity get it in their order, large messages too", async () => {
  const inFlight = new InFlight(100, 10);
  const { signal } = new AbortController();
  assert.equal(await inFlight.acquire(90, signal), true);
  const order: number[] = [];
  const waiting = [80, 5, 5].map(async (bytes, at) => {
    await inFlight.acquire(bytes, signal);
    order.push(at);
  });
  inFlight.release(90);
  await Promise.all(waiting);
  assert.deepEqual(order, [0, 1, 2]);
  assert.equal(inFlight.bytes, 90);
});

test("a reader that ends while it waits holds the next one up no longer", async () => {
  const inFlight = new InFlight(100, 10);
  const [ending, reading] = [new AbortController(), new AbortController()];
  await inFlight.acquire(90, reading.signal);
  const first = inFlight.acquire(80, ending.signal);
  const second = inFlight.acquire(10, reading.signal);
  ending.abort();
  assert.deepEqual([await first, await second], [false, true]);
});
