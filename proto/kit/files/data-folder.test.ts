import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { openDataFolder } from "./data-folder.ts";

test("a data folder is made with its parents and left empty", (t) => {
  const root = mkdtempSync(join(tmpdir(), "data-"));
  t.after(() => rmSync(root, { recursive: true }));
  const folder = join(root, "a/b");
  openDataFolder(folder, 1024);
  assert.deepEqual(readdirSync(folder), []);
  assert.equal(statSync(folder).mode & 0o027, 0, "others may not look in");
  openDataFolder(folder, 1024);
});

test("a path that can't hold data is refused with the reason and the remedy", (t) => {
  const root = mkdtempSync(join(tmpdir(), "data-"));
  t.after(() => rmSync(root, { recursive: true }));
  writeFileSync(join(root, "file"), "");
  const refusals: [path: string, said: RegExp][] = [
    [join(root, "file"), /a part of that path is a file/],
    [join(root, "file/below"), /a part of that path is a file/],
    ["/proc/tailrace", /ENOENT/],
  ];
  for (const [path, said] of refusals) {
    assert.throws(
      () => openDataFolder(path, 1024),
      (error: Error) => {
        assert.match(error.message, said);
        assert.match(error.message, new RegExp(`^cannot use ${path}: .*choose another path.data$`));
        return true;
      },
    );
  }
});
