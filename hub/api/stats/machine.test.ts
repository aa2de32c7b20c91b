import assert from "node:assert/strict";
import { tmpdir } from "node:os";
import { test } from "node:test";
import { diskUsage, mountOf } from "./machine.ts";

test("the usage and the mount of a folder's disk are read", () => {
  const disk = diskUsage(tmpdir());
  assert.ok(disk.total_in_bytes >= disk.free_in_bytes && disk.free_in_bytes >= disk.available_in_bytes);
  const { mount = "/", type = "?" } = mountOf(tmpdir());
  assert.ok(tmpdir().startsWith(mount) && type !== "");
  if (process.platform === "linux") assert.equal(mountOf("/proc/self").type, "proc");
  assert.deepEqual(mountOf("/there/is/none"), {});
});
