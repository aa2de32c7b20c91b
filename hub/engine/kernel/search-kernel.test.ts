/** What the kernel does for searches, judged by the same work in TypeScript. */

import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { Bitset } from "#hub/engine/bytes/bitset.ts";
import { ByteBuffer } from "#hub/engine/bytes/byte-buffer.ts";
import { BlockColumn, RUN_BLOCKS } from "#hub/engine/columns/block-column.ts";
import { addSums, SUM_WIDTH, SumOffset } from "#hub/engine/columns/column-sums.ts";
import { type ColumnNumbers, writeColumn } from "#hub/engine/columns/column-writer.ts";
import { MemorySink, SegmentFile, SegmentFileWriter } from "#hub/engine/files/segment-file.ts";
import { PostingsList, writePostings } from "#hub/engine/postings/postings-writer.ts";
import { COLUMN_BLOCK, type DocRun } from "#hub/engine/searcher/searcher.ts";
import { plainColumns } from "#test/oracles/engine/plain-columns.ts";
import { Random } from "#test/support/engine/random.ts";
import { apply, INDEX, openShard, operation, withFolder } from "#test/support/engine/shard.ts";
import { ensureKernel } from "./build.ts";
import { SearchKernel } from "./search-kernel.ts";

let kernel: SearchKernel;

before(async () => {
  await ensureKernel();
  kernel = SearchKernel.load();
});

/** Values by document, some without, some with several. */
interface Shape {
  readonly name: string;
  readonly numbers: ColumnNumbers;
  readonly value: (random: Random, doc: number) => number;
  /** One in this many documents has no value; 0: all have one. */
  readonly missing: number;
  readonly several?: boolean;
}

const SHAPES: readonly Shape[] = [
  { name: "ordinals", numbers: "signed", value: (random) => random.below(40), missing: 0 },
  { name: "sparse ordinals", numbers: "signed", value: (random) => random.below(700), missing: 3 },
  { name: "one value", numbers: "signed", value: () => 7, missing: 2 },
  {
    name: "times",
    numbers: "signed",
    value: (random, doc) => 1.7e12 + doc * 40 + random.below(90),
    missing: 0,
  },
  { name: "hours", numbers: "signed", value: (random) => 3_600_000 * random.below(9000), missing: 5 },
  { name: "negative", numbers: "signed", value: (random) => random.below(2000) - 1000, missing: 0 },
  { name: "wide", numbers: "signed", value: (random) => random.below(2 ** 30) * 2 ** 12, missing: 4 },
  { name: "decimals", numbers: "float", value: (random) => random.below(90_000) / 100, missing: 2 },
  { name: "fractions", numbers: "float", value: (random) => Math.sqrt(random.below(1e6)), missing: 0 },
  { name: "several", numbers: "signed", value: (random) => random.below(50), missing: 4, several: true },
];

interface Built {
  readonly here: BlockColumn;
  readonly there: BlockColumn;
  readonly values: readonly (readonly number[])[];
}

/** Documents of segments whose blocks are more than are read in one run. */
const RUN_DOCS = (RUN_BLOCKS + 6) * COLUMN_BLOCK + 333;

const long = new Map<string, Built>();

/** Returns a column of this many documents; the same for the same shape and seed, as they take long to make. */
function buildLong(shape: Shape, seed: number): Built {
  const key = `${shape.name} ${seed}`;
  const built = long.get(key) ?? build(shape, RUN_DOCS, seed);
  long.set(key, built);
  return built;
}

function build(shape: Shape, docCount: number, seed: number): Built {
  const random = new Random(seed);
  const values = Array.from({ length: docCount }, (_, doc) => {
    if (shape.missing > 0 && random.oneIn(shape.missing)) return [];
    const count = shape.several === true ? 1 + random.below(3) : 1;
    return Array.from({ length: count }, () => shape.value(random, doc)).sort((a, b) => a - b);
  });
  const docs = Int32Array.from(values.flatMap((own, doc) => own.map(() => doc)));
  const sink = new MemorySink();
  const writer = new SegmentFileWriter(sink);
  const all = Float64Array.from(values.flat());
  const entry = writeColumn(writer, { docs, values: all, count: all.length }, docCount, shape.numbers);
  writer.finish({});
  const file = SegmentFile.ofMemory("test", sink.buffer.view().slice());
  const presence = shape.missing === 0 ? null : new Bitset(docCount);
  for (const doc of docs) presence?.add(doc);
  return {
    here: new BlockColumn(file, entry, docCount, presence, plainColumns),
    there: new BlockColumn(file, entry, docCount, presence, kernel.columns),
    values,
  };
}

describe("columns", () => {
  for (const shape of SHAPES) {
    test(`${shape.name}: the kernel reads, compares and counts as TypeScript does`, () => {
      const { here, there, values } = build(shape, 2 * COLUMN_BLOCK + 700, 5);
      const random = new Random(6);
      const mine = new Float64Array(COLUMN_BLOCK);
      const theirs = new Float64Array(COLUMN_BLOCK);
      for (let block = 0; block < here.blockCount; block++) {
        const docs = here.decodeFirst(block, theirs, Number.NaN);
        assert.equal(there.decodeFirst(block, mine, Number.NaN), docs);
        assert.deepEqual(mine.subarray(0, docs), theirs.subarray(0, docs));
        for (let slot = 0; slot < docs; slot++) {
          assert.equal(mine[slot], values[block * COLUMN_BLOCK + slot]![0] ?? Number.NaN);
        }
        compareMatches(here, there, block, random);
        if (shape.numbers === "signed" && here.blockMax(block) < 1000 && here.blockMin(block) >= 0)
          compareCounts(here, there, block, random);
      }
    });
  }

  function compareMatches(here: BlockColumn, there: BlockColumn, block: number, random: Random): void {
    const span = here.blockMax(block) - here.blockMin(block);
    for (let round = 0; round < 20; round++) {
      const from = here.blockMin(block) + span * (random.below(120) / 100 - 0.1);
      const to = round === 0 ? Number.POSITIVE_INFINITY : from + span * (random.below(100) / 100);
      const [mine, theirs] = [new Uint32Array(32), new Uint32Array(32)];
      here.match(block, from, to, theirs);
      there.match(block, from, to, mine);
      assert.deepEqual(mine, theirs, `${from}..${to}`);
    }
  }

  function compareCounts(here: BlockColumn, there: BlockColumn, block: number, random: Random): void {
    const docs = Math.min(COLUMN_BLOCK, 2 * COLUMN_BLOCK + 700 - block * COLUMN_BLOCK);
    const some = new Uint32Array(32);
    for (let slot = 0; slot < docs; slot++) if (random.oneIn(3)) some[slot >>> 5]! |= 1 << (slot & 31);
    for (const mask of [null, some]) {
      const [mine, theirs] = [new Int32Array(1100), new Int32Array(1100)];
      const run = { from: block, to: block + 1, words: mask, wordsFrom: block };
      assert.equal(there.count(run, mine, 50), here.count(run, theirs, 50));
      assert.deepEqual(mine, theirs);
    }
  }
});

test("the documents of a term become the set that its cursor walks", () => {
  for (const [docCount, gaps] of [
    [700, 1],
    [5000, 2],
    [40_000, 9],
    [3_000_000, 900],
  ] as const) {
    const random = new Random(gaps);
    const list = new PostingsList();
    const expected = new Bitset(docCount);
    let docFreq = 0;
    for (let doc = random.below(gaps); doc < docCount; doc += 1 + random.below(gaps)) {
      list.add(doc, 1 + random.below(3));
      expected.add(doc);
      docFreq++;
    }
    const out = new ByteBuffer(1024);
    writePostings(list, null, false, out, new ByteBuffer(16));
    const actual = new Bitset(docCount);
    assert.equal(kernel.addPostings(out.view(), docFreq, docCount, actual.words), true);
    assert.deepEqual(actual.words, expected.words);
    const half = new Bitset(Math.floor(docCount / 2));
    assert.equal(kernel.addPostings(out.view(), docFreq, half.size, half.words), false, "documents outside");
    const cut = out.view().subarray(0, 40);
    assert.equal(kernel.addPostings(cut, docFreq, docCount, actual.words), false, "bytes outside");
  }
});

for (const shape of SHAPES) {
  test(`${shape.name}: runs of blocks are compared and counted as TypeScript does`, () => {
    const { here, there } = buildLong(shape, 7);
    const random = new Random(8);
    const span = here.entry.max - here.entry.min;
    for (let round = 0; round < 12; round++) {
      const from = here.entry.min + span * (random.below(120) / 100 - 0.1);
      const bounds = [from, from + span * (random.below(100) / 100)] as const;
      const narrow = random.oneIn(2);
      const mine = narrow ? someOf(RUN_DOCS, random) : new Uint32Array(Math.ceil(RUN_DOCS / 32));
      const theirs = mine.slice();
      const first = random.below(10);
      here.matchAll(first, here.blockCount, bounds, theirs.subarray(32 * first), narrow);
      there.matchAll(first, here.blockCount, bounds, mine.subarray(32 * first), narrow);
      assert.deepEqual(mine, theirs, `${bounds[0]}..${bounds[1]} from block ${first}`);
    }
    if (shape.numbers !== "signed" || here.entry.min < 0 || here.entry.max > 10_000) return;
    for (const set of [null, someOf(RUN_DOCS, random)]) {
      const [mine, theirs] = [new Int32Array(10_100), new Int32Array(10_100)];
      const run = { from: 3, to: 70, words: set, wordsFrom: 0 };
      assert.equal(there.count(run, mine, 50), here.count(run, theirs, 50));
      assert.deepEqual(mine, theirs);
    }
  });
}

for (const shape of SHAPES.filter(({ numbers, several }) => numbers === "signed" && several !== true)) {
  test(`${shape.name}: values of runs are summed by ordinals as TypeScript does`, () => {
    const values = buildLong(shape, 7);
    const random = new Random(10);
    for (const by of SHAPES.filter(({ name }) => name.endsWith("ordinals"))) {
      const ordinals = buildLong(by, 11);
      for (const words of [null, someOf(RUN_DOCS, random)]) {
        const run = { from: 3, to: 70, words, wordsFrom: 0 };
        const expected = sumsOf(values, ordinals, run);
        for (const place of ["here", "there"] as const) {
          const sums = noSums(ordinals.here.entry.max + 1);
          addSums(values[place], ordinals[place], run, sums);
          assert.deepEqual(sums, expected, `by ${by.name}, ${place}`);
        }
      }
    }
  });
}

/** A slot for one in `rarity` ordinals; several ordinals may share one. */
function someSlots(ordinals: number, rarity: number, random: Random): Int32Array {
  return Int32Array.from({ length: ordinals }, () => (random.oneIn(rarity) ? random.below(5) : -1));
}

for (const shape of SHAPES.filter(({ numbers, several }) => numbers === "signed" && several !== true)) {
  test(`${shape.name}: values of runs are summed by the slots of ordinals as TypeScript does`, () => {
    const values = buildLong(shape, 7);
    const random = new Random(12);
    for (const by of SHAPES.filter(({ name }) => name.endsWith("ordinals"))) {
      const ordinals = buildLong(by, 11);
      for (const [words, rarity] of [[null, 4] as const, [someOf(RUN_DOCS, random), 2] as const]) {
        const slots = someSlots(ordinals.here.entry.max + 1, rarity, random);
        const [first, second] = [
          { from: 3, to: 30, words, wordsFrom: 0 },
          { from: 30, to: 70, words, wordsFrom: 0 },
        ];
        const expected = sumsBySlot(values, ordinals, { ...first, to: 70 }, slots);
        for (const place of ["here", "there"] as const) {
          const sums = noSums(5);
          for (const run of [first, second]) addSums(values[place], ordinals[place], run, sums, slots);
          assert.deepEqual(sums, expected, `by ${by.name}, ${place}`);
        }
      }
    }
  });
}

for (const shape of SHAPES.filter(({ name }) => name.endsWith("ordinals") || name === "several")) {
  test(`${shape.name}: documents are chosen by the slots of their values as TypeScript does`, () => {
    const { here, there, values } = build(shape, 4 * COLUMN_BLOCK + 333, 13);
    const random = new Random(14);
    for (const words of [null, someOf(5 * COLUMN_BLOCK, random)]) {
      const wanted = words === null ? null : new Bitset(32 * words.length, words);
      for (const [run, rarity] of [
        [{ from: 0, to: 5, words, wordsFrom: 0 }, 3] as const,
        [{ from: 2, to: 3, words, wordsFrom: 0 }, 1] as const,
        [{ from: 1, to: 5, words, wordsFrom: 0 }, 1000] as const,
      ]) {
        const slots = someSlots(here.entry.max + 1, rarity, random);
        const expected: number[][] = [];
        for (let doc = run.from * COLUMN_BLOCK; doc < Math.min(values.length, run.to * COLUMN_BLOCK); doc++) {
          const slot = slots[values[doc]![0] ?? -1] ?? -1;
          if (slot >= 0 && wanted?.has(doc) !== false) expected.push([doc, slot]);
        }
        for (const column of [here, there]) {
          const out = { docs: new Int32Array(0), slots: new Int32Array(0) };
          const count = column.choose(run, slots, out);
          if (shape.several === true) assert.equal(count, -1);
          else
            assert.deepEqual(
              Array.from({ length: count }, (_, at) => [out.docs[at], out.slots[at]]),
              expected,
            );
        }
      }
    }
  });
}

function noSums(ordinals: number): Float64Array {
  const sums = new Float64Array(SUM_WIDTH * ordinals);
  for (let from = 0; from < sums.length; from += SUM_WIDTH) {
    sums[from + SumOffset.MIN] = Number.POSITIVE_INFINITY;
    sums[from + SumOffset.MAX] = Number.NEGATIVE_INFINITY;
  }
  return sums;
}

function sumsOf(values: Built, ordinals: Built, run: DocRun): Float64Array {
  const own = Int32Array.from({ length: ordinals.here.entry.max + 1 }, (_, ordinal) => ordinal);
  return sumsBySlot(values, ordinals, run, own, own.length);
}

function sumsBySlot(
  values: Built,
  ordinals: Built,
  { from, to, words }: DocRun,
  slots: Int32Array,
  size = 5,
): Float64Array {
  const sums = noSums(size);
  const wanted = words === null ? null : new Bitset(32 * words.length, words);
  for (let doc = from * COLUMN_BLOCK; doc < to * COLUMN_BLOCK; doc++) {
    const [value] = values.values[doc]!;
    const [ordinal] = ordinals.values[doc]!;
    if (value === undefined || ordinal === undefined || wanted?.has(doc) === false) continue;
    if (slots[ordinal]! < 0) continue;
    const at = SUM_WIDTH * slots[ordinal]!;
    sums[at + SumOffset.COUNT]! += 1;
    sums[at + SumOffset.TOTAL]! += value;
    sums[at + SumOffset.SQUARES]! += value * value;
    sums[at + SumOffset.MIN] = Math.min(sums[at + SumOffset.MIN]!, value);
    sums[at + SumOffset.MAX] = Math.max(sums[at + SumOffset.MAX]!, value);
  }
  return sums;
}

/** Some of the documents of a segment, none in some blocks. */
function someOf(docCount: number, random: Random): Uint32Array {
  const set = new Bitset(docCount);
  for (let doc = 0; doc < docCount; doc++) if ((doc >>> 10) % 3 > 0 && random.oneIn(3)) set.add(doc);
  return set.words;
}

test("terms at a distance are found by their positions", async () => {
  await withFolder((folder) => {
    const random = new Random(12);
    const shard = openShard(folder);
    const texts = Array.from({ length: 3000 }, () =>
      Array.from({ length: random.below(random.oneIn(50) ? 400 : 12) }, () =>
        random.pick(["a", "b", "c", "d"]),
      ),
    );
    texts.forEach((words, doc) => {
      apply(shard, doc + 1, operation(INDEX, String(doc), { message: words.join(" ") }));
    });
    shard.refresh();
    const searcher = shard.searcher();
    const [segment] = searcher.segments;
    assert.ok(segment !== undefined && searcher.segments.length === 1);
    for (const [first, second, distance] of [
      ["a", "b", 1],
      ["b", "a", 1],
      ["c", "d", 3],
      ["a", "a", 2],
      ["d", "b", 300],
    ] as const) {
      const found = segment.near("message", first, second, distance);
      assert.ok(found instanceof Bitset);
      for (const [doc, words] of texts.entries()) {
        const isNear = words.some((word, at) => word === first && words[at + distance] === second);
        assert.equal(found.has(doc), isNear, `${first} ${second} ${distance} in ${doc}`);
      }
    }
    assert.equal(segment.near("message", "a", "nowhere", 1), null);
    searcher.close();
    shard.close();
  });
});
