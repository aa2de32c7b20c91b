import assert from "node:assert/strict";
import { test } from "node:test";
import type { FileState } from "#agent/contract/input.ts";
import { fileList } from "./status.ts";

const QUIET: FileState = {
  path: "/quiet",
  place: "closed",
  sizeBytes: 10,
  sentBytes: 10,
  committedBytes: 10,
  unfinishedBytes: 0,
  lastError: "",
};

test("files with errors come first, then lagging, uncommitted and open ones", () => {
  const files: FileState[] = [
    QUIET,
    { ...QUIET, path: "/open", place: "open" },
    { ...QUIET, path: "/logged", committedBytes: 4 },
    { ...QUIET, path: "/unfinished", sizeBytes: 900, unfinishedBytes: 890 },
    { ...QUIET, path: "/behind", sentBytes: 9, committedBytes: 9 },
    { ...QUIET, path: "/further behind", sentBytes: 2, committedBytes: 2 },
    { ...QUIET, path: "/secret", sizeBytes: 0, sentBytes: 0, committedBytes: 0, lastError: "EACCES" },
  ];
  assert.deepEqual(
    fileList([{ id: "i", files }]).files.map(({ path }) => path),
    ["/secret", "/further behind", "/behind", "/logged", "/open", "/quiet", "/unfinished"],
  );
});

test("the list is bounded: further files are counted, long paths keep their end", () => {
  const files = Array.from({ length: 70 }, (_, number) => ({
    ...QUIET,
    path: `/${"x".repeat(1_000)}/${String(number).padStart(3, "0")}`,
  }));
  const told = fileList([
    { id: "i", files: files.slice(0, 60) },
    { id: "j", files: files.slice(60) },
  ]);
  assert.deepEqual([told.files.length, told.filesMore], [50, 20]);
  assert.match(told.files[7]!.path!, /^…x{395}\/007$/);
});
