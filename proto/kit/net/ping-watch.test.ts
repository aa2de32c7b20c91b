import assert from "node:assert/strict";
import { test } from "node:test";
import { PingWatch } from "./ping-watch.ts";

/** Returns with which ping a server that answers none counts as lost; `isBusy`: it answers a message before each. */
function lostWith(watch: PingWatch, isBusy = false): number {
  watch.connected();
  for (let ping = 1; ping <= 99; ping++) {
    if (isBusy) watch.answered();
    if (watch.pinged(ping)) return ping;
  }
  return Number.POSITIVE_INFINITY;
}

test("a server that answers nothing is lost with the third ping", () => {
  assert.equal(lostWith(new PingWatch()), 3);
});

test("a server that answers messages is not lost, however late its answers to pings are", () => {
  assert.equal(lostWith(new PingWatch(), true), Number.POSITIVE_INFINITY);
});

test("a server that has answered messages is lost as soon as another one once it answers nothing", () => {
  const watch = new PingWatch();
  watch.answered();
  for (const unanswered of [1, 2, 3]) assert.equal(watch.pinged(unanswered), unanswered === 3);
});

/** A server answers so many pings in time. */
function answerPings(watch: PingWatch, count: number): void {
  watch.connected();
  for (let ping = 0; ping <= count; ping++) assert.equal(watch.pinged(1), false); // the first one has none before it
}

test("the time doubles with each connection that is lost, up to 64 pings", () => {
  const watch = new PingWatch();
  const pings = Array.from({ length: 7 }, () => lostWith(watch));
  assert.deepEqual(pings, [3, 5, 9, 17, 33, 65, 65]);
});

test("the time is the first one again after five prompt answers, not after those between two large messages", () => {
  const watch = new PingWatch();
  assert.deepEqual([lostWith(watch), lostWith(watch)], [3, 5]);
  answerPings(watch, 2);
  assert.equal(lostWith(watch), 9);
  answerPings(watch, 5);
  assert.equal(lostWith(watch), 3);
});
