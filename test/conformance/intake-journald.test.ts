/** systemd-journal-upload sends a journal to the input journald_remote, over a kill of the hub in the middle of an upload. */

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { type TestContext, test } from "node:test";
import { journalProgram, lines, startIntakeHub } from "#test/harness/foreign-senders.ts";
import { count } from "#test/harness/search.ts";
import { until } from "#test/harness/until.ts";

const [upload, remote] = [journalProgram("upload"), journalProgram("remote")];

/** Lines of the first upload, and of all. The first takes several reads of the hub, so that a kill falls into it. */
const FIRST = 20_000;
const ALL = 25_000;

/** Returns lines in the Journal Export Format. */
function exported(texts: readonly string[], from: number): string {
  return texts
    .map(
      (text, n) =>
        `__REALTIME_TIMESTAMP=${1_700_000_000_000_000 + (from + n) * 1000}\n__MONOTONIC_TIMESTAMP=${from + n + 1}\n` +
        `_BOOT_ID=00000000000000000000000000000007\n_HOSTNAME=web-1\nPRIORITY=6\nMESSAGE=${text}\n\n`,
    )
    .join("");
}

test("journald_remote: each entry of systemd-journal-upload is found once, also after a kill within an upload", {
  skip: upload.missing || remote.missing,
}, async (t: TestContext) => {
  const intake = await startIntakeHub(t, (at) => `journald_remote { host => "127.0.0.1" port => ${at} }`);
  const { workspace, hub, port, messages } = intake;
  const [journal, state] = [workspace.path("web-1.journal"), workspace.path("state")];
  const write = (texts: readonly string[], from: number): Buffer =>
    execFileSync(remote.path, ["-o", journal, "-"], {
      env: remote.env,
      input: exported(texts, from),
      stdio: ["pipe", "ignore", "ignore"],
    });
  const send = () => {
    const args = [
      `--url=http://127.0.0.1:${port}`,
      `--file=${journal}`,
      `--save-state=${state}`,
      "--follow=no",
    ];
    const child = spawn(upload.path, args, { env: upload.env, stdio: "ignore" });
    workspace.defer(() => child.kill("SIGKILL"));
    return child;
  };
  write(lines(FIRST), 0);
  const first = send();
  const ended = once(first, "exit");
  await until("some lines", async () => (await count(hub.searchUrl)) > 0, { everyMs: 5 });
  await hub.kill9();
  const [status] = await ended;
  await hub.start();
  const found = await count(hub.searchUrl);
  t.diagnostic(`the first upload ended with ${status}, after which ${found} of ${FIRST} lines were found`);
  // systemd restarts it; the entries written meanwhile follow.
  write(lines(ALL - FIRST, FIRST), FIRST);
  const second = send();
  await until("the last entry's cursor", () => existsSync(state) && cursor(state) === ALL, {
    deadlineMs: 60_000,
  });
  second.kill();
  assert.deepEqual(await messages(ALL), lines(ALL));
});

/** Returns the number of the entry that the sender has stored as sent. */
function cursor(state: string): number {
  return Number.parseInt(/;i=([0-9a-f]+);/.exec(readFileSync(state, "utf8"))?.[1] ?? "0", 16);
}
