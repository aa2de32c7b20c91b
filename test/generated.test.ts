import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { test } from "node:test";

const ROOT = resolve(import.meta.dirname, "..");
/** Hash of the files with which the comparison last succeeded: generating takes seconds. */
const SEEN = join(ROOT, ".cache/generated");
/** What is generated from, by and to. */
const COMPARED = [
  "proto/*.proto",
  "proto/generate.sh",
  "proto/gen/*",
  "node_modules/{protobufjs,protobufjs-cli}/package.json",
  "test/generated.test.ts",
];

test("proto/gen is what log.proto and cluster.proto generate; otherwise run npm run gen", (t) => {
  const hash = hashOf(COMPARED.flatMap((pattern) => globSync(pattern, { cwd: ROOT }).sort()));
  if (existsSync(SEEN) && readFileSync(SEEN, "utf8") === hash) return;
  const folder = mkdtempSync(join(tmpdir(), "tailrace-gen-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  execFileSync("sh", [join(ROOT, "proto/generate.sh"), folder], { stdio: "pipe" });
  for (const name of ["log.js", "log.d.ts", "cluster.js", "cluster.d.ts"]) {
    const fresh = readFileSync(join(folder, name), "utf8");
    const kept = readFileSync(join(ROOT, "proto/gen", name), "utf8");
    assert.ok(fresh === kept, `proto/gen/${name} is out of date`);
  }
  mkdirSync(dirname(SEEN), { recursive: true });
  writeFileSync(SEEN, hash);
});

function hashOf(paths: readonly string[]): string {
  const hash = createHash("sha256");
  for (const path of paths)
    hash
      .update(`${path}\0`)
      .update(readFileSync(join(ROOT, path)))
      .update("\0");
  return hash.digest("hex");
}
