/** Cases of the agent's table about what the machine allows: permissions, archives, a full disk under the hub's log. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { appendFileSync, chmodSync, existsSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { openRaw } from "#test/harness/agent.ts";
import { startNats } from "#test/harness/nats.ts";
import { SequenceLog } from "#test/harness/sequence-log.ts";
import { type Cases, health, type Place, until } from "./agent-case.ts";

/** A user without rights, known on every system as nobody. */
const NOBODY = 65_534;
const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const newLog = (): SequenceLog => new SequenceLog("w", "plain");
const QUICK = { scan_frequency: "100ms" };

/** Returns false, and skips the case, where a process can't give its rights up or nobody may read this checkout. */
function mayBeNobody(p: Place, t: TestContext): boolean {
  chmodSync(p.folder, 0o755);
  const options = { uid: NOBODY, gid: NOBODY };
  const isAllowed =
    process.getuid?.() === 0 &&
    spawnSync(process.execPath, ["-e", `process.chdir("${ROOT}agent")`], options).status === 0;
  if (!isAllowed) t.skip("needs root, and a checkout that everybody may read");
  return isAllowed;
}

/** Makes a folder and all in it unchangeable, even for root; skips the case where the file system has no such thing. */
function seal(folder: string, t: TestContext): boolean {
  const isSealed = spawnSync("chattr", ["-R", "+i", folder]).status === 0;
  if (!isSealed) t.skip("needs root and a file system whose files can be made unchangeable");
  return isSealed;
}

function unseal(folder: string): void {
  spawnSync("chattr", ["-R", "-i", folder]);
}

/** Resolves when so many lines are in the log, repeats left out. */
async function arrived(p: Place, count: number): Promise<void> {
  await until(async () => new Set(await p.lines()).size >= count);
}

export const MACHINE_CASES: Cases = {
  9: async (p, t) => {
    const disk = p.disk(t, 32);
    if (disk === "") return;
    const server = await startNats({ dataDir: join(disk, "nats") });
    t.after(() => server.stop());
    await p.nats.close();
    p.nats = await openRaw(server.url, server.token);
    const settings = { "output.pipeline.ack_timeout": "1s" };
    const agent = await p.agent({ natsUrl: server.url, token: server.token, input: QUICK, settings });
    const log = newLog();
    p.write(log, "a.log", 100);
    await arrived(p, 100);
    const ballast = join(disk, "ballast");
    try {
      for (;;) appendFileSync(ballast, Buffer.alloc(65_536));
    } catch {
      // full
    }
    p.write(log, "a.log", 5_000);
    await until(async () => (await health(agent)) === "degraded");
    rmSync(ballast);
    await server.kill9();
    await server.restart();
    await p.proves(log);
  },

  17: async (p, t) => {
    const registry = join(p.folder, "agent", "data");
    const log = newLog();
    p.write(log, "a.log", 100);
    const agent = await p.agent({ input: QUICK });
    await arrived(p, 100);
    try {
      if (!seal(registry, t)) return;
      p.write(log, "a.log", 100);
      await until(async () => (await health(agent)) === "degraded");
      await arrived(p, 200);
      await agent.kill9();
    } finally {
      unseal(registry);
    }
    p.write(log, "a.log", 100);
    await p.agent({ input: QUICK });
    await p.proves(log);
  },

  74: async (p, t) => {
    const none = 'echo 0 > /proc/sys/user/max_inotify_instances && exec "$0" "$@"';
    const wrapper = ["unshare", "--user", "--map-root-user", "sh", "-c", none];
    if (spawnSync(wrapper[0]!, [...wrapper.slice(1), "true"]).status !== 0) {
      t.skip("a user namespace with a limit of its own isn't allowed here");
      return;
    }
    const log = newLog();
    p.write(log, "a.log", 100);
    await p.agent({ input: QUICK, wrapper });
    await arrived(p, 100);
    p.write(log, "a.log", 100);
    p.write(log, "b.log", 100);
    await p.proves(log, { unordered: true });
    assert.equal(p.said().match(/can't be watched/g)?.length, 1, "told once");
  },

  36: async (p) => {
    const log = newLog();
    const input = { ...QUICK, read_archives: true };
    const paths = [join(p.logs, "*.log*")];
    const agent = await p.agent({ paths, input });
    p.write(log, "a.log", 500);
    await arrived(p, 500);
    renameSync(p.file("a.log"), p.file("a.log.1"));
    p.write(log, "a.log", 100);
    const rotated = log.count;
    await agent.kill9();
    // Written by a program that had not noticed, then compressed while nobody looked.
    p.write(log, "a.log.1", 50);
    writeFileSync(p.file("a.log.1.gz"), spawnSync("gzip", ["-c", p.file("a.log.1")]).stdout);
    rmSync(p.file("a.log.1"));
    writeFileSync(p.file("broken.log.gz"), gzipSync("cut off\n".repeat(1_000)).subarray(0, 40));
    await p.agent({ paths, input });
    await p.proves(log, { unordered: true });
    assert.ok(rotated < log.count);
    await until(() => Promise.resolve(/broken\.log\.gz.*the archive can't be unpacked/.test(p.said())));
    renameSync(p.file("a.log.1.gz"), p.file("a.log.2.gz"));
    p.write(log, "a.log", 1);
    await p.proves(log, { unordered: true });
  },

  76: async (p, t) => {
    if (!mayBeNobody(p, t)) return;
    const log = newLog();
    p.write(log, "a.log", 100);
    chmodSync(p.file("a.log"), 0);
    await p.agent({ input: QUICK, uid: NOBODY });
    await until(() => Promise.resolve(/a\.log.*permission denied/i.test(p.said())));
    chmodSync(p.file("a.log"), 0o644);
    p.write(log, "a.log", 100);
    await p.proves(log);
    assert.equal(p.said().match(/a\.log.*permission denied/gi)?.length, 1, "told once");
  },

  77: async (p, t) => {
    if (!mayBeNobody(p, t)) return;
    const log = newLog();
    p.write(log, "a.log", 100);
    assert.ok(existsSync(p.file("a.log")));
    chmodSync(p.file("a.log"), 0o644);
    await p.agent({ input: QUICK, uid: NOBODY });
    await arrived(p, 100);
    chmodSync(p.file("a.log"), 0);
    p.write(log, "a.log", 100);
    await p.proves(log);
  },
};
