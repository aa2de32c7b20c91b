import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { test } from "node:test";

const ROOT = resolve(import.meta.dirname, "..");

test("proto/gen is what log.proto and cluster.proto generate; otherwise run npm run gen", (t) => {
  const folder = mkdtempSync(join(tmpdir(), "tailrace-gen-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  execFileSync("sh", [join(ROOT, "proto/generate.sh"), folder], { stdio: "pipe" });
  for (const name of ["log.js", "log.d.ts", "cluster.js", "cluster.d.ts"]) {
    const fresh = readFileSync(join(folder, name), "utf8");
    const kept = readFileSync(join(ROOT, "proto/gen", name), "utf8");
    assert.ok(fresh === kept, `proto/gen/${name} is out of date`);
  }
});
