/**
 * Filebeat 7.17 with five of its modules sends their sample files to the search interface, where the modules' ingest pipelines
 * make the documents that they expect. Run by name: TAILRACE_FILEBEAT names the program, which is built from its Go module
 * (github.com/elastic/beats/v7/filebeat), and TAILRACE_FILEBEAT_HOME the module's folder filebeat, which has the modules.
 */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { chmodSync, copyFileSync, createWriteStream, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { ask } from "#test/harness/http.ts";
import { TestHub } from "#test/harness/hub.ts";
import { count, type Hit } from "#test/harness/search.ts";
import { until, untilSteady } from "#test/harness/until.ts";
import { Workspace } from "#test/harness/workspace.ts";
import { differences } from "./filebeat/expected.ts";

const FILEBEAT = process.env["TAILRACE_FILEBEAT"] ?? "";
const HOME = process.env["TAILRACE_FILEBEAT_HOME"] ?? "";

/** What is sent: a sample of each module. */
const SAMPLES: readonly (readonly [module: string, fileset: string, file: string])[] = [
  ["apache", "access", "test.log"],
  ["nginx", "error", "error.log"],
  ["postgresql", "log", "postgresql-11.4.log"],
  ["redis", "log", "redis-5.0.3.log"],
  ["system", "syslog", "darwin-syslog-sample.log"],
];

const INDEX = "filebeat-*";

test("the documents of Filebeat's modules are those that the modules expect", {
  skip: FILEBEAT === "" && "TAILRACE_FILEBEAT doesn't name the program",
}, async (t: TestContext) => {
  const workspace = new Workspace(t);
  const hub = new TestHub({
    dataDir: workspace.path("hub-data"),
    settings: { "compat.version": "7.17" },
  });
  workspace.defer(() => hub.destroy());
  await hub.start();
  const expected = SAMPLES.map(([module, fileset, file]) => expectedOf(module, fileset, file));
  runFilebeat(workspace, hub.searchUrl);
  const total = expected.reduce((sum, documents) => sum + documents.length, 0);
  await until("all documents", async () => (await count(hub.searchUrl, undefined, INDEX)) >= total, {
    deadlineMs: 120_000,
  });
  await untilSteady("the number of documents", () => count(hub.searchUrl, undefined, INDEX));
  // The answers of 7.x: the total is an object.
  const answer = await ask<{ hits: { hits: Hit[] } }>("POST", `${hub.searchUrl}/${INDEX}/_search`, {
    size: total + 1,
  });
  const { hits } = answer.hits;
  assert.equal(hits.length, total);
  const failed = SAMPLES.flatMap(([module, fileset, file], at) =>
    differing(hits, `${module}.${fileset}`, file, expected[at]!),
  );
  assert.deepEqual(failed, []);
});

function samplePath(module: string, fileset: string, file: string): string {
  return join(HOME, "module", module, fileset, "test", file);
}

function expectedOf(module: string, fileset: string, file: string): Record<string, unknown>[] {
  return JSON.parse(readFileSync(`${samplePath(module, fileset, file)}-expected.json`, "utf8")) as Record<
    string,
    unknown
  >[];
}

/** Starts the program in the time zone of the expected documents. */
function runFilebeat(workspace: Workspace, url: string): void {
  const data = workspace.path("filebeat");
  mkdirSync(data);
  const modules = SAMPLES.map(([module, fileset, file]) => {
    const path = workspace.path(file);
    copyFileSync(samplePath(module, fileset, file), path);
    return `  - module: ${module}\n    ${fileset}: { enabled: true, var.paths: ["${path}"] }\n`;
  });
  const config = workspace.path("filebeat.yml");
  writeFileSync(
    config,
    `filebeat.modules:\n${modules.join("")}
filebeat.overwrite_pipelines: true
output.elasticsearch: { hosts: ["${url}"], bulk_max_size: 50, backoff.max: 2s }
path.home: "${HOME}"
path.data: "${data}"
path.logs: "${data}"
`,
  );
  chmodSync(config, 0o600);
  const log = createWriteStream(workspace.path("filebeat.log"));
  const child = spawn(FILEBEAT, ["-c", config, "-e", "-strict.perms=false"], {
    stdio: ["ignore", "ignore", "pipe"],
    env: { ...process.env, TZ: "Etc/GMT+2" },
  });
  child.stderr.pipe(log);
  workspace.defer(() => child.kill("SIGKILL"));
}

/** Returns what differs, in the order in which the lines stood in their file. */
function differing(
  hits: readonly Hit[],
  dataset: string,
  file: string,
  expected: readonly Record<string, unknown>[],
): string[] {
  const found = hits
    .map(({ _source }) => _source)
    .filter((source) => (source["event"] as Record<string, unknown>)["dataset"] === dataset)
    .toSorted((a, b) => offsetOf(a) - offsetOf(b));
  if (found.length !== expected.length)
    return [`${dataset}: ${found.length} documents, expected ${expected.length}`];
  return found.flatMap((source, at) =>
    differences(source, expected[at]!, file).map((each) => `${dataset} ${at}: ${each}`),
  );
}

function offsetOf(source: Readonly<Record<string, unknown>>): number {
  return Number((source["log"] as Record<string, unknown>)["offset"]);
}
