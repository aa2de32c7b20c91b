/**
 * Processes that stand still (SIGSTOP) for seconds, end, or reload while tasks of `aggregate` are open: every task gets each of
 * its lines once, and its end has the right sum. A hub stands still while it has no partitions: it processes those that it takes over.
 * Run by name: `npm run fault -- stalls`.
 */

import assert from "node:assert/strict";
import { appendFileSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { MEMBER_LEASE_MS } from "#hub/cluster/membership/member-record.ts";
import { systemClock } from "#proto/kit/clock.ts";
import { TestCluster, untilShared } from "#test/harness/cluster.ts";
import { assertExactlyOnce } from "#test/harness/exactly-once.ts";
import { ask } from "#test/harness/http.ts";
import { writeInBursts } from "#test/harness/line-writer.ts";
import { chooseSeed, randomFrom } from "#test/harness/random.ts";
import { count, searchAll } from "#test/harness/search.ts";
import { SequenceLog } from "#test/harness/sequence-log.ts";
import { type Stack, startStack } from "#test/harness/stack.ts";
import { until } from "#test/harness/until.ts";
import { Workspace } from "#test/harness/workspace.ts";

const TASKS = 200;
/** Amounts of a task's lines. Each sum of them is another one, so that a missing or doubled line shows. */
const STEPS = { begin: 1, middle: 10, more: 100, end: 1_000 } as const;
const SUM = 1_111;
const INDEX = "tasks";
const ARRIVAL_MS = 180_000;

const FILTER = (version: number): string => `
  filter {
    grok { match => { "message" => "^%{WORD:step} %{NOTSPACE:task} %{NUMBER:n:int}" } }
    aggregate {
      task_id => "%{task}"
      code => "map.sum = (map.sum || 0) + event.get('n')"
      map_action => "create_or_update"
    }
    if [step] == "end" {
      aggregate { task_id => "%{task}" code => "event.set('sum', map.sum)" map_action => "update" end_of_task => true }
    }
    mutate { add_field => { "version" => "${version}" } }
  }
  output { elasticsearch { index => "${INDEX}" } }`;

type World = Stack & { readonly reload: () => void };

/** Stops processes from running for `ms`. */
async function stall(pids: readonly number[], ms: number): Promise<void> {
  for (const pid of pids) process.kill(pid, "SIGSTOP");
  await systemClock.sleep(ms);
  for (const pid of pids) process.kill(pid, "SIGCONT");
}

const FAULTS: Readonly<Record<string, (world: World) => Promise<void>>> = {
  "the hub stands still for 4 s": ({ hub }) => stall([hub.pid], 4_000),
  "the hub stands still for 15 s": ({ hub }) => stall([hub.pid], 15_000),
  "nats-server stands still for 4 s": ({ hub }) => stall(hub.natsPids(), 4_000),
  "nats-server stands still for 15 s": ({ hub }) => stall(hub.natsPids(), 15_000),
  "hub and nats-server stand still for 8 s": ({ hub }) => stall([hub.pid, ...hub.natsPids()], 8_000),
  "the agent stands still for 8 s": ({ agent }) => stall([agent.pid], 8_000),
  "the pipeline is reloaded": (world) => {
    world.reload();
    return Promise.resolve();
  },
  "nats-server is killed": ({ hub }) => hub.killNats(),
  "the hub stands still and is killed": async ({ hub }) => {
    await stall([hub.pid], 4_000);
    await hub.kill9();
    await hub.start();
  },
};

/** Searches what is there now; 0 while the hub can't answer. */
async function arrived({ hub }: Stack): Promise<number> {
  await ask("POST", `${hub.searchUrl}/${INDEX}/_refresh`).catch(() => undefined);
  return count(hub.searchUrl, undefined, INDEX);
}

test("tasks of aggregate are whole whatever stands still, ends or reloads while they are open", async (t) => {
  const workspace = new Workspace(t);
  const [path, config] = [workspace.path("logs", "a.log"), workspace.path("pipelines", "main.conf")];
  let version = 0;
  writeFileSync(config, FILTER(version));
  const stack = await startStack(workspace, {
    hubSettings: { "path.config": [config] },
    input: { paths: [path] },
  });
  const reload = (): void => {
    writeFileSync(config, FILTER(++version));
    stack.hub.signal("SIGHUP");
  };
  const write = (step: keyof typeof STEPS, round: number): void =>
    appendFileSync(
      path,
      Array.from({ length: TASKS }, (_, task) => `${step} r${round}-t${task} ${STEPS[step]}\n`).join(""),
    );
  let expected = 0;
  const untilArrived = async (steps: number): Promise<void> => {
    expected += steps * TASKS;
    const all = async (): Promise<boolean> => (await arrived(stack)) >= expected;
    await until(`${expected} lines`, all, { deadlineMs: ARRIVAL_MS, everyMs: 200 });
  };
  const failures: string[] = [];
  for (const [round, [name, fault]] of Object.entries(FAULTS).entries()) {
    write("begin", round);
    await untilArrived(1);
    write("middle", round);
    const done = fault({ ...stack, reload });
    write("more", round);
    await done;
    write("end", round);
    await untilArrived(3);
    const documents = (await searchAll(stack.hub.searchUrl, INDEX))
      .map(({ _source }) => _source)
      .filter(({ task }) => String(task).startsWith(`r${round}-`));
    const ends = documents.filter(({ step }) => step === "end");
    const whole = ends.filter(({ sum }) => sum === SUM).length;
    const tagged = documents.filter(({ tags }) => tags !== undefined).length;
    const found = `${name}: ${whole} of ${TASKS} tasks whole, ${documents.length} lines, ${tagged} tagged`;
    t.diagnostic(found);
    if (whole !== TASKS || documents.length !== 4 * TASKS || tagged > 0) failures.push(found);
  }
  assert.deepEqual(failures, []);
});

test("a hub that stood still while it had no partitions processes those that it takes over", async (t) => {
  const seed = chooseSeed();
  const workspace = new Workspace(t);
  const [path, config] = [workspace.path("logs", "a.log"), workspace.path("pipelines", "main.conf")];
  // What keeps events of several messages runs in one hub: the other one has no partitions as long as that lives.
  writeFileSync(config, 'filter { if [task] { aggregate { task_id => "%{task}" code => "map.n = 1" } } }');
  const cluster = await TestCluster.start(workspace);
  const first = await cluster.startHub("hub-1", { "path.config": [config] });
  const second = await cluster.startHub("hub-2", { "path.config": [config] });
  await cluster.startAgent("web-1", [path]);
  await untilShared([first], ARRIVAL_MS);
  await stall([second.pid], MEMBER_LEASE_MS + 1_000);
  await first.kill9();
  await untilShared([second], ARRIVAL_MS);
  const log = new SequenceLog("stalls");
  await writeInBursts({ log, path, lines: 200, random: randomFrom(seed), rate: 200 });
  await assertExactlyOnce(second.searchUrl, [log], `(repeat with --seed ${seed})`);
});
