import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { Metrics } from "#proto/kit/metrics.ts";
import { MIB } from "#proto/kit/units.ts";
import { MemoryWatch, readGroupMemory } from "./memory-watch.ts";

const groups: readonly [name: string, files: Record<string, string>, expected: unknown][] = [
  [
    "the unified hierarchy",
    {
      "/proc/self/cgroup": "0::/app.slice/hub\n",
      "/sys/fs/cgroup/app.slice/hub/memory.max": "1000\n",
      "/sys/fs/cgroup/app.slice/hub/memory.current": "900\n",
      "/sys/fs/cgroup/app.slice/hub/memory.stat": "anon 500\ninactive_file 300\n",
    },
    { limit: 1000, used: 600 },
  ],
  [
    "a container, which sees its group as the root",
    {
      "/proc/self/cgroup": "0::/docker/abc\n",
      "/sys/fs/cgroup/memory.max": "1000\n",
      "/sys/fs/cgroup/memory.current": "900\n",
    },
    { limit: 1000, used: 900 },
  ],
  [
    "separate hierarchies",
    {
      "/proc/self/cgroup": "5:cpu,cpuacct:/x\n4:memory:/x\n0::/\n",
      "/sys/fs/cgroup/memory/x/memory.limit_in_bytes": "1000\n",
      "/sys/fs/cgroup/memory/x/memory.usage_in_bytes": "700\n",
      "/sys/fs/cgroup/memory/x/memory.stat": "inactive_file 1\ntotal_inactive_file 200\n",
    },
    { limit: 1000, used: 500 },
  ],
  [
    "no limit",
    {
      "/proc/self/cgroup": "0::/\n",
      "/sys/fs/cgroup/memory.max": "max\n",
      "/sys/fs/cgroup/memory.current": "9\n",
    },
    undefined,
  ],
  ["no control groups", {}, undefined],
];

for (const [name, files, expected] of groups) {
  test(`the memory of a control group: ${name}`, () => {
    assert.deepEqual(
      readGroupMemory((path) => files[path]),
      expected,
    );
  });
}

test("a shortage of memory is logged once, and again after it had ended", async () => {
  let used = 80;
  const said: string[] = [];
  const log = { error: (_fields: unknown, message: string) => said.push(message) };
  const watch = new MemoryWatch({
    log: log as never,
    metrics: new Metrics(),
    part: "hub",
    read: (path) =>
      ({
        "/proc/self/cgroup": "0::/\n",
        "/sys/fs/cgroup/memory.max": String(100 * MIB),
        "/sys/fs/cgroup/memory.current": String(used * MIB),
      })[path],
  });
  await watch.start();
  for (const next of [89, 91, 95, 85, 92, 79, 90]) {
    used = next;
    watch.check();
  }
  await watch.stop();
  assert.equal(said.length, 2);
  assert.match(said[0] ?? "", /^91 MiB of the 100 MiB of memory .* raise the memory value$/);
});

const limited = limitedGroup();

test("in a real control group the shortage is logged before the kernel kills the process", {
  skip: typeof limited === "string" ? limited : false,
}, async (t) => {
  const { folder, join: enter } = limited as Group;
  t.after(() => rmdirSync(folder));
  const scripts = mkdtempSync(join(tmpdir(), "tailrace-memory-"));
  t.after(() => rmSync(scripts, { recursive: true }));
  const script = join(scripts, "grow.mts");
  writeFileSync(
    script,
    `import { MemoryWatch } from ${JSON.stringify(join(import.meta.dirname, "memory-watch.ts"))};
     import { Metrics } from ${JSON.stringify(join(import.meta.dirname, "../metrics.ts"))};
     const log = { error: (_, message) => console.log(message) };
     const watch = new MemoryWatch({ log, metrics: new Metrics(), part: "hub" });
     await watch.start();
     const kept = [];
     setInterval(() => { kept.push(Buffer.alloc(${2 * MIB}, 1)); watch.check(); }, 1);`,
  );
  const child = spawn("sh", ["-c", `${enter}; exec "$@"`, "sh", process.execPath, script], {
    cwd: join(import.meta.dirname, "../../.."),
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(child, "exit");
  const said = await text(child.stdout);
  const [, signal] = (await ended) as [unknown, string | null];
  assert.match(said, /MiB of the 192 MiB of memory that this container or service may use are taken/);
  assert.equal(signal, "SIGKILL");
});

interface Group {
  readonly folder: string;
  /** Shell command that puts the shell into the group. */
  readonly join: string;
}

/** Makes a control group of 192 MiB, or returns why none can be made here. */
function limitedGroup(): Group | string {
  const unified = existsSync("/sys/fs/cgroup/cgroup.controllers");
  const root = unified ? "/sys/fs/cgroup" : "/sys/fs/cgroup/memory";
  const folder = join(root, `tailrace-test-${process.pid}`);
  try {
    mkdirSync(folder);
    writeFileSync(join(folder, unified ? "memory.max" : "memory.limit_in_bytes"), String(192 * MIB));
    const entering = `echo $$ > ${folder}/cgroup.procs`;
    const tried = spawnSync("sh", ["-c", entering]);
    if (tried.status === 0) return { folder, join: entering };
    rmdirSync(folder);
    return `no process may be put into a control group here: ${String(tried.stderr).trim()}`;
  } catch (error) {
    if (existsSync(folder)) rmdirSync(folder);
    return `no control group with a memory limit can be made here: ${(error as Error).message}`;
  }
}
