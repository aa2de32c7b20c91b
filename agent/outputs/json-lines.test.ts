import assert from "node:assert/strict";
import fs, { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { FileSink } from "./json-lines.ts";

const LINE = "0123456789\n";

function folderOf(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "tailrace-lines-"));
  t.after(() => rmSync(folder, { recursive: true }));
  return folder;
}

function sinkIn(t: TestContext, folder: string): FileSink {
  const sink = new FileSink({ folder, name: "out", rotateBytes: 20, files: 3 });
  t.after(() => sink.close());
  return sink;
}

/** Replaces a function of node:fs until the returned function is called. */
function replace(
  t: TestContext,
  name: "renameSync" | "writeSync",
  by: (...args: never[]) => unknown,
): () => void {
  const mocked = t.mock.method(fs, name, by as never);
  syncBuiltinESMExports();
  return () => {
    mocked.mock.restore();
    syncBuiltinESMExports();
  };
}

test("files are rotated by size, and the oldest is deleted", (t) => {
  const folder = folderOf(t);
  const sink = sinkIn(t, folder);
  for (let lines = 0; lines < 9; lines++) sink.write(Buffer.from(LINE));
  assert.deepEqual(readdirSync(folder).sort(), ["out", "out.1", "out.2"]);
  assert.equal(readFileSync(join(folder, "out.1"), "utf8"), LINE.repeat(2));
});

test("where a file can't be rotated nothing is written twice", (t) => {
  const folder = folderOf(t);
  const sink = sinkIn(t, folder);
  for (let lines = 0; lines < 2; lines++) sink.write(Buffer.from(LINE));
  const end = replace(t, "renameSync", () => {
    throw new Error("EACCES: permission denied");
  });
  for (let tries = 0; tries < 3; tries++) assert.throws(() => sink.write(Buffer.from(LINE)), /EACCES/);
  end();
  assert.equal(readFileSync(join(folder, "out"), "utf8"), LINE.repeat(2));
  sink.write(Buffer.from(LINE));
  assert.equal(readFileSync(join(folder, "out"), "utf8"), LINE);
});

test("a part of a line that a full disk took is removed before the line is written again", (t) => {
  const folder = folderOf(t);
  const sink = sinkIn(t, folder);
  const { writeSync } = fs;
  let calls = 0;
  const end = replace(t, "writeSync", (fd: number, bytes: Buffer) => {
    if (calls++ === 0) return writeSync(fd, bytes, 0, 4);
    throw new Error("ENOSPC: no space left on device");
  });
  assert.throws(() => sink.write(Buffer.from(LINE)), /ENOSPC/);
  end();
  sink.write(Buffer.from(LINE));
  assert.equal(readFileSync(join(folder, "out"), "utf8"), LINE);
});

test("after a part of a line that a killed agent left the next line begins anew", (t) => {
  const folder = folderOf(t);
  writeFileSync(join(folder, "out"), "012");
  sinkIn(t, folder).write(Buffer.from(LINE));
  assert.equal(readFileSync(join(folder, "out"), "utf8"), `012\n${LINE}`);
});

test("a full disk doesn't join a part of a line that a killed agent left with the next line", (t) => {
  const folder = folderOf(t);
  writeFileSync(join(folder, "out"), "012");
  const sink = sinkIn(t, folder);
  const end = replace(t, "writeSync", () => {
    throw new Error("ENOSPC: no space left on device");
  });
  const descriptors = readdirSync("/proc/self/fd").length;
  for (let tries = 0; tries < 2; tries++) assert.throws(() => sink.write(Buffer.from(LINE)), /ENOSPC/);
  assert.equal(readdirSync("/proc/self/fd").length, descriptors);
  end();
  sink.write(Buffer.from(LINE));
  assert.equal(readFileSync(join(folder, "out"), "utf8"), `012\n${LINE}`);
});
