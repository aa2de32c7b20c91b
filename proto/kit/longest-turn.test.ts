import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { exportLongestTurn } from "./longest-turn.ts";
import { Metrics } from "./metrics.ts";

async function longest(metrics: Metrics): Promise<number> {
  const found = /^tailrace_host_longest_turn_seconds (\S+)$/m.exec(await metrics.text());
  return Number(found?.[1]);
}

test("the longest turn is told once, and of several threads the longest", async () => {
  const metrics = new Metrics();
  exportLongestTurn(metrics, "host");
  await sleep(30);
  const endMs = performance.now() + 400;
  while (performance.now() < endMs); // holds the thread
  await sleep(30);
  const values = await metrics.own();
  const value = values[0]!.values[0]!.value;
  assert.ok(value >= 0.35, `${value} s`);
  await sleep(30);
  assert.ok((await longest(metrics)) < 0.35, "what was told before is not told again");

  const front = new Metrics();
  const record = (seconds: number) => [{ ...values[0]!, values: [{ value: seconds, labels: {} }] }];
  front.addSource(() => Promise.resolve(record(0.25)));
  front.addSource(() => Promise.resolve(record(0.5)));
  assert.equal(await longest(front), 0.5);
});
