import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { Metrics } from "#proto/kit/metrics.ts";
import { type DelaySampler, exportLongestTurn, LongestTurn, TimerSampler } from "./longest-turn.ts";

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
  assert.notEqual(await longest(metrics), value, "what was told before is not told again");

  const front = new Metrics();
  const record = (seconds: number) => [{ ...values[0]!, values: [{ value: seconds, labels: {} }] }];
  front.addSource(() => Promise.resolve(record(0.25)));
  front.addSource(() => Promise.resolve(record(0.5)));
  assert.equal(await longest(front), 0.5);
});

class FakeSampler implements DelaySampler {
  isOn = false;
  delayMs = 0;
  start(): void {
    this.isOn = true;
  }
  takeMs(): number {
    const taken = this.delayMs;
    this.delayMs = 0;
    return taken;
  }
  stop(): void {
    this.isOn = false;
  }
}

test("a thread is sampled from the first work on until it has been quiet for 2 s", () => {
  const sampler = new FakeSampler();
  const turn = new LongestTurn(sampler);
  for (let looks = 0; looks < 200; looks++) turn.look(3, 3);
  assert.equal(sampler.isOn, false);
  assert.equal(turn.takeMs(), 3);

  turn.look(90, 10);
  assert.equal(sampler.isOn, false, "it waited for the processor");
  assert.equal(turn.takeMs(), 90);
  turn.look(250, 240);
  assert.equal(sampler.isOn, true);
  assert.equal(turn.takeMs(), 250, "what woke it isn't sampled");

  sampler.delayMs = 40;
  turn.look(90, 90);
  assert.equal(turn.takeMs(), 40, "many short turns are told from a long one");
  assert.equal(turn.takeMs(), 0);

  for (let looks = 0; looks < 19; looks++) turn.look(20, 20);
  assert.equal(sampler.isOn, true);
  turn.look(20, 20);
  assert.equal(sampler.isOn, false);
  turn.look(15, 15);
  assert.equal(turn.takeMs(), 15);
});

test("a turn is measured also where it follows the start or a reading at once", () => {
  const sampler = new TimerSampler();
  const hold = (ms: number): void => {
    for (const endMs = performance.now() + ms; performance.now() < endMs; );
  };
  sampler.start();
  for (let times = 0; times < 2; times++) {
    hold(60);
    const longestMs = sampler.takeMs();
    assert.ok(longestMs >= 45, `${longestMs} ms`);
  }
  sampler.stop();
});
