import assert from "node:assert/strict";
import { tmpdir } from "node:os";
import { test } from "node:test";
import { CpuShare, diskUsage, mountOf, processStats } from "./machine.ts";

test("the usage and the mount of a folder's disk are read", () => {
  const disk = diskUsage(tmpdir());
  assert.ok(disk.total_in_bytes >= disk.free_in_bytes && disk.free_in_bytes >= disk.available_in_bytes);
  const { mount = "/", type = "?" } = mountOf(tmpdir());
  assert.ok(tmpdir().startsWith(mount) && type !== "");
  if (process.platform === "linux") assert.equal(mountOf("/proc/self").type, "proc");
  assert.deepEqual(mountOf("/there/is/none"), {});
});

test("the share of the processors is that of the time since it was asked for before", () => {
  const share = new CpuShare();
  assert.equal(share.percent(10_000, 4_000, 2), 20);
  assert.equal(share.percent(11_000, 5_500, 2), 75);
  assert.equal(share.percent(11_100, 5_500, 2), 75, "too short a time to measure");
  assert.equal(share.percent(12_000, 5_500, 2), 0);
  assert.equal(share.percent(13_000, 9_000, 2), 100, "times that the system counts in steps");
});

test("the statistics of the process have its share of the processors and its open files", () => {
  const { cpu, open_file_descriptors: open, max_file_descriptors: most } = processStats();
  const { percent } = cpu as { percent: number };
  assert.ok(percent >= 0 && percent <= 100);
  if (process.platform === "linux") assert.ok(Number(open) > 0 && Number(open) <= Number(most));
});
