import assert from "node:assert/strict";
import { test } from "node:test";
import type { FileState } from "#agent/contract/input.ts";
import { systemClock } from "#proto/kit/clock.ts";
import { Metrics } from "#proto/kit/metrics.ts";
import { fileList, Status, type StatusOptions } from "./status.ts";

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

test("the gauges of a scrape take the state of an input once", async () => {
  let calls = 0;
  const state = (): object => {
    calls++;
    return { files: 3, linesRead: calls, bytesRead: 5, lagBytes: 7, openDeletedBytes: 0 };
  };
  const metrics = new Metrics();
  const inputs = [{ id: "logs", type: "log", input: { state } }];
  new Status({ inputs, metrics, clock: systemClock } as unknown as StatusOptions);
  assert.match(await metrics.text(), /^tailrace_agent_lines_read\{input="logs"\} 1$/m);
  assert.equal(calls, 1);
  assert.match(await metrics.text(), /^tailrace_agent_lines_read\{input="logs"\} 2$/m);
  assert.equal(calls, 2);
});
