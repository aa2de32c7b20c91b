import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { silentLogger } from "#proto/kit/log.ts";
import { START } from "#proto/position.ts";
import { alignPositions, readCommitted, writeCommitted } from "./position-files.ts";

const log = silentLogger();

function folderOf(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "tailrace-positions-"));
  t.after(() => rmSync(folder, { recursive: true }));
  return folder;
}

/** Writes what each of the hosts has committed: its sequence, and one shard. */
function commit(folder: string, sequences: readonly number[]): void {
  const count = sequences.length;
  for (const [number, sequence] of sequences.entries())
    writeCommitted(
      folder,
      { number, count },
      { position: { incarnation: 1, sequence }, generations: new Map([[`uuid/${number}`, 7]]) },
    );
}

function sequences(folder: string, count: number): number[] {
  return Array.from(
    { length: count },
    (_, number) => readCommitted(folder, { number, count }, log).position.sequence,
  );
}

for (const [before, after] of [
  [[50], [50, 50]],
  [[50, 30], [30]],
  [
    [50, 30],
    [50, 30],
  ],
  [
    [9, 8, 7],
    [7, 7],
  ],
] as const) {
  test(`${after.length} hosts go on from what ${before.length} had committed: ${before.join(", ")}`, (t) => {
    const folder = folderOf(t);
    commit(folder, before);
    alignPositions(folder, after.length, log);
    assert.deepEqual(sequences(folder, after.length), after);
    assert.equal(readdirSync(folder).length, after.length);
    const { generations } = readCommitted(folder, { number: 0, count: after.length }, log);
    if (before.length !== after.length)
      assert.deepEqual(
        [...generations.keys()],
        before.map((_, number) => `uuid/${number}`),
      );
  });
}

test("of several hosts without the file of one the log is read from its start", (t) => {
  const folder = folderOf(t);
  commit(folder, [50, 30]);
  rmSync(join(folder, "position-1-of-2.json"));
  alignPositions(folder, 2, log);
  assert.deepEqual(sequences(folder, 2), [START.sequence, START.sequence]);
});

test("a change of their number that was cut off is done at the next start", (t) => {
  const folder = folderOf(t);
  commit(folder, [50]);
  writeCommitted(
    folder,
    { number: 0, count: 2 },
    { position: { incarnation: 1, sequence: 50 }, generations: new Map() },
  );
  alignPositions(folder, 2, log);
  assert.deepEqual(sequences(folder, 2), [50, 50]);
  assert.deepEqual(readdirSync(folder).toSorted(), ["position-0-of-2.json", "position-1-of-2.json"]);
});

test("a folder that isn't there yet gets a file for each of several hosts", (t) => {
  const folder = join(folderOf(t), "engine");
  alignPositions(folder, 1, log);
  assert.deepEqual(readdirSync(folder), []);
  alignPositions(folder, 2, log);
  assert.equal(readdirSync(folder).length, 2);
});
