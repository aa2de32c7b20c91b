import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { Bitset } from "#hub/engine/bytes/bitset.ts";
import { ByteBuffer, ByteReader } from "#hub/engine/bytes/byte-buffer.ts";
import { formatIp, parseIp } from "#hub/engine/bytes/ip.ts";
import { bitsOf, packNumbers, unpackNumbers } from "#hub/engine/encoding/bit-packing.ts";
import { crc32c } from "#hub/engine/encoding/crc32c.ts";
import type { ValueBlock } from "#hub/engine/searcher/searcher.ts";
import { lengthToNorm, normToLength } from "#hub/engine/searcher/similarity.ts";
import { hashId, IdIndex, newIdSeed, writeIdIndex } from "#hub/engine/segment/id-index.ts";
import { readPresence, writePresence, writePresenceSet } from "#hub/engine/segment/presence.ts";
import { StoredReader, StoredWriter } from "#hub/engine/stored/stored.ts";
import { Random } from "#test/support/engine/random.ts";
import { roundTrip } from "#test/support/engine/round-trip.ts";
import { BlockColumn } from "./block-column.ts";
import { type ColumnNumbers, writeColumn } from "./column-writer.ts";

suite("small codecs", () => {
  test("CRC-32C gives the values of RFC 3720", () => {
    assert.equal(crc32c(new Uint8Array(32)), 0x8a91_36aa);
    assert.equal(crc32c(new Uint8Array(32).fill(255)), 0x62a8_ab43);
    assert.equal(crc32c(Buffer.from("123456789")), 0xe306_9283);
  });

  test("varints come back, up to 2^53 - 1", () => {
    const values = [0, 1, 127, 128, 16_384, 2 ** 31 - 1, 2 ** 31, 2 ** 32 + 5, Number.MAX_SAFE_INTEGER];
    const out = new ByteBuffer(1);
    for (const value of values) out.varint(value);
    const reader = new ByteReader(out.view());
    assert.deepEqual(
      values.map(() => reader.varint()),
      values,
    );
  });

  test("packed numbers come back in all widths and counts", () => {
    const random = new Random(3);
    for (let bits = 0; bits <= 53; bits++) {
      for (const count of [1, 127, 128, 129, 400]) {
        const values = Float64Array.from({ length: count }, () => random.below(2 ** bits));
        const out = new ByteBuffer();
        out.u8(9);
        packNumbers(values, count, bits, out);
        const back = new Float64Array(count);
        assert.equal(unpackNumbers(out.view(), 1, count, bits, back), out.length);
        assert.deepEqual(back, values, `${bits} bits, ${count} values`);
      }
    }
    assert.deepEqual(
      [0, 1, 255, 256, 2 ** 32 - 1, 2 ** 32, 2 ** 53 - 1].map(bitsOf),
      [0, 1, 8, 9, 32, 33, 53],
    );
  });

  test("norms step as Lucene's do", () => {
    const pairs = [
      [40, 40],
      [41, 40],
      [43, 42],
      [57, 56],
      [100, 96],
      [255, 248],
      [1000, 984],
      [10_000, 9240],
    ] as const;
    for (const [length, kept] of pairs) assert.equal(normToLength(lengthToNorm(length)), kept);
  });

  test("addresses print as they are usually written", () => {
    const rows = [
      ["1.2.3.4", "1.2.3.4"],
      ["::1", "::1"],
      ["2001:DB8:0:0:1::2", "2001:db8::1:0:0:2"],
      ["::ffff:1.2.3.4", "1.2.3.4"],
      ["::", "::"],
    ] as const;
    for (const [text, printed] of rows) assert.equal(formatIp(parseIp(text)!), printed);
    for (const text of ["1.2.3", "x", "", "1.2.3.4.5", "fe80::1%eth0"]) assert.equal(parseIp(text), null);
  });

  test("a bitset finds, counts and combines", () => {
    const set = new Bitset(100);
    set.addRange(10, 75);
    set.remove(40);
    assert.deepEqual([set.count(), set.nextSet(0), set.nextSet(40), set.nextSet(75)], [64, 10, 41, -1]);
    assert.equal(Bitset.full(100).andNot(set).count(), 36);
  });
});

suite("a column", () => {
  const random = new Random(17);
  const makers: readonly (readonly [name: string, numbers: ColumnNumbers, value: () => number])[] = [
    ["small numbers", "signed", () => random.below(100)],
    ["one value", "signed", () => 7],
    ["multiples of a thousand", "signed", () => 1e12 + random.below(1e6) * 1000],
    ["wide numbers", "signed", () => random.below(2 ** 52) - 2 ** 51],
    [
      "the widest safe numbers",
      "signed",
      () => (random.oneIn(2) ? Number.MAX_SAFE_INTEGER : Number.MIN_SAFE_INTEGER) + 0,
    ],
    ["decimals", "float", () => random.below(100_000) / 100],
    ["any doubles", "float", () => (random.below(2 ** 32) / 7) * (random.oneIn(2) ? -1 : 1)],
    ["zeros of both signs", "float", () => (random.oneIn(2) ? -0 : 0)],
  ];
  for (const [name, numbers, value] of makers) {
    for (const [shape, most] of [
      ["all documents", 1],
      ["some documents", 1],
      ["several values", 5],
    ] as const) {
      test(`keeps ${name} of ${shape}`, () => {
        const docCount = 2500;
        const expected = Array.from({ length: docCount }, (_, doc) => {
          if (shape !== "all documents" && random.oneIn(3)) return [];
          return Array.from({ length: 1 + random.below(most) }, () =>
            name === "one value" ? 7 : value() + (doc > 3000 ? 1 : 0),
          );
        });
        const docs = Int32Array.from(expected.flatMap((values, doc) => values.map(() => doc)));
        const values = Float64Array.from(expected.flat());
        const [file, entry] = roundTrip((writer) =>
          writeColumn(writer, { docs, values, count: values.length }, docCount, numbers),
        );
        const presence = new Bitset(docCount);
        for (const doc of docs) presence.add(doc);
        const column = new BlockColumn(
          file,
          entry,
          docCount,
          presence.count() === docCount ? null : presence,
        );
        const out: number[] = [];
        for (let doc = 0; doc < docCount; doc++) {
          assert.deepEqual(out.slice(0, column.read(doc, out)), expected[doc]);
          assert.ok(Object.is(column.first(doc), expected[doc]![0] ?? Number.NaN));
        }
        checkBlocks(column, expected);
      });
    }
  }

  test("keeps whole numbers beyond 2^53 exactly", () => {
    const rows: readonly (readonly [ColumnNumbers, bigint[]])[] = [
      ["signed", [2n ** 63n - 1n, -(2n ** 63n), 5n]],
      ["signed", [2n ** 60n, 2n ** 60n + 1n, 2n ** 60n + 3n]],
      ["unsigned", [2n ** 64n - 1n, 0n, 1n]],
    ];
    for (const [numbers, values] of rows) {
      const docs = Int32Array.from(values, (_, doc) => doc);
      const [file, entry] = roundTrip((writer) =>
        writeColumn(writer, { docs, values, count: 3 }, 3, numbers),
      );
      const column = new BlockColumn(file, entry, 3, null);
      const out: bigint[] = [];
      assert.deepEqual(
        values.map((_, doc) => out.slice(0, column.readExact(doc, out))[0]),
        values,
      );
      assert.equal(column.entry.safe, false);
    }
  });
});

function checkBlocks(column: BlockColumn, expected: readonly number[][]): void {
  const block: ValueBlock = { values: new Float64Array(0), slots: new Uint16Array(0) };
  for (let index = 0; index < column.blockCount; index++) {
    const all = expected
      .slice(index * 1024, (index + 1) * 1024)
      .flatMap((values, slot) => values.map((value) => [slot, value]));
    const count = column.decodeValues(index, block);
    assert.deepEqual(
      Array.from({ length: count }, (_, at) => [block.slots[at], block.values[at]]),
      all,
    );
    for (const [, value] of all)
      assert.ok(value! >= column.blockMin(index) && value! <= column.blockMax(index));
  }
}

suite("other sections", () => {
  test("presence comes back in each of its forms", () => {
    for (const docs of [[0, 1, 2, 3], [2], [0, 5, 999], Array.from({ length: 900 }, (_, doc) => doc)]) {
      const docCount = docs.length === 4 ? 4 : 1000;
      const [file, entry] = roundTrip((writer) => writePresence(writer, Int32Array.from(docs), docCount));
      const presence = readPresence(file, entry, docCount) ?? Bitset.full(docCount);
      const found: number[] = [];
      for (let doc = presence.nextSet(0); doc >= 0; doc = presence.nextSet(doc + 1)) found.push(doc);
      assert.deepEqual(found, docs);
    }
  });

  test("sets behind each other have the numbers of each, moved, and are written like their lists", () => {
    const random = new Random(3);
    for (let round = 0; round < 60; round++) {
      const sizes = Array.from({ length: 1 + random.below(5) }, () => 1 + random.below(100));
      const docCount = sizes.reduce((sum, size) => sum + size, 0);
      const set = new Bitset(docCount);
      const docs: number[] = [];
      let first = 0;
      for (const size of sizes) {
        const part = new Bitset(size);
        const every = 1 + random.below(40);
        for (let doc = 0; doc < size; doc++)
          if (random.oneIn(every)) {
            part.add(doc);
            docs.push(first + doc);
          }
        set.addMoved(part, first);
        first += size;
      }
      const written = [
        roundTrip((writer) => writePresenceSet(writer, set)),
        roundTrip((writer) => writePresence(writer, Int32Array.from(docs), docCount)),
      ].map(([file, entry]) => [entry, Buffer.from(file.read(entry.extent))]);
      assert.deepEqual(written[0], written[1]);
    }
  });

  test("stored documents come back while they are collected and afterwards", () => {
    const documents = Array.from({ length: 300 }, (_, doc) =>
      Buffer.from(`${doc}:${"x".repeat((doc * 37) % 500)}`),
    );
    // Too large for LZ4.
    documents.push(Buffer.alloc(1_100_000, "large "));
    for (const packing of ["lz4", "zstd"] as const) {
      const writer = new StoredWriter(4096, packing);
      for (const document of documents) writer.add(document);
      for (const [doc, document] of documents.entries())
        assert.deepEqual(Buffer.from(writer.get(doc)), document);
      const [file, entry] = roundTrip((out) => writer.finish(out));
      const reader = new StoredReader(file, entry);
      const places = documents.map((_, doc) => doc);
      // In order, and to and fro.
      for (const doc of [...places, ...places.map((doc) => (doc * 127) % documents.length)])
        assert.deepEqual(Buffer.from(reader.get(doc)), documents[doc]);
    }
  });

  test("ids lead to their documents", () => {
    const ids = Array.from({ length: 1000 }, (_, doc) => Buffer.from(`id-${doc * 7}`));
    const seed = newIdSeed();
    const hashes = Uint32Array.from(ids, (id) => hashId(id, 0, id.length, seed));
    const [file, entry] = roundTrip((out) => writeIdIndex(out, seed, hashes));
    const index = new IdIndex(file, entry);
    for (const [doc, id] of ids.entries())
      assert.equal(
        index.find(id, (found) => ids[found]!.equals(id)),
        doc,
      );
    assert.equal(
      index.find(Buffer.from("nope"), () => false),
      -1,
    );
  });
});
