/** Cases of the agent's table about files that are renamed, copied, truncated, linked and deleted. */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { SequenceLog } from "#test/harness/sequence-log.ts";
import { type Case, type Cases, metric, type Place, until } from "./agent-case.ts";

const newLog = (): SequenceLog => new SequenceLog("w", "plain");
const ALL = "*.log*";
const options = (p: Place, input: object = {}) => ({
  paths: [join(p.logs, ALL)],
  input: { scan_frequency: "100ms", rotated_wait: "200ms", ...input },
});

/** Resolves when so many lines are in the log, repeats left out. */
async function arrived(p: Place, count: number): Promise<void> {
  await until(async () => new Set(await p.lines()).size >= count);
}

/** Moves a.log on, and what it was before. */
function rotate(p: Place, generations: number): void {
  for (let age = generations; age >= 0; age--) {
    const from = p.file(age === 0 ? "a.log" : `a.log.${age}`);
    if (existsSync(from)) renameSync(from, p.file(`a.log.${age + 1}`));
  }
}

/** A file whose content is replaced in place; what comes is `bytes` longer or shorter than what was. */
const rewritten =
  (make: (before: string) => string): Case =>
  async (p) => {
    const before = newLog();
    await p.agent(options(p));
    p.write(before, "a.log", 200);
    await arrived(p, 200);
    const after = new SequenceLog("x", "plain");
    truncateSync(p.file("a.log"));
    writeFileSync(p.file("a.log"), make(after.lines(200)));
    await p.proves([before, after], { unordered: true });
  };

export const ROTATION_CASES: Cases = {
  25: async (p) => {
    const log = newLog();
    await p.agent(options(p));
    for (let round = 0; round < 5; round++) {
      p.write(log, "a.log", 300);
      await pause(150);
      renameSync(p.file("a.log"), p.file(`a.log.${round}`));
      p.write(log, `a.log.${round}`, 5); // the writer still has the old file open
      p.write(log, "a.log", 5);
    }
    await p.proves(log, { unordered: true });
  },
  26: async (p) => {
    const log = newLog();
    await p.agent();
    p.write(log, "a.log", 100);
    await arrived(p, 100);
    renameSync(p.file("a.log"), p.file("a.old"));
    p.write(log, "a.old", 100);
    p.write(log, "a.log", 100);
    await p.proves(log, { unordered: true });
  },
  27: async (p) => {
    const log = newLog();
    const agent = await p.agent(options(p));
    p.write(log, "a.log", 100);
    await arrived(p, 100);
    await p.server.kill9();
    for (let age = 0; age < 3; age++) {
      p.write(log, "a.log", 100);
      await pause(250);
      rotate(p, age);
    }
    p.write(log, "a.log", 100);
    await until(async () => (await metric(agent, "tailrace_agent_open_files")) === 4);
    await p.server.restart();
    await p.proves(log, { unordered: true });
  },
  28: async (p) => {
    const log = newLog();
    const first = await p.agent();
    p.write(log, "a.log", 100);
    await arrived(p, 100);
    await first.stop();
    p.write(log, "a.log", 50);
    renameSync(p.file("a.log"), p.file("a.old"));
    p.write(log, "a.log", 100);
    await p.agent();
    await p.proves(log, { unordered: true });
  },
  29: async (p) => {
    const log = newLog();
    const agent = await p.agent(options(p));
    p.write(log, "a.log", 100);
    await arrived(p, 100);
    await p.server.kill9();
    p.write(log, "a.log", 5_000);
    await until(async () => (await metric(agent, "tailrace_agent_lag_bytes")) > 0);
    rmSync(p.file("a.log"));
    await until(async () => (await metric(agent, "tailrace_agent_open_deleted_bytes")) > 0);
    await p.server.restart();
    await p.proves(log);
  },
  31: async (p) => {
    const log = newLog();
    await p.agent(options(p));
    for (let round = 0; round < 4; round++) {
      p.write(log, "a.log", 400);
      await pause(120);
      copyFileSync(p.file("a.log"), p.file(`a.log.${round}`));
      truncateSync(p.file("a.log"));
    }
    await p.proves(log, { unordered: true });
  },
  32: rewritten((text) => text.repeat(1)),
  33: async (p) => {
    const header = `${"# the same first line ".repeat(200)}#\n`;
    await p.agent(options(p));
    writeFileSync(p.file("a.log"), `${header}one\n`);
    await arrived(p, 2);
    truncateSync(p.file("a.log"));
    writeFileSync(p.file("a.log"), `${header}two, and longer\n`);
    await p.holds([header.trim(), "one", header.trim(), "two, and longer"]);
  },
  34: async (p) => {
    const log = newLog();
    await p.agent(options(p));
    p.write(log, "a.log", 200);
    await arrived(p, 200);
    copyFileSync(p.file("a.log"), p.file("a.log.1"));
    truncateSync(p.file("a.log"));
    p.write(log, "a.log", 100);
    await p.proves(log, { unordered: true });
    assert.equal((await p.lines()).length, log.count);
  },
  35: async (p) => {
    await p.agent(options(p));
    writeFileSync(p.file("a.log"), `${"a".repeat(500)}\n`);
    await arrived(p, 1);
    writeFileSync(p.file("a.log"), `${"b".repeat(500)}\n`);
    await p.holds(["a".repeat(500), "b".repeat(500)]);
  },
  37: async (p) => {
    const log = newLog();
    const agent = await p.agent(options(p));
    await p.server.kill9();
    p.write(log, "a.log", 3_000);
    await until(async () => (await metric(agent, "tailrace_agent_open_files")) === 1);
    rotate(p, 0);
    execFileSync("gzip", [p.file("a.log.1")]);
    await p.server.restart();
    await p.proves(log);
  },
  38: async (p) => {
    const log = newLog();
    await p.agent(options(p));
    for (let round = 0; round < 10; round++) {
      p.write(log, "a.log", 50);
      await arrived(p, log.count);
      rmSync(p.file("a.log"));
    }
    await p.proves(log, { unordered: true });
  },
  39: async (p) => {
    const log = newLog();
    const first = await p.agent();
    p.write(log, "a.log", 100);
    await arrived(p, 100);
    await first.stop();
    rmSync(p.file("a.log"));
    p.write(log, "a.log", 300);
    await p.agent();
    await p.proves(log, { unordered: true });
  },
  40: async (p) => {
    const log = newLog();
    await p.agent(options(p));
    for (let age = 0; age < 5; age++) {
      p.write(log, "a.log", 100);
      await pause(60);
      rotate(p, age);
    }
    await p.proves(log, { unordered: true });
  },
  41: async (p) => {
    const log = newLog();
    const agent = await p.agent({ ...options(p, { close_inactive: "500ms" }), paths: [p.file("*.log")] });
    for (let hour = 0; hour < 48; hour++) {
      p.write(log, `app-${hour}.log`, 20);
      await pause(30);
    }
    await p.proves(log, { unordered: true });
    await until(async () => (await metric(agent, "tailrace_agent_open_files")) < 48);
  },
  42: async (p, t) => {
    const log = newLog();
    await p.agent(options(p));
    for (let round = 0; round < 100; round++) {
      p.write(log, "a.log", 10);
      await pause(10);
      rotate(p, 9);
    }
    await pause(1_500);
    const found = await p.lines();
    assert.equal(new Set(found).size, found.length, "no line twice");
    t.diagnostic(`${log.count - found.length} of ${log.count} lines were gone before they could be seen`);
  },
  43: async (p) => {
    const logs = Array.from({ length: 5 }, (_, at) => new SequenceLog(`w${at}`, "plain"));
    await p.agent();
    for (const [at, log] of logs.entries()) {
      p.write(log, "new.tmp", 100);
      renameSync(p.file("new.tmp"), p.file("a.log"));
      await arrived(p, 100 * (at + 1));
    }
    await p.proves(logs);
  },
  44: async (p) => {
    const log = newLog();
    p.write(log, "a.log", 100);
    linkSync(p.file("a.log"), p.file("b.log"));
    await p.agent();
    await arrived(p, 100);
    p.write(log, "b.log", 100);
    await p.proves(log);
    assert.equal((await p.lines()).length, 200);
  },
  45: async (p) => {
    const log = newLog();
    mkdirSync(p.file("days"));
    await p.agent({ paths: [p.file("current.log")], input: { symlinks: true, scan_frequency: "50ms" } });
    for (let day = 0; day < 10; day++) {
      p.write(log, `days/${day}.txt`, 20);
      symlinkSync(p.file(`days/${day}.txt`), p.file("next"));
      renameSync(p.file("next"), p.file("current.log"));
      await arrived(p, log.count);
    }
    await p.proves(log);
  },
  46: async (p) => {
    const log = newLog();
    mkdirSync(p.file("x"));
    symlinkSync(p.file("x"), p.file("x/loop"));
    p.write(log, "x/a.log", 50);
    await p.agent({ paths: [join(p.logs, "**", "*.log")], input: { symlinks: true } });
    await p.proves(log);
    assert.equal((await p.lines()).length, 50);
    assert.match(p.said(), /symbolic link to a folder above/);
  },
  47: async (p) => {
    const log = newLog();
    p.write(log, "target.txt", 50);
    symlinkSync(p.file("target.txt"), p.file("a.log"));
    const agent = await p.agent();
    await until(async () => (await metric(agent, "tailrace_agent_scans_total")) > 1);
    assert.deepEqual(await p.lines(), []);
    assert.equal(p.said().match(/symbolic link; set symlinks: true/g)?.length, 1);
  },
  49: async (p, t) => {
    const disk = p.disk(t, 8);
    if (disk === "") return;
    const log = newLog();
    mkdirSync(p.file("m"));
    execFileSync("mount", ["--bind", disk, p.file("m")]);
    p.write(log, "m/a.log", 100);
    const agent = await p.agent({ paths: [p.file("m/*.log")], input: { scan_frequency: "100ms" } });
    await arrived(p, 100);
    execFileSync("umount", ["-l", p.file("m")]);
    const scans = await metric(agent, "tailrace_agent_scans_total");
    await until(async () => (await metric(agent, "tailrace_agent_scans_total")) > scans + 2);
    execFileSync("mount", ["--bind", disk, p.file("m")]);
    p.mounted(p.file("m"));
    assert.ok(statSync(p.file("m/a.log")).size > 0);
    p.write(log, "m/a.log", 100);
    await p.proves(log);
    assert.equal((await p.lines()).length, 200);
  },
};
