import assert from "node:assert/strict";
import { test } from "node:test";
import { PingWatch } from "./ping-watch.ts";

/** Returns with which ping a server that answers none counts as lost; `isBusy`: it answers a batch before each. */
function lostWith(watch: PingWatch, isBusy = false): number {
  watch.connected();
  for (let ping = 1; ping <= 30; ping++) {
    if (isBusy) watch.answered();
    if (watch.pinged(ping)) return ping;
  }
  return Number.POSITIVE_INFINITY;
}

test("a server that answers nothing is lost with the third ping", () => {
  assert.equal(lostWith(new PingWatch()), 3);
});

test("a server that answers batches is not lost, however late its answers to pings are", () => {
  assert.equal(lostWith(new PingWatch(), true), Number.POSITIVE_INFINITY);
});

test("a server that has answered batches is lost as soon as another one once it answers nothing", () => {
  const watch = new PingWatch();
  watch.answered();
  for (const unanswered of [1, 2, 3]) assert.equal(watch.pinged(unanswered), unanswered === 3);
});

test("the time doubles with each connection that is lost, until a server answers a ping in time", () => {
  const watch = new PingWatch();
  const pings = Array.from({ length: 5 }, () => lostWith(watch));
  assert.deepEqual(pings, [3, 5, 9, 17, 17]);
  watch.connected();
  for (let ping = 1; ping <= 2; ping++) assert.equal(watch.pinged(1), false);
  assert.equal(lostWith(watch), 3);
});
