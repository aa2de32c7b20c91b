/** The tours of docs/tours/: their commands run one after the other in a network of their own, and print what the pages show. */

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { Workspace } from "#test/harness/workspace.ts";

const ROOT = resolve(import.meta.dirname, "../..");
const FOLDER = join(ROOT, "docs/tours");

/** A fenced block; above one that isn't run stands a comment that says why. */
const BLOCK = /^( *)(<!-- not run by the tests.*: \S.* -->\n *)?```(sh|text)\n([\s\S]*?)^ *```/gm;

/** The ports of the pages are free in a network of its own, which needs its loopback raised. */
const NETWORK = ["--net", "bash", "-c", 'ip link set lo up && exec bash -euo pipefail -c "$0"'];

/** What a page leaves running after a command that failed. */
const END = "trap 'kill $(jobs -p) 2>/dev/null || true; wait' EXIT\n";

const missing = spawnSync("unshare", [...NETWORK, "true"]).status !== 0 && "networks can't be made here";
const needs: Readonly<Record<string, string>> = { "kubernetes.md": "kubectl" };

for (const file of readdirSync(FOLDER)) {
  const program = needs[file];
  const lacks = program !== undefined && spawnSync("which", [program]).status !== 0;
  test(`${file}: each command runs, and prints what the page shows`, {
    skip: missing || (lacks && `${program} is not installed`),
  }, async (t) => {
    const workspace = new Workspace(t);
    const cwd = workspace.path("checkout");
    mkdirSync(cwd, { recursive: true });
    for (const name of ["agent", "hub", "deploy", "docs"]) symlinkSync(join(ROOT, name), join(cwd, name));
    const { commands, shown } = blocksOf(readFileSync(join(FOLDER, file), "utf8"));
    assert.ok(commands.length > 0);
    const path = [join(ROOT, "agent/bin"), join(ROOT, "hub/bin"), process.env["PATH"] ?? ""].join(":");
    const env = { ...process.env, PATH: path, HOME: workspace.folder };
    const child = spawn("unshare", [...NETWORK, END + commands.join("")], {
      cwd,
      env,
      stdio: ["ignore", "pipe", "inherit"],
    });
    const [printed, [status]] = await Promise.all([text(child.stdout), once(child, "exit")]);
    assert.equal(status, 0, printed);
    for (const line of shown) assert.match(printed, line);
  });
}

/** Returns the commands of a page, and the lines that it shows as their output, in which "…" stands for anything. */
function blocksOf(page: string): { commands: string[]; shown: RegExp[] } {
  const commands: string[] = [];
  const shown: RegExp[] = [];
  for (const [, indent = "", excuse, kind, block = ""] of page.matchAll(BLOCK)) {
    const lines = block.replaceAll(new RegExp(`^${indent}`, "gm"), "");
    if (kind === "sh" && excuse === undefined) commands.push(lines);
    if (kind === "text")
      for (const line of lines.trimEnd().split("\n"))
        shown.push(
          new RegExp(
            line
              .split("…")
              .map((part) => RegExp.escape(part))
              .join(".*"),
          ),
        );
  }
  return { commands, shown };
}
