import assert from "node:assert/strict";
import { globSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Workspace } from "#test/harness/workspace.ts";
import { ROOT, run, without } from "./tools.ts";

const skip = without("shellcheck");
const scripts = globSync(["{deploy,agent,hub,test}/**/*", ".ci/*"], { cwd: ROOT, withFileTypes: true })
  .filter((entry) => entry.isFile() && !entry.parentPath.includes("artefacts"))
  .map((entry) => join(entry.parentPath, entry.name))
  .filter((path) => statSync(path).size < 65_536 && /^#!.*\b(ba)?sh\b/.test(readFileSync(path, "utf8")));

test("every shell script passes shellcheck", { skip }, () => {
  assert.ok(scripts.length >= 10, `found ${scripts.length}`);
  const { status, said } = run("shellcheck", scripts);
  assert.equal(status, 0, said);
});

test("shellcheck finds a planted error", { skip }, (t) => {
  const path = new Workspace(t).path("planted.sh");
  writeFileSync(path, '#!/bin/sh\nrm -rf $1/*\nif [ "$2" = x ]; then\n  echo $2\nfi\n');
  const { status, said } = run("shellcheck", [path]);
  assert.equal(status, 1);
  assert.match(said, /SC2086/);
});

test("every script for people has --help and refuses unknown arguments", () => {
  for (const name of ["systemd/install.sh", "systemd/uninstall.sh", "multi-container/registry-login.sh"]) {
    const script = join(ROOT, "deploy", name);
    const help = run("bash", [script, "--help"]);
    assert.deepEqual([help.status, help.stdout.startsWith("Usage: deploy/")], [0, true], name);
    assert.equal(run("bash", [script, "--wrong"]).status, 2, name);
  }
});
