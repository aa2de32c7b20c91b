import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { webAssembly } from "./memory.ts";
import { isMadeOf, withSources } from "./source-hash.ts";

const EMPTY_MODULE = Buffer.from([0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00]);

test("a kernel is identified by the content of its sources, not by their modification time", (t) => {
  const path = mkdtempSync(join(tmpdir(), "tailrace-kernel-"));
  t.after(() => rmSync(path, { recursive: true }));
  const folder = pathToFileURL(`${path}/`);
  const source = join(path, "a.ts");
  writeFileSync(source, "one");
  const module = new webAssembly.Module(withSources(EMPTY_MODULE, folder));
  const nowMs = Date.now() + 1_000;
  assert.equal(isMadeOf(module, nowMs, folder), true);
  assert.equal(isMadeOf(module, 0, folder), true, "the same text, copied later");
  writeFileSync(source, "two");
  assert.equal(isMadeOf(module, 0, folder), false);
  assert.equal(isMadeOf(new webAssembly.Module(EMPTY_MODULE), 0, folder), false, "of an earlier version");
});
