import assert from "node:assert/strict";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { silentLogger } from "#proto/kit/log.ts";
import { parseSnapshotCommand } from "./arguments.ts";
import { runSnapshotCommand } from "./snapshot.ts";

test("a restore into a hub of several is refused before anything is written, with the remedy", async (t) => {
  const base = mkdtempSync(join(tmpdir(), "tailrace-restore-"));
  t.after(() => rmSync(base, { recursive: true, force: true }));
  const folder = join(base, "data");
  const overrides = [`path.data=${folder}`, "discovery.seed_hosts=[hub-1, hub-2, hub-3]"];
  const args = ["restore", join(base, "copies"), ...overrides.flatMap((each) => ["-E", each])];
  const done = runSnapshotCommand(parseSnapshotCommand(args), { log: silentLogger(), version: "1.0.0" });
  await assert.rejects(done, { code: "settings_invalid", message: /as a single hub.*import cluster/ });
  assert.ok(!existsSync(folder));
});
