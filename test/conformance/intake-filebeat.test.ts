/**
 * Filebeat 7.17 sends a file to the input beats, over a kill of the hub in the middle. Run by name: TAILRACE_FILEBEAT names the
 * program, which is built from its Go module (github.com/elastic/beats/v7/filebeat).
 */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { appendFileSync, chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { type TestContext, test } from "node:test";
import { lines, startIntakeHub } from "#test/harness/foreign-senders.ts";
import { count } from "#test/harness/search.ts";
import { until } from "#test/harness/until.ts";

const FILEBEAT = process.env["TAILRACE_FILEBEAT"] ?? "";

/** Lines of the file at first, and with those written while the hub is away. */
const FIRST = 20_000;
const ALL = 25_000;

test("beats: each line of Filebeat's file is found, also after a kill while it sends", {
  skip: FILEBEAT === "" && "TAILRACE_FILEBEAT doesn't name the program",
}, async (t: TestContext) => {
  const intake = await startIntakeHub(t, (at) => `beats { host => "127.0.0.1" port => ${at} }`);
  const { workspace, hub, port, messages } = intake;
  const [log, config, data] = [
    workspace.path("app.log"),
    workspace.path("filebeat.yml"),
    workspace.path("filebeat"),
  ];
  mkdirSync(data);
  writeFileSync(log, `${lines(FIRST).join("\n")}\n`);
  writeFileSync(
    config,
    `filebeat.inputs: [{ type: log, paths: ["${log}"], scan_frequency: 1s }]
output.logstash: { hosts: ["127.0.0.1:${port}"], bulk_max_size: 500, backoff.max: 2s }
path.data: "${data}"
path.logs: "${data}"
`,
  );
  chmodSync(config, 0o600);
  const child = spawn(FILEBEAT, ["-c", config, "-e"], { stdio: "ignore" });
  workspace.defer(() => child.kill("SIGKILL"));
  await until("some lines", async () => (await count(hub.searchUrl)) > 0, { everyMs: 5 });
  await hub.kill9();
  appendFileSync(log, `${lines(ALL - FIRST, FIRST).join("\n")}\n`);
  await hub.start();
  const found = await messages(ALL);
  assert.deepEqual([...new Set(found)], lines(ALL));
  // Lumberjack numbers lines within a window alone: what wasn't acknowledged comes again as new lines.
  t.diagnostic(`lines sent again: ${found.length - ALL}`);
});
