import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { suite, test } from "node:test";
import { Bitset } from "#hub/engine/bytes/bitset.ts";
import { kernelIndexing } from "#hub/engine/documents/kernel-documents.ts";
import { MemorySink, SegmentFile } from "#hub/engine/files/segment-file.ts";
import {
  assertSameSegment,
  mergedBoth,
  randomDocument,
  sealed,
  sealedImage,
  testKernel,
} from "#test/support/engine/kernel.ts";
import { Random } from "#test/support/engine/random.ts";
import { testMapping } from "#test/support/engine/shard.ts";
import type { SegmentDirectory } from "../segment/directory.ts";
import { Segment } from "../segment/segment.ts";
import { mergeKernel } from "./kernel-merge.ts";
import { numberDocuments } from "./merge-input.ts";
import { mergeSegments } from "./merge-segments.ts";

const kernel = await testKernel();
const mapping = testMapping();

/** A segment of documents given as objects. */
function segmentOf(documents: readonly object[]): Segment {
  const sources = documents.map((document) => Buffer.from(JSON.stringify(document)));
  return new Segment(sealed(kernelIndexing(kernel), mapping, sources).segment);
}

/** The terms of a field with their documents and positions, as text. */
function postingsOf(segment: Segment, field: string): string[] {
  const lines: string[] = [];
  const terms = segment.dictionary(field)!.range();
  while (terms.next()) {
    const places: string[] = [];
    const cursor = terms.docFreq === 0 ? null : terms.postings({ positions: true });
    for (let doc = cursor?.next() ?? 2 ** 31 - 1; doc < 2 ** 31 - 1; doc = cursor!.next())
      places.push(`${doc}:${cursor!.positions().subarray(0, cursor!.freq).join(",")}`);
    lines.push(`${terms.text()} ${places.join(" ")}`);
  }
  return lines;
}

/** Merges segments by the kernel, and without it to the same bytes. */
function merged(inputs: readonly { segment: Segment; live: Bitset | null }[]): SegmentFile {
  const { byKernel, byTwin } = mergedBoth(inputs);
  assertSameSegment(byKernel, byTwin);
  return byKernel;
}

suite("merged segments", () => {
  test("documents keep their terms, positions and values under new numbers", () => {
    const segments = [
      segmentOf([{ message: "b a", k: "x", n: 1 }, { message: "a c a" }]),
      segmentOf([{ message: "a" }, { message: "d b", k: "y", n: 2 }]),
    ];
    const result = new Segment(merged(segments.map((segment) => ({ segment, live: null }))));
    assert.deepEqual(postingsOf(result, "message"), ["a 0:1 1:0,2 2:0", "b 0:0 3:1", "c 1:1", "d 3:0"]);
    assert.equal(result.id(2), "id0");
    assert.deepEqual(postingsOf(result, "k"), ["x 0:", "y 3:"]);
    const numbers = result.rawColumn("n")!;
    assert.deepEqual(
      [0, 1, 2, 3].map((doc) => numbers.first(doc)),
      [1, Number.NaN, Number.NaN, 2],
    );
  });

  test("deleted documents leave no term, position, value or document", () => {
    const segment = segmentOf([{ message: "only here" }, { message: "here too", k: "kept" }, { k: "gone" }]);
    const live = Bitset.full(3);
    live.remove(0);
    live.remove(2);
    const result = new Segment(merged([{ segment, live }]));
    assert.equal(result.docCount, 1);
    assert.deepEqual(postingsOf(result, "message"), ["here 0:0", "too 0:1"]);
    assert.deepEqual(postingsOf(result, "k"), ["kept 0:"]);
    assert.equal(Buffer.from(result.source(0)).toString(), '{"message":"here too","k":"kept"}');
  });

  test("terms that begin alike, and addresses of the highest bytes, merge in their order", () => {
    const tail = (text: string, numbers: readonly number[]): object[] =>
      numbers.map((number) => ({ k: `${text}${number}`, message: `${text}${"9".repeat(number)}` }));
    const segments = [
      segmentOf([{ k: "" }, { k: "together" }, ...tail("together", [1, 3, 12])]),
      segmentOf([{ ip: "ffff:ffff:ffff:ffff::2" }, ...tail("together", [2, 3]), { k: "togethe" }]),
      segmentOf([{ ip: "ffff:ffff:ffff:ffff::1" }, { ip: "ffff:ffff:ffff:ffff::2", k: "together" }]),
    ];
    const result = new Segment(merged(segments.map((segment) => ({ segment, live: null }))));
    assert.deepEqual(
      postingsOf(result, "k").map((line) => line.split(" ")[0]),
      ["", "togethe", "together", "together1", "together12", "together2", "together3"],
    );
    assert.equal(result.dictionary("ip")!.size, 2);
  });

  test("terms that fill blocks, and dictionaries longer than a window, merge to the bytes of TypeScript", () => {
    const random = new Random(7);
    const inputs = [600, 1, 1500, 300].map((count, number) => {
      const documents = Array.from({ length: count }, (_, doc) => ({
        message: `all ${"again ".repeat(random.below(4))}id${number}x${doc} ${random.below(50)} ${"w".repeat(random.below(40))}`,
        k: `key${random.below(3000)}`,
        n: random.below(1000),
      }));
      const live = number % 2 === 0 ? null : Bitset.full(count);
      if (count > 1) for (let doc = 0; doc < count; doc += 3) live?.remove(doc);
      return { segment: segmentOf(documents), live };
    });
    const result = new Segment(merged(inputs));
    assert.equal(result.dictionary("message")!.find("all")!.docFreq, 600 + 1 + 1500 + 200);
  });

  test("terms of more documents than a list holds merge to the bytes of TypeScript, also where blocks are put aside", () => {
    const random = new Random(11);
    const inputs = [17_000, 130, 20_000].map((count, number) => {
      const documents = Array.from({ length: count }, (_, doc) => ({
        message: `all ${"again ".repeat(random.below(4))}id${number}x${doc}`,
        k: random.oneIn(9) ? "few" : "most",
      }));
      const live = number === 2 ? Bitset.full(count) : null;
      for (let doc = 0; doc < count; doc += 1 + random.below(200)) live?.remove(doc);
      return { segment: segmentOf(documents), live };
    });
    const spoolPath = join(mkdtempSync(join(tmpdir(), "tailrace-spool-")), "x.seg.tmp");
    const { byKernel, byTwin } = mergedBoth(inputs, spoolPath);
    assertSameSegment(byKernel, byTwin);
    assert.deepEqual(readdirSync(dirname(spoolPath)), []);
    rmSync(dirname(spoolPath), { recursive: true });
  });

  test("a merge of many documents takes little more of the kernel's memory than one of few", () => {
    const segment = segmentOf(
      Array.from({ length: 30_000 }, (_, doc) => ({ message: `all again again again ${doc} and${doc}` })),
    );
    const spoolPath = join(mkdtempSync(join(tmpdir(), "tailrace-spool-")), "x.seg.tmp");
    const most = (count: number): number => {
      const inputs = Array.from({ length: count }, () => ({ segment, live: null }));
      const work = mergeSegments(numberDocuments(inputs), new MemorySink(), { usesKernel: true, spoolPath });
      let usedBytes = 0;
      for (const _ of work) usedBytes = Math.max(usedBytes, mergeKernel().memory.usedBytes);
      return usedBytes;
    };
    const [few, many] = [most(2), most(8)];
    assert.ok(many < few + 4 * 1024 * 1024, `${few} bytes, then ${many}`);
    rmSync(dirname(spoolPath), { recursive: true });
  });

  test("columns of many values are written as they come, and lists of all documents are freed at once", (t) => {
    const perSegment = 9_000;
    const numberOf = (doc: number): number => (doc * 0x9e37_79b1) % 2 ** 31;
    const segments = [0, 1].map((segment) =>
      segmentOf(
        Array.from({ length: perSegment }, (_, doc) => ({
          n: numberOf(segment * perSegment + doc),
          k: `k${doc}`,
        })),
      ),
    );
    const freed: number[] = [];
    const free = t.mock.method(ArrayBuffer.prototype, "transfer", function (this: ArrayBuffer, size: number) {
      freed.push(this.byteLength);
      return structuredClone(this, { transfer: [this] }).slice(0, size);
    });
    const sink = new MemorySink();
    const writes = t.mock.method(sink, "write");
    const inputs = segments.map((segment) => ({ segment, live: null }));
    for (const _ of mergeSegments(numberDocuments(inputs), sink, { usesKernel: true }));
    free.mock.restore();
    const docs = 2 * perSegment;
    // Hashes of ids, documents of their index, its fingerprints, and the new numbers of two dictionaries.
    const lists = [4 * docs, 4 * docs, 2 * docs, 4 * perSegment, 4 * perSegment];
    for (const sizeBytes of new Set(lists))
      assert.ok(
        freed.filter((size) => size === sizeBytes).length >=
          lists.filter((size) => size === sizeBytes).length,
        `${sizeBytes} bytes of ${freed.join(" ")}`,
      );
    const result = new Segment(SegmentFile.ofMemory("merged", sink.buffer.view().slice()));
    const column = result.rawColumn("n")!;
    const { entry } = column;
    assert.ok(entry.data[1] > 64 * 1024, `${entry.data[1]} bytes`);
    const whole = writes.mock.calls.filter(({ arguments: [bytes] }) => bytes.length === entry.data[1]);
    assert.equal(whole.length, 0);
    for (let doc = 0; doc < docs; doc++) assert.equal(column.first(doc), numberOf(doc));
  });

  for (const isMixed of [false, true])
    test(`columns of single values are those of the documents${isMixed ? ", some deleted" : ""}, wherever blocks and segments begin`, () => {
      const random = new Random(5);
      for (const counts of [
        [1024, 1023, 1, 2048],
        [1, 2000, 1500],
      ]) {
        const documents = counts.map((count) =>
          Array.from({ length: count }, (_, doc) => ({
            n: doc * 7 + random.below(5),
            k: random.oneIn(3) ? undefined : `key${random.below(40)}`,
            d: doc > 1200 && doc < 2600 ? undefined : doc / 4,
          })),
        );
        const inputs = documents.map((each, number) => {
          const live = isMixed && number === 1 ? Bitset.full(each.length) : null;
          for (let doc = 0; doc < each.length; doc += 3) live?.remove(doc);
          return { segment: segmentOf(each), live };
        });
        const kept = documents.flatMap((each, at) =>
          each.filter((_, doc) => inputs[at]!.live?.has(doc) ?? true),
        );
        const keys = [...new Set(kept.flatMap(({ k }) => k ?? []))].sort();
        const result = new Segment(merged(inputs));
        const valuesOf = (field: string): number[] =>
          kept.map((_, doc) => result.rawColumn(field)!.first(doc));
        assert.deepEqual(
          valuesOf("n"),
          kept.map(({ n }) => n),
        );
        assert.deepEqual(
          valuesOf("k"),
          kept.map(({ k }) => (k === undefined ? Number.NaN : keys.indexOf(k))),
        );
        assert.deepEqual(
          valuesOf("d"),
          kept.map(({ d }) => d ?? Number.NaN),
        );
      }
    });

  test("stored blocks with the final compression are copied unchanged", () => {
    const text = "x".repeat(1000);
    const documents = (from: number) => Array.from({ length: 700 }, (_, n) => ({ n: from + n, text }));
    const once = [0, 1000].map(
      (from) => new Segment(merged([{ segment: segmentOf(documents(from)), live: null }])),
    );
    const twice = new Segment(merged(once.map((segment) => ({ segment, live: null }))));
    const [first, second] = [once[0]!.stored("source"), twice.stored("source")];
    assert.ok(first.blockCount > 2);
    for (let block = 0; block < first.blockCount - 1; block++)
      assert.deepEqual(Buffer.from(second.packed(block)), Buffer.from(first.packed(block)));
    for (let doc = 0; doc < 1400; doc++) {
      const { n } = JSON.parse(Buffer.from(twice.source(doc)).toString()) as { n: number };
      assert.equal(n, doc < 700 ? doc : 300 + doc);
    }
  });

  test("random documents and deletions merge to the bytes of TypeScript", () => {
    for (let seed = 1; seed <= 6; seed++) {
      const random = new Random(seed);
      const inputs = Array.from({ length: 1 + random.below(5) }, () => {
        const sources = Array.from({ length: 1 + random.below(300) }, () => randomDocument(random));
        const segment = new Segment(sealed(kernelIndexing(kernel), mapping, sources).segment);
        const live = random.oneIn(2) ? null : Bitset.full(sources.length);
        for (let doc = 0; doc < sources.length; doc++) if (random.oneIn(3)) live?.remove(doc);
        return { segment, live };
      });
      const { byKernel, byTwin } = mergedBoth(inputs);
      assertSameSegment(byKernel, byTwin, `seed ${seed}`);
    }
  });

  test("a merge that is given up, and one that is done, give their memory back", () => {
    const segments = [segmentOf([{ message: "a b", k: "x" }]), segmentOf([{ message: "b c" }])];
    const inputs = segments.map((segment) => ({ segment, live: null }));
    merged(inputs);
    const before = mergeKernel().memory.usedBytes;
    merged(inputs);
    assert.equal(mergeKernel().memory.usedBytes, before);
    for (let steps = 0; steps < 30; steps++) {
      const work = mergeSegments(numberDocuments(inputs), new MemorySink());
      for (let step = 0; step < steps; step++) work.next();
      work.return();
      assert.equal(mergeKernel().memory.usedBytes, before, `after ${steps} steps`);
    }
  });

  test("bytes that are damaged where nothing checks them end in an error or other terms, never in a hang", () => {
    const random = new Random(5);
    const documents = Array.from({ length: 200 }, (_, doc) => ({
      message: `all ${"again ".repeat(doc % 5)}${doc} ${random.below(20)}`,
      k: `k${random.below(9)}`,
    }));
    const sources = documents.map((document) => Buffer.from(JSON.stringify(document)));
    const whole = sealedImage(kernelIndexing(kernel), mapping, sources);
    const { fields } = SegmentFile.ofMemory("whole", whole).directory as SegmentDirectory;
    const { blocks, postings } = fields["message"]!.terms!;
    let failed = 0;
    for (let round = 0; round < 120; round++) {
      const image = whole.slice();
      const [from, length] = random.oneIn(2) ? blocks : postings;
      for (let flips = 1 + random.below(3); flips > 0; flips--)
        image[from + random.below(length)]! ^= 1 << random.below(8);
      const segment = new Segment(SegmentFile.ofMemory("damaged", image));
      try {
        for (const _ of mergeSegments(numberDocuments([{ segment, live: null }]), new MemorySink()));
      } catch {
        failed++;
      }
    }
    assert.ok(failed > 12, `${failed} merges failed`);
    assert.ok(mergeKernel().memory.memory.buffer.byteLength < 64 * 1024 * 1024);
  });

  test("windows of a dictionary are all of it, whatever their size", () => {
    const words = Array.from({ length: 900 }, (_, word) => `word${word} often`);
    const segment = segmentOf(words.map((message) => ({ message })));
    for (const postingsBytes of [1, 1000, 2 ** 20]) {
      const windows = segment.dictionary("message")!.windows(postingsBytes);
      let terms = 0;
      let behind = 0;
      for (let window = windows.next(); window !== null; window = windows.next()) {
        assert.equal(window.postingsFrom, behind);
        behind += window.postingsBytes;
        terms += window.terms;
        assert.equal(windows.termsLeft, windows.size - terms);
      }
      assert.equal(terms, 901);
      assert.equal(behind, segment.fieldEntry("message")!.terms!.postings[1]);
    }
  });
});
