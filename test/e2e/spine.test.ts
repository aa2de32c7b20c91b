import assert from "node:assert/strict";
import { appendFileSync, closeSync, openSync, renameSync, rmSync, truncateSync, writeSync } from "node:fs";
import { test } from "node:test";
import { launchBrowser, openPage } from "#test/harness/browser.ts";
import { assertExactlyOnce } from "#test/harness/exactly-once.ts";
import { readMetric } from "#test/harness/http.ts";
import { count } from "#test/harness/search.ts";
import { SequenceLog } from "#test/harness/sequence-log.ts";
import { startStack } from "#test/harness/stack.ts";
import { until } from "#test/harness/until.ts";
import { Workspace } from "#test/harness/workspace.ts";

/** The least a stream may be limited to. */
const SMALLEST_LOG_BYTES = 16 * 1024 ** 2;

test("lines of every kind become documents with fields, once each", async (t) => {
  const workspace = new Workspace(t);
  const path = workspace.path("logs", "app.log");
  const log = new SequenceLog("shapes");
  appendFileSync(path, log.lines(10_000));
  const { hub } = await startStack(workspace, {
    input: { paths: [path] },
    hubSettings: { "hub.threads": 2 },
  });
  await assertExactlyOnce(hub.searchUrl, [log]);
  for (const [what, query] of [
    ["status of an access line", { range: { "http.response.status_code": { gte: 500 } } }],
    ["level of a JSON line", { term: { level: "info" } }],
    ["path of the file", { term: { "log.file.path": path } }],
    ["name of the agent", { match: { "shipper.name": "web-1" } }],
  ] as const) {
    assert.ok((await count(hub.searchUrl, query)) > 0, what);
  }
});

test("a line appended to a file is on the live page within a second", async (t) => {
  const workspace = new Workspace(t);
  const path = workspace.path("logs", "app.log");
  appendFileSync(path, "the first line\n");
  const { hub } = await startStack(workspace, { input: { paths: [path] } });
  const browser = await launchBrowser();
  workspace.defer(() => browser.close());
  const { page, complaints } = await openPage(browser, `${hub.dashboardUrl}/#/live`);
  await until(
    "the warm-up line on the page",
    async () => {
      appendFileSync(path, "warm-up line\n");
      return (await page.getByText("warm-up line").count()) > 0;
    },
    { everyMs: 300 },
  );
  const tookMs: number[] = [];
  for (let round = 1; round <= 5; round++) {
    const mark = `mark-${round}-${Date.now().toString(36)}`;
    const row = page.getByText(mark).first();
    const before = performance.now();
    appendFileSync(path, `${new Date().toISOString()} INFO shop ${mark}\n`);
    await row.waitFor({ state: "visible" });
    tookMs.push(Math.round(performance.now() - before));
  }
  // One of them may fall into a pause of the machine.
  assert.ok(tookMs.toSorted((a, b) => a - b)[2]! <= 1_000, `lines took ${tookMs.join(", ")} ms`);
  assert.deepEqual(complaints, []);
});

test("a rotated, a truncated and a deleted file are read to their ends", async (t) => {
  const workspace = new Workspace(t);
  const at = (name: string): string => workspace.path("logs", name);
  const [rotated, truncated, deleted] = ["rotated", "truncated", "deleted"].map(
    (name) => new SequenceLog(name),
  );
  assert.ok(rotated && truncated && deleted);
  for (const log of [rotated, truncated, deleted]) appendFileSync(at(`${log.writer}.log`), log.lines(300));
  const { hub } = await startStack(workspace, { input: { paths: [at("*.log")] } });
  await assertExactlyOnce(hub.searchUrl, [rotated, truncated, deleted]);

  const old = openSync(at("rotated.log"), "a");
  writeSync(old, rotated.lines(200));
  renameSync(at("rotated.log"), at("rotated.log.1"));
  writeSync(old, rotated.lines(100));
  closeSync(old);
  appendFileSync(at("rotated.log"), rotated.lines(400));

  truncateSync(at("truncated.log"), 0);
  appendFileSync(at("truncated.log"), truncated.lines(500));

  appendFileSync(at("deleted.log"), deleted.lines(700));
  rmSync(at("deleted.log"));

  await assertExactlyOnce(hub.searchUrl, [rotated, truncated, deleted]);
});

test("three times its limit flows through the log: the agent waits, nothing is lost, the log is purged", async (t) => {
  const limitBytes = SMALLEST_LOG_BYTES;
  const workspace = new Workspace(t);
  const path = workspace.path("logs", "app.log");
  const log = new SequenceLog("flood", "plain", 1_500);
  appendFileSync(path, "");
  const { hub, agent } = await startStack(workspace, {
    hubSettings: { "journal.max_bytes": String(limitBytes) },
    input: { paths: [path] },
  });
  hub.signal("SIGSTOP");
  let writtenBytes = 0;
  while (writtenBytes < 3 * limitBytes) {
    const text = log.lines(1_000);
    appendFileSync(path, text);
    writtenBytes += Buffer.byteLength(text);
  }
  const retries = (): Promise<number | undefined> =>
    readMetric(`${agent.statusUrl}/metrics`, "tailrace_agent_publish_retries_total");
  await until("backpressure at the agent", async () => ((await retries()) ?? 0) > 0);
  hub.signal("SIGCONT");

  await assertExactlyOnce(hub.searchUrl, [log]);
  const held = await readMetric(`${hub.dashboardUrl}/metrics`, "tailrace_journal_stream_bytes");
  assert.ok(held !== undefined && held <= 2.5 * limitBytes, `the log holds ${held} bytes`);
});
