import assert from "node:assert/strict";
import { test } from "node:test";
import { Bitset } from "#hub/engine/bytes/bitset.ts";
import { restSearchKernel, searchKernel, searchKernelBytes } from "#hub/engine/kernel/search-kernel.ts";
import { COLUMN_BLOCK, type DocRun } from "#hub/engine/searcher/searcher.ts";
import { Random } from "#test/support/engine/random.ts";
import { roundTrip } from "#test/support/engine/round-trip.ts";
import { BlockColumn } from "./block-column.ts";
import { writeColumn } from "./column-writer.ts";

/** Five whole blocks and a part of one. */
const DOCS = 5 * COLUMN_BLOCK + 300;
const BLOCKS = 6;
/** Runs of one or two blocks have fewer documents. */
const VALUES = 2500;
const OFFSET = 7;
const WORDS = COLUMN_BLOCK / 32;

/** A column and its values by document, -1 for none. */
function world(random: Random, isSparse: boolean) {
  const values = Int32Array.from({ length: DOCS }, () =>
    isSparse && random.oneIn(3) ? -1 : random.below(VALUES),
  );
  values[DOCS - 1] = VALUES - 1;
  const docs = Int32Array.from(values.keys()).filter((doc) => values[doc]! >= 0);
  const present = Float64Array.from(docs, (doc) => values[doc]!);
  const [file, entry] = roundTrip((writer) =>
    writeColumn(writer, { docs, values: present, count: docs.length }, DOCS, "signed"),
  );
  const presence = new Bitset(DOCS);
  for (const doc of docs) presence.add(doc);
  return { column: new BlockColumn(file, entry, DOCS, isSparse ? presence : null), values };
}

/** What counting a run's documents one by one gives. */
function counted(values: Int32Array, { from, to, words, wordsFrom }: DocRun): Int32Array {
  const counts = new Int32Array(OFFSET + VALUES);
  for (let doc = from * COLUMN_BLOCK; doc < Math.min(DOCS, to * COLUMN_BLOCK); doc++) {
    const bit = doc - wordsFrom * COLUMN_BLOCK;
    const isMeant = words === null || ((words[bit >>> 5]! >>> (bit & 31)) & 1) === 1;
    if (isMeant && values[doc]! >= 0) counts[OFFSET + values[doc]!]!++;
  }
  return counts;
}

for (const isSparse of [false, true])
  test(`short runs are counted as long ones are, without the kernel: ${isSparse ? "some" : "all"} documents`, (t) => {
    const starts = t.mock.method(searchKernel().columns, "startCount").mock;
    const random = new Random(11);
    const { column, values } = world(random, isSparse);
    assert.equal(column.entry.max + 1, VALUES);
    const live = new Bitset(DOCS);
    for (let doc = 0; doc < DOCS; doc++) if (!random.oneIn(4)) live.add(doc);
    for (let from = 0; from < BLOCKS; from++)
      for (let to = from + 1; to <= BLOCKS; to++)
        for (const run of [
          { from, to, words: null, wordsFrom: 0 },
          { from, to, words: live.words, wordsFrom: 0 },
          { from, to, words: live.words.slice(from * WORDS, to * WORDS), wordsFrom: from },
        ]) {
          starts.resetCalls();
          const counts = new Int32Array(OFFSET + VALUES);
          assert.equal(column.count(run, counts, OFFSET), true);
          assert.deepEqual(counts, counted(values, run), `blocks ${from} to ${to}`);
          assert.equal(starts.callCount(), (to - from) * COLUMN_BLOCK < VALUES ? 0 : 1);
          // Block by block, onto what is there.
          const parts = new Int32Array(OFFSET + VALUES);
          for (let block = from; block < to; block++)
            column.count({ ...run, from: block, to: block + 1 }, parts, OFFSET);
          assert.deepEqual(parts, counts);
        }
  });

test("short runs of a column of several values a document aren't counted", () => {
  const [file, entry] = roundTrip((writer) =>
    writeColumn(
      writer,
      { docs: Int32Array.of(0, 0), values: Float64Array.of(1, VALUES), count: 2 },
      1,
      "signed",
    ),
  );
  const counts = new Int32Array(VALUES + 1);
  assert.equal(
    new BlockColumn(file, entry, 1, null).count({ from: 0, to: 1, words: null, wordsFrom: 0 }, counts, 0),
    false,
  );
  assert.ok(counts.every((count) => count === 0));
});

test("an open column keeps no kernel that the thread has given up", () => {
  const { column } = world(new Random(5), false);
  assert.ok(!Number.isNaN(column.first(0)));
  const before = column.kernel;
  restSearchKernel();
  assert.equal(searchKernelBytes(), 0);
  assert.ok(!Number.isNaN(column.first(2_000)));
  assert.notEqual(column.kernel, before);
});
