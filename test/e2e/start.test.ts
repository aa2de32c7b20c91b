/** `npm start -- FILE`, what a newcomer runs first: on files of its own and free ports. */

import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { issueOwnCertificate } from "#test/harness/certificates.ts";
import { count } from "#test/harness/search.ts";
import { until } from "#test/harness/until.ts";
import { Workspace } from "#test/harness/workspace.ts";

/** The script behind `npm start`, with a data folder whose hub.yml chooses free ports. */
const START = resolve(import.meta.dirname, "../../deploy/start/main.ts");
const FREE_PORTS = ["http", "dashboard", "transport", "nats"].map((part) => `${part}.port: 0\n`).join("");
const LINE = '192.0.2.7 - - [17/May/2015:10:05:03 +0000] "GET /a HTTP/1.1" 200 12 "-" "curl/7.1"\n';

test("npm start reads the named file, prints the address, and continues there the next time", async (t) => {
  const workspace = new Workspace(t);
  const file = workspace.path("logs", "access.log");
  writeFileSync(workspace.path("data", "hub.yml"), FREE_PORTS);
  writeFileSync(file, LINE.repeat(100));

  const first = start(workspace, file);
  const search = await first.said(/search interface\s+(http:\S+)/);
  const link = await first.said(/(http:\S+discover\S*)/);
  assert.match(link, /2015-05-17/, "the link opens the time of the lines");
  const query = new URLSearchParams(link.split("?")[1]).get("q");
  assert.equal(query, `log.file.path:"${file}"`, "the link shows the file named alone");
  await until("100 lines", async () => (await count(search)) === 100);
  assert.equal(await first.interrupt(), 0);

  appendFileSync(file, LINE.repeat(20));
  const second = start(workspace, file);
  const again = await second.said(/search interface\s+(http:\S+)/);
  await until("120 lines", async () => (await count(again)) >= 120);
  assert.equal(await count(again), 120, "nothing is read twice");
  assert.equal(await second.interrupt(), 0);
});

test("npm start prints the address although the file is written continuously", async (t) => {
  const workspace = new Workspace(t);
  const file = workspace.path("logs", "access.log");
  writeFileSync(workspace.path("data", "hub.yml"), FREE_PORTS);
  writeFileSync(file, LINE.repeat(100));
  const writer = setInterval(() => appendFileSync(file, LINE), 20);
  t.after(() => clearInterval(writer));
  const started = start(workspace, file);
  assert.match(await started.said(/(http:\S+discover\S*)/), /2015-05-17/);
  clearInterval(writer);
  assert.equal(await started.interrupt(), 0);
});

test("npm start prints the link for the first administrator where sign-in is required", async (t) => {
  const workspace = new Workspace(t);
  const file = workspace.path("logs", "access.log");
  writeFileSync(workspace.path("data", "hub.yml"), `${FREE_PORTS}auth.mode: required\n`);
  writeFileSync(file, LINE);
  const started = start(workspace, file);
  const link = await started.said(/(http:\S+\/api\/auth\/setup\/\S+)/);
  assert.equal((await fetch(link)).status, 200);
  await started.said(/(sign in to look at them)/);
  assert.equal(await started.interrupt(), 0);
});

test("npm start counts only the lines of the named files, over TLS too", async (t) => {
  const workspace = new Workspace(t);
  const { certificate, key } = issueOwnCertificate(workspace.folder, "hub", ["localhost", "127.0.0.1"]);
  writeFileSync(
    workspace.path("data", "hub.yml"),
    `${FREE_PORTS}tls.certificate: ${certificate}\ntls.key: ${key}\n`,
  );
  const [file, other] = [workspace.path("logs", "a b.log"), workspace.path("logs", "other.log")];
  writeFileSync(other, LINE.repeat(10));
  const first = start(workspace, other);
  await first.said(/(10 lines to look at here)/);
  assert.equal(await first.interrupt(), 0);
  writeFileSync(file, LINE.repeat(7));
  const second = start(workspace, workspace.path("logs", "a*.log"));
  await second.said(/(10 lines of earlier starts)/);
  assert.match(await second.said(/(7 lines to look at here.*)/), /https:\S+discover/);
  assert.equal(await second.interrupt(), 0);
});

test("npm start reports a missing file", async (t) => {
  const workspace = new Workspace(t);
  const missing = start(workspace, workspace.path("no.log"));
  assert.match(await missing.said(/(there is no file .*no\.log)/), /no\.log$/);
  assert.equal(await missing.ended, 2);
});

interface Started {
  /** Resolves with the first group of the first line that matches. */
  readonly said: (pattern: RegExp) => Promise<string>;
  /** Exit status. */
  readonly ended: Promise<number | null>;
  /** Ctrl-C. */
  readonly interrupt: () => Promise<number | null>;
}

function start(workspace: Workspace, file: string): Started {
  const child: ChildProcess = spawn(process.execPath, [START, file], {
    cwd: workspace.folder,
    env: { ...process.env, TAILRACE_DATA: workspace.path("data", "x").replace(/\/x$/, "") },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const lines: string[] = [];
  for (const stream of [child.stdout, child.stderr])
    createInterface({ input: stream! }).on("line", (line) => lines.push(line));
  const ended = once(child, "exit").then(([code]) => code as number | null);
  workspace.defer(() => child.exitCode ?? child.kill("SIGTERM"));
  return {
    ended,
    said: (pattern) =>
      until(
        `${pattern} in what npm start says`,
        () => lines.map((line) => pattern.exec(line)?.[1]).find(Boolean),
        {
          deadlineMs: 60_000,
        },
      ),
    interrupt: () => {
      child.kill("SIGINT");
      return ended;
    },
  };
}
