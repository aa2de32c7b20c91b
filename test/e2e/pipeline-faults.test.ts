import assert from "node:assert/strict";
import { appendFileSync, copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { systemClock } from "#proto/kit/clock.ts";
import { dataFile } from "#test/conformance/shared-suites.ts";
import { placesDatabase } from "#test/fixtures/geoip-database.ts";
import { assertExactlyOnce } from "#test/harness/exactly-once.ts";
import { startHub } from "#test/harness/hub.ts";
import { count, searchAll } from "#test/harness/search.ts";
import { SequenceLog } from "#test/harness/sequence-log.ts";
import { startStack } from "#test/harness/stack.ts";
import { endThread, INSPECTED } from "#test/harness/threads.ts";
import { until } from "#test/harness/until.ts";
import { Workspace } from "#test/harness/workspace.ts";

const RELOADING = { "config.reload.automatic": true, "config.reload.interval": "100ms" };

/** Lines per second while the reloads continue. */
const RATE = 20_000;
const TICK_MS = 50;
/** Lines that may wait to be indexed: a machine that is slower than the rate gets fewer, not ever more. */
const MAX_AHEAD = 2 * RATE;
const RELOADS = 10;
/** Of the reloads; its file is broken. */
const BROKEN = 5;

function linesOf(path: string): string[] {
  return readFileSync(path, "utf8").trimEnd().split("\n");
}

/** Returns the lines of an output's file when they are so many: the file and the index are written side by side. */
async function writtenLines(path: string, count: number): Promise<string[]> {
  await until(`${count} lines in ${path}`, () => linesOf(path).length >= count, { everyMs: 100 });
  const lines = linesOf(path);
  assert.equal(lines.length, count);
  return lines;
}

/** Each line must be there as often as it is expected. */
function assertSameLines(found: readonly string[], expected: readonly string[]): void {
  const rest = new Map<string, number>();
  for (const line of expected) rest.set(line, (rest.get(line) ?? 0) + 1);
  for (const line of found) rest.set(line, (rest.get(line) ?? 0) - 1);
  assert.deepEqual(
    [...rest].filter(([, count]) => count !== 0),
    [],
  );
}

/** Marks what went through it with its version; writes each line to the index and to a file. */
function marking(version: number): string {
  return `
    filter { mutate { add_field => { "version" => "${version}" } } }
    output {
      elasticsearch { }
      file { path => "all.log" codec => line { format => "%{message}" } }
    }`;
}

/**
 * Writes `RATE` lines a second, as far as `countIndexed` follows, until `signal` is aborted; resolves with the rate it
 * reached.
 */
async function writeSteadily(
  log: SequenceLog,
  path: string,
  countIndexed: () => Promise<number>,
  signal: AbortSignal,
): Promise<number> {
  const startMs = performance.now();
  let indexed = 0;
  while (!signal.aborted) {
    const isAhead = log.count >= indexed + MAX_AHEAD;
    if (isAhead) indexed = await countIndexed().catch(() => indexed);
    const most = indexed + MAX_AHEAD - log.count;
    const due = Math.min(most, Math.floor(((performance.now() - startMs) / 1_000) * RATE) - log.count);
    if (due > 0) appendFileSync(path, log.lines(due));
    await systemClock.sleep(TICK_MS);
  }
  return Math.round(log.count / ((performance.now() - startMs) / 1_000));
}

test("ten reloads under 20,000 lines a second, one of them with a broken file, lose and double nothing, in the index and in a file", async (t) => {
  const workspace = new Workspace(t);
  const conf = workspace.path("pipelines", "main.conf");
  const path = workspace.path("logs", "app.log");
  const log = new SequenceLog("reload", "plain");
  writeFileSync(conf, marking(0));
  appendFileSync(path, "");
  const { hub } = await startStack(workspace, { input: { paths: [path] }, hubSettings: RELOADING });
  const answerOf = async () =>
    (await (await fetch(`${hub.dashboardUrl}/api/pipelines`)).json()) as {
      problem: string;
      pipelines: { text: string }[];
    };
  const writing = new AbortController();
  const written = writeSteadily(log, path, () => count(hub.searchUrl), writing.signal);
  workspace.defer(async () => {
    writing.abort();
    await written;
  });
  for (let version = 1; version <= RELOADS; version++) {
    const isBroken = version === BROKEN;
    writeFileSync(conf, isBroken ? "filter {\n  mutate { add_tag = 1 }\n}\n" : marking(version));
    await until(
      `an answer to version ${version}`,
      async () => {
        const { problem } = await answerOf();
        if (!isBroken) return (await count(hub.searchUrl, { match: { version: `${version}` } })) > 0;
        return /main\.conf:2:20: error: "=" after "add_tag"/.test(problem);
      },
      { everyMs: 100, deadlineMs: 60_000 },
    );
    if (!isBroken) continue;
    const before = await count(hub.searchUrl);
    await until("the old pipeline at work", async () => (await count(hub.searchUrl)) > before);
  }
  writing.abort();
  t.diagnostic(`${log.count} lines, ${await written} a second`);
  await assertExactlyOnce(hub.searchUrl, [log]);
  const lines = await writtenLines(workspace.path("hub-data", "out", "all.log"), log.count);
  assert.equal(new Set(lines).size, log.count);
});

const ACCESS = `filter {
  grok { match => { "message" => "%{COMBINEDAPACHELOG}" } }
  date { match => ["timestamp", "dd/MMM/yyyy:HH:mm:ss Z"] }
  geoip { source => "clientip" database => "places.mmdb" fields => ["city_name", "location"] tag_on_failure => [] }
  useragent { source => "agent" target => "ua" }
  if [response] =~ /^5/ { mutate { add_tag => "failed" } }
  mutate { convert => { "bytes" => "integer" } remove_field => ["timestamp"] }
}
output {
  elasticsearch { index => "access" }
  file { path => "all.log" codec => line { format => "%{message}" } }
}`;

const access = dataFile("apache-access.log");

test("a real access log reaches the index and a file whole though a thread of the pipeline ends on the way", {
  skip: access.missing,
}, async (t) => {
  const workspace = new Workspace(t);
  const path = workspace.path("logs", "access.log");
  const london = { city: { names: { en: "London" } }, location: { latitude: 51.5, longitude: -0.1 } };
  writeFileSync(workspace.path("pipelines", "places.mmdb"), placesDatabase([["83.149.0.0/16", london]]));
  writeFileSync(workspace.path("pipelines", "access.conf"), ACCESS);
  const expected = linesOf(access.path);
  copyFileSync(access.path, path);
  const { hub } = await startStack(workspace, { input: { paths: [path] }, hubEnv: INSPECTED });
  const found = () => count(hub.searchUrl, undefined, "access");
  await until("the first documents", async () => (await found()) > 0, { everyMs: 10 });
  // More of it, so that the thread has something in hands whenever it ends.
  const more = expected.map((line) => `${line}\n`).join("");
  appendFileSync(path, more);
  await endThread(hub.logFile, /pipeline[/-]runtime[/-]worker/);
  await until("all documents", async () => (await found()) >= 2 * expected.length, {
    deadlineMs: 120_000,
    everyMs: 200,
  });
  assert.match(readFileSync(hub.logFile, "utf8"), /a thread of the pipeline ended and is replaced/);
  const documents = (await searchAll(hub.searchUrl, "access")).map(({ _source }) => _source);
  assertSameLines(
    documents.map(({ message }) => String(message)),
    [...expected, ...expected],
  );
  const written = await writtenLines(workspace.path("hub-data", "out", "all.log"), 2 * expected.length);
  assertSameLines(written, [...expected, ...expected]);
  const one = documents.find(({ clientip }) => String(clientip).startsWith("83.149."))!;
  assert.equal((one["geoip"] as { city_name: string }).city_name, "London");
});

const TASKS = `
  input {
    file {
      path => "TASKS_LOG"
      start_position => "beginning"
      stat_interval => 0.2
      codec => multiline { pattern => "^\\s" what => "previous" auto_flush_interval => 3600 }
    }
  }
  filter {
    grok { match => { "message" => "^%{WORD:step} %{WORD:task} %{NUMBER:n:int}" } }
    aggregate {
      task_id => "%{task}"
      code => "map.sum = (map.sum || 0) + event.get('n')"
      map_action => "create_or_update"
    }
    if [step] == "end" {
      aggregate { task_id => "%{task}" code => "event.set('sum', map.sum)" map_action => "update" end_of_task => true }
    }
  }
  output { elasticsearch { index => "tasks" } }`;

test("events held by aggregate and multiline survive kill -9 of the hub", async (t) => {
  const workspace = new Workspace(t);
  const path = workspace.path("logs", "tasks.log");
  writeFileSync(workspace.path("pipelines", "tasks.conf"), TASKS.replace("TASKS_LOG", path));
  const tasks = 200;
  const steps = (step: string, n: number) =>
    Array.from({ length: tasks }, (_, task) => `${step} t${task} ${n}\n  detail of ${step}\n`).join("");
  appendFileSync(path, steps("begin", 1));
  const hub = await startHub({ dataDir: workspace.path("hub-data") });
  workspace.defer(() => hub.destroy());
  // The last event of what is written is held: a line that belongs to it may follow.
  const reached = (total: number) =>
    until(`${total} documents`, async () => (await count(hub.searchUrl, undefined, "tasks")) === total, {
      deadlineMs: 60_000,
      everyMs: 100,
    });
  await reached(tasks - 1);
  await hub.kill9();
  appendFileSync(path, `  more of begin\n${steps("middle", 10)}`);
  await hub.start();
  await reached(2 * tasks - 1);
  await hub.kill9();
  appendFileSync(path, `  more of middle\n${steps("end", 100)}over t0 0\n`);
  await hub.start();
  await reached(3 * tasks);
  const documents = (await searchAll(hub.searchUrl, "tasks")).map(({ _source }) => _source);
  assert.deepEqual(
    documents.filter(({ step }) => step === "end").map(({ sum }) => sum),
    new Array(tasks).fill(111),
  );
  for (const step of ["begin", "middle"]) {
    const last = documents.find((each) => each["step"] === step && each["task"] === `t${tasks - 1}`);
    assert.equal(
      String(last?.["message"]).split("\n").slice(1).join(),
      `  detail of ${step},  more of ${step}`,
    );
  }
});
