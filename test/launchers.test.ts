import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { type TestContext, test } from "node:test";
import { Workspace } from "#test/harness/workspace.ts";

const ROOT = resolve(import.meta.dirname, "..");
/** Prints what the launcher made of its surroundings. */
const MAIN = `console.log(JSON.stringify({
  node: process.versions.node, main: process.argv[1], cache: process.env.NODE_COMPILE_CACHE, args: process.argv.slice(2), ppid: process.ppid,
  members: Object.getOwnPropertyNames(Object.prototype), arenas: process.env.MALLOC_ARENA_MAX,
}));
process.exitCode = 3;`;

/** Seconds since 1970. */
const LONG_AGO = 1_000_000_000;
const LATER = LONG_AGO + 60;

interface Seen {
  readonly node: string;
  readonly main: string;
  readonly cache: string;
  readonly args: readonly string[];
  readonly ppid: number;
  /** What every object has. */
  readonly members: readonly string[];
  /** Arenas of the C library's allocator. */
  readonly arenas: string;
}

for (const launcher of ["hub/bin/tailrace-hub", "agent/bin/tailrace-agent"]) {
  const name = basename(launcher);

  test(`${name} finds the bundled Node through a link and replaces itself by it`, (t) => {
    const { link, home } = install(t, launcher, { bundled: true });
    const { status, stdout, stderr } = start(link, home);
    assert.equal(status, 3, stderr);
    const seen = JSON.parse(stdout) as Seen;
    assert.equal(seen.node, process.versions.node);
    assert.deepEqual(seen.args, ["run", "two words", "*.log"]);
    assert.equal(seen.ppid, process.pid, "no shell stays between");
    assert.ok(!seen.members.includes("__proto__"), "a name in a document reaches no prototype");
    assert.equal(seen.arenas, "1", "memory that a thread frees serves all of them");
    assert.ok(seen.cache.startsWith(home), `compile cache in ${seen.cache}`);
  });

  test(`${name} uses a new enough Node of the system`, (t) => {
    const { link, home, folder } = install(t, launcher, { bundled: false });
    symlinkSync(process.execPath, join(folder, "node"));
    assert.equal(start(link, home, folder).status, 3);
  });

  test(`${name} reports the missing version where there is only an older Node`, (t) => {
    const { link, home, folder } = install(t, launcher, { bundled: false });
    writeFileSync(join(folder, "node"), "#!/bin/sh\necho 20\n", { mode: 0o755 });
    const { status, stderr } = start(link, home, folder);
    assert.equal(status, 1);
    assert.match(stderr, /Node (≥ )?24/);
  });

  test(`${name} uses the bundle while no source is newer`, (t) => {
    const { link, home, part } = install(t, launcher, { bundled: true });
    const bundle = join(part, "dist/main.mjs");
    mkdirSync(dirname(bundle));
    writeFileSync(bundle, MAIN);
    const started = (): string => relative(part, (JSON.parse(start(link, home).stdout) as Seen).main);
    const source = join(part, "main.ts");
    utimesSync(source, LONG_AGO, LONG_AGO);
    utimesSync(join(part, "../package-lock.json"), LONG_AGO, LONG_AGO);
    assert.equal(started(), "dist/main.mjs");
    utimesSync(bundle, LONG_AGO, LONG_AGO);
    utimesSync(source, LATER, LATER);
    assert.equal(started(), "main.ts");
  });
}

/** Lays a launcher out as in a checkout, with a link to it from elsewhere. */
function install(t: TestContext, launcher: string, { bundled }: { readonly bundled: boolean }) {
  const workspace = new Workspace(t);
  const copy = workspace.path("checkout", launcher);
  copyFileSync(join(ROOT, launcher), copy);
  writeFileSync(join(dirname(copy), "..", "main.ts"), MAIN);
  writeFileSync(workspace.path("checkout", "package.json"), '{"type":"module"}');
  writeFileSync(workspace.path("checkout", "package-lock.json"), "{}");
  if (bundled) {
    const platform = `node-linux-${process.arch}`;
    mkdirSync(workspace.path("checkout", "node_modules", platform), { recursive: true });
    const bin = join(ROOT, "node_modules", platform, "bin");
    assert.ok(existsSync(bin), `${platform} is installed`);
    symlinkSync(bin, workspace.path("checkout", "node_modules", platform, "bin"));
  }
  const link = workspace.path("links", "tailrace");
  symlinkSync(copy, link);
  const home = workspace.path("home", "of", "user");
  mkdirSync(home);
  const folder = join(workspace.folder, "programs");
  mkdirSync(folder);
  return { link, home, folder, part: dirname(dirname(copy)) };
}

function start(link: string, home: string, programs = "/nowhere") {
  const { NODE_COMPILE_CACHE: _, XDG_CACHE_HOME: __, ...env } = process.env;
  return spawnSync(link, ["run", "two words", "*.log"], {
    encoding: "utf8",
    env: { ...env, HOME: home, PATH: `${programs}:/usr/bin:/bin` },
  });
}
