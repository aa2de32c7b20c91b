/**
 * Runs `biome check` on the files that have changed since it last found them right. Biome judges each file alone, so
 * a file with the same path and content, under the same configuration and version, has the same outcome.
 * `.cache/biome.json` lists what was found right; without it all files are checked.
 */

import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

const ROOT = resolve(import.meta.dirname, "..");
const SEEN = join(ROOT, ".cache/biome.json");

/** What decides about every file. */
const CONDITIONS = ["biome.json", ".gitignore", "node_modules/@biomejs/biome/package.json"];

const seen = new Set(existsSync(SEEN) ? (JSON.parse(readFileSync(SEEN, "utf8")) as string[]) : []);
const conditions = hashOf(...CONDITIONS.map(contentOf));
const files = listFiles().map((path) => ({ path, hash: hashOf(conditions, path, contentOf(path)) }));
const changed = files.filter(({ hash }) => !seen.has(hash)).map(({ path }) => path);
if (changed.length > 0) check(changed);

function check(paths: readonly string[]): void {
  const { status, error } = spawnSync(
    join(ROOT, "node_modules/.bin/biome"),
    ["check", "--no-errors-on-unmatched", "--files-ignore-unknown=true", ...paths],
    { cwd: ROOT, stdio: "inherit" },
  );
  if (error !== undefined) throw error;
  if (status !== 0) {
    process.exitCode = 1;
    return;
  }
  mkdirSync(dirname(SEEN), { recursive: true });
  writeFileSync(SEEN, JSON.stringify(files.map(({ hash }) => hash)));
}

/** Returns the paths, relative to the root, of the files that git tracks or would track. */
function listFiles(): string[] {
  const { stdout, status, stderr } = spawnSync(
    "git",
    ["ls-files", "-z", "--cached", "--others", "--exclude-standard"],
    { cwd: ROOT, encoding: "utf8", maxBuffer: 64 * 1024 * 1024 },
  );
  if (status !== 0) throw new Error(`git ls-files failed: ${stderr}`);
  // A link to a folder and a file that was removed are listed too.
  return [...new Set(stdout.split("\0"))].filter(
    (path) => path !== "" && statSync(join(ROOT, path), { throwIfNoEntry: false })?.isFile() === true,
  );
}

function contentOf(path: string): Buffer {
  return readFileSync(join(ROOT, path));
}

function hashOf(...parts: (string | Buffer)[]): string {
  const hash = createHash("sha1");
  for (const part of parts) hash.update(part).update("\0");
  return hash.digest("base64url");
}
