import assert from "node:assert/strict";
import { tmpdir } from "node:os";
import { test } from "node:test";
import { diskFigures, mountOf } from "./disk-usage.ts";

test("a folder's disk has room, and is somewhere in the tree", () => {
  const disk = diskFigures(tmpdir());
  assert.ok(disk.total_in_bytes >= disk.free_in_bytes && disk.free_in_bytes >= disk.available_in_bytes);
  const { mount = "/", type = "?" } = mountOf(tmpdir());
  assert.ok(tmpdir().startsWith(mount) && type !== "");
  if (process.platform === "linux") assert.equal(mountOf("/proc/self").type, "proc");
  assert.deepEqual(mountOf("/there/is/none"), {});
});
