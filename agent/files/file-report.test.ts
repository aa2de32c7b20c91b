import assert from "node:assert/strict";
import { appendFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { bench } from "#test/support/agent/file-set-bench.ts";
import { fileStates } from "./file-report.ts";

test("the report has each file's progress, and whether a path leads to it", async (t) => {
  const b = await bench(t, {}, { confirmsCommits: true }, "*.log");
  for (const name of ["a.log", "b.log", "c.log"]) writeFileSync(b.path(name), "1\n2\n");
  await b.scan();
  b.context.output.acking = false;
  appendFileSync(b.path("a.log"), "3\n");
  renameSync(b.path("b.log"), b.path("b.old"));
  rmSync(b.path("c.log"));
  await b.scan();
  const told = [...b.files.files()]
    .map(({ path, ...file }) => ({ name: path.slice(-5), ...file }))
    .sort((x, y) => (x.name < y.name ? -1 : 1));
  const read = { sizeBytes: 4, sentBytes: 4, committedBytes: 0, unfinishedBytes: 0, lastError: "" };
  assert.deepEqual(told, [
    { name: "a.log", place: "open", ...read, sizeBytes: 6 },
    { name: "b.log", place: "moved", ...read },
    { name: "c.log", place: "deleted", ...read },
  ]);
});

test("a file that can't be read is reported with the reason, known or not", async (t) => {
  const b = await bench(t, { closeEof: true });
  writeFileSync(b.path("a.log"), "1\n");
  await b.scan();
  await b.scan();
  const failures = new Map([
    [b.path("a.log"), "EIO"],
    [b.path("secret.log"), "EACCES"],
  ]);
  const told = [...fileStates(b.context, [], failures)].map(({ path, place, sizeBytes, lastError }) => [
    path,
    place,
    sizeBytes,
    lastError,
  ]);
  assert.deepEqual(told, [
    [b.path("a.log"), "closed", 2, "EIO"],
    [b.path("secret.log"), "closed", 0, "EACCES"],
  ]);
});

test("a line without an end isn't a backlog, whether its file is open or closed", async (t) => {
  const b = await bench(t, {}, { confirmsCommits: true });
  writeFileSync(b.path("a.log"), "one\nab");
  await b.scan();
  assert.deepEqual(
    [...b.files.files()].map(({ unfinishedBytes }) => unfinishedBytes),
    [2],
  );
  assert.equal(b.files.state().lagBytes, 0);
  appendFileSync(b.path("a.log"), "c\n");
  await b.scan();
  assert.deepEqual(
    [...b.files.files()].map(({ unfinishedBytes }) => unfinishedBytes),
    [0],
  );
  const closing = await bench(t, { closeEof: true });
  writeFileSync(closing.path("a.log"), "one\nab");
  await closing.scan();
  await closing.scan();
  const [file] = fileStates(closing.context, [], new Map());
  assert.deepEqual([file?.place, file?.unfinishedBytes], ["closed", 2]);
});
