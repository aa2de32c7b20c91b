import assert from "node:assert/strict";
import fs, { writeFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { withFolder } from "#test/support/engine/shard.ts";
import { beginSync } from "./early-sync.ts";

/** Replaces the system's sync; each call of the result ends the oldest one. */
function heldSyncs(t: TestContext): (() => void)[] {
  const ends: (() => void)[] = [];
  const mock = t.mock.method(fs, "fsync", (_fd: number, done: (error: Error | null) => void) => {
    ends.push(() => done(new Error("EIO")));
  });
  syncBuiltinESMExports();
  t.after(() => {
    mock.mock.restore();
    syncBuiltinESMExports();
  });
  return ends;
}

test("one file at a time is made durable, and a failure is left to the caller's sync", async (t) => {
  const ends = heldSyncs(t);
  const closed = Promise.withResolvers<void>();
  const { close } = fs;
  t.mock.method(fs, "close", (fd: number, done: () => void) =>
    close(fd, () => {
      done();
      closed.resolve();
    }),
  );
  syncBuiltinESMExports();
  await withFolder(async (folder) => {
    const path = join(folder, "a");
    writeFileSync(path, "text");
    beginSync(join(folder, "missing"));
    beginSync(path);
    beginSync(path);
    assert.equal(ends.length, 1);
    ends[0]!();
    await closed.promise;
    beginSync(path);
    assert.equal(ends.length, 2);
    ends[1]!();
  });
});
