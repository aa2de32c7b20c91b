/**
 * Hub and agent under clocks that are set back and forth, while they run and while they are away, each process killed and
 * stopped under each clock: every line is there once, and no document of `_bulk` gets another version.
 */

import assert from "node:assert/strict";
import { appendFileSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { systemClock } from "#proto/kit/clock.ts";
import { assertExactlyOnce } from "#test/harness/exactly-once.ts";
import { FakeClock, noFakeClock } from "#test/harness/fake-clock.ts";
import { ask } from "#test/harness/http.ts";
import { chooseSeed, randomFrom } from "#test/harness/random.ts";
import { count } from "#test/harness/search.ts";
import { SequenceLog } from "#test/harness/sequence-log.ts";
import { type Stack, startStack } from "#test/harness/stack.ts";
import { until } from "#test/harness/until.ts";
import { Workspace } from "#test/harness/workspace.ts";

const SECONDS = Number(process.env["TAILRACE_FAULT_SECONDS"] ?? 60);
const LINES = 150;
const DOCS = 50;
/** Longest wait for a round's lines: about being stuck, on a machine where each start may take most of a minute. */
const ARRIVAL_MS = 180_000;

/** Clocks, the first two set first: back by seconds and by years, a day on, over the end of summer time. */
const CLOCKS = ["-30s", "@1970-01-01 00:05:00", "-1d", "+1d", "@2026-10-25 02:59:50", "-1h", "+0"] as const;
const FIRST = 2;

/** What ends a process, each followed by its start. */
const ENDS: Readonly<Record<string, (stack: Stack) => Promise<void>>> = {
  "kill -9 of the hub": async ({ hub }) => {
    await hub.kill9();
    await hub.start();
  },
  "stop of the hub": async ({ hub }) => {
    await hub.stop();
    await hub.start();
  },
  "kill -9 of nats-server": ({ hub }) => hub.killNats(),
  "kill -9 of the agent": async ({ agent }) => {
    await agent.kill9();
    await agent.start();
  },
  "stop of the agent": async ({ agent }) => {
    await agent.stop();
    await agent.start();
  },
};

/** Puts documents with given ids; `flush`: makes them durable in the shards. */
async function putDocuments({ hub }: Stack, round: number): Promise<void> {
  let body = "";
  for (let number = 0; number < DOCS; number++)
    body += `{"index":{"_index":"given","_type":"_doc","_id":"${round}-${number}"}}\n{"n":${number}}\n`;
  const { errors } = await ask<{ errors: boolean }>("POST", `${hub.searchUrl}/_bulk?refresh=true`, body);
  assert.equal(errors, false);
  await ask("POST", `${hub.searchUrl}/given/_flush`);
}

/** Returns how many documents there are, and which versions they have. */
async function versions({ hub }: Stack): Promise<{ total: number; versions: number[] }> {
  await ask("POST", `${hub.searchUrl}/given/_refresh`);
  const body = { version: true, size: 10_000, query: { match_all: {} } };
  type Answer = { hits: { total: number; hits: { _version: number }[] } };
  const { hits } = await ask<Answer>("POST", `${hub.searchUrl}/given/_search`, body);
  return { total: hits.total, versions: [...new Set(hits.hits.map(({ _version }) => _version))] };
}

/** Yields the first clocks, then any, until the time is over. */
function* clocks(random: () => number): Generator<string> {
  const endMs = systemClock.monotonic() + SECONDS * 1_000;
  yield* CLOCKS.slice(0, FIRST);
  while (systemClock.monotonic() < endMs) yield CLOCKS[Math.floor(random() * CLOCKS.length)]!;
}

test(`clocks that are set for ${SECONDS} s lose and double nothing, whatever ends meanwhile`, {
  skip: noFakeClock,
}, async (t) => {
  const seed = chooseSeed();
  const random = randomFrom(seed);
  const workspace = new Workspace(t);
  const clock = new FakeClock(workspace.path("clock", "faketime.rc"));
  const path = workspace.path("logs", "a.log");
  const stack = await startStack(workspace, {
    hubEnv: clock.env,
    agentWrapper: clock.wrapper,
    input: { paths: [path] },
  });
  const log = new SequenceLog("clocks");
  const ends = Object.keys(ENDS);
  let round = 0;
  for (const time of clocks(random)) {
    appendFileSync(path, log.lines(LINES));
    await putDocuments(stack, round);
    const isRunning = random() < 0.5;
    if (isRunning) clock.set(time);
    appendFileSync(path, log.lines(LINES));
    for (const end of ends.sort(() => random() - 0.5)) {
      await ENDS[end]!(stack);
      if (!isRunning) clock.set(time);
      appendFileSync(path, log.lines(LINES));
    }
    const expected = { total: DOCS * ++round, versions: [1] };
    assert.deepEqual(await versions(stack), expected, `clock ${time}, repeat with --seed ${seed}`);
    await until(
      `the lines under the clock ${time}`,
      async () => (await count(stack.hub.searchUrl)) >= log.count,
      { deadlineMs: ARRIVAL_MS },
    );
    t.diagnostic(`${time}, set ${isRunning ? "while all ran" : "while one was away"}: ${log.count} lines`);
  }
  for (const file of [stack.hub.logFile, workspace.path("agent", "agent.out")])
    assert.match(readFileSync(file, "utf8"), /"time":"1970-01-01T00:/, `${file} has the clock's time`);
  await assertExactlyOnce(stack.hub.searchUrl, [log], `(repeat with --seed ${seed})`);
});
