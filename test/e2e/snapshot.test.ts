/** A hub's data copied while it works, lost, and brought back: nothing is missing and nothing is there twice. */

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdirSync, renameSync } from "node:fs";
import { resolve } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { assertExactlyOnce } from "#test/harness/exactly-once.ts";
import { ask } from "#test/harness/http.ts";
import { writeInBursts } from "#test/harness/line-writer.ts";
import { chooseSeed, randomFrom } from "#test/harness/random.ts";
import { count } from "#test/harness/search.ts";
import { SequenceLog } from "#test/harness/sequence-log.ts";
import { startStack } from "#test/harness/stack.ts";
import { until } from "#test/harness/until.ts";
import { Workspace } from "#test/harness/workspace.ts";

const LINES = 6_000;
const LAUNCHER = resolve(import.meta.dirname, "../../hub/bin/tailrace-hub");
const run = promisify(execFile);

test("a hub that lost its data is restored from a snapshot taken under load, and agents resend the rest", async (t) => {
  const seed = chooseSeed();
  const random = randomFrom(seed);
  const workspace = new Workspace(t);
  const path = workspace.path("logs", "app.log");
  const copies = workspace.path("copies");
  const { hub, agent } = await startStack(workspace, { input: { paths: [path] } });
  const log = new SequenceLog("snapshot");
  const snapshot = (action: string): Promise<{ readonly stdout: string }> =>
    run(LAUNCHER, ["snapshot", action, copies, "--path.data", hub.dataDir]);

  const wrong = ["snapshot", "create", copies, "--path.data", workspace.path("elsewhere")];
  await assert.rejects(run(LAUNCHER, wrong), /holds no hub's data/);
  for (let id = 1; id <= 20; id++) await ask("PUT", `${hub.searchUrl}/shop/_doc/${id}`, { id });
  await ask("PUT", `${hub.searchUrl}/shop/_doc/1`, { id: 100 });
  const writing = writeInBursts({ log, path, lines: LINES, random, rate: 1_500 });
  await until("lines in the index", async () => (await count(hub.searchUrl)) > 1_000);
  assert.match((await snapshot("create")).stdout, /stream RAW: [\s\S]*snapshot \S+ is in /);
  const again = await snapshot("create");
  assert.match(again.stdout, /[\d.]+ MiB of it new/);
  await writing;
  await assertExactlyOnce(hub.searchUrl, [log], "before the loss");

  await hub.stop();
  renameSync(hub.dataDir, `${hub.dataDir}-lost`);
  mkdirSync(hub.dataDir);
  assert.match((await snapshot("restore")).stdout, /is restored into/);
  await hub.start();
  await assertExactlyOnce(hub.searchUrl, [log], `after the restore (TAILRACE_SEED=${seed})`);
  assert.equal(await count(hub.searchUrl, undefined, "shop"), 20);
  const { _version, _source } = await ask<{ _version: number; _source: unknown }>(
    "GET",
    `${hub.searchUrl}/shop/_doc/1`,
  );
  assert.deepEqual({ _version, _source }, { _version: 2, _source: { id: 100 } });

  await writeInBursts({ log, path, lines: 500, random, rate: 5_000 });
  await assertExactlyOnce(hub.searchUrl, [log], "written after the restore");
  await assert.rejects(snapshot("restore"), /already holds data/);
  await agent.stop();
  await hub.stop();
});
