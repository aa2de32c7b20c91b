import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { PostingsList } from "#hub/engine/postings/postings-writer.ts";
import { type ImpactBound, NO_MORE_DOCS } from "#hub/engine/searcher/searcher.ts";
import { Random } from "#test/support/engine/random.ts";
import { roundTrip } from "#test/support/engine/round-trip.ts";
import { Dictionary } from "./dictionary.ts";
import { DictionaryWriter } from "./dictionary-writer.ts";

suite("a dictionary with postings", () => {
  const random = new Random(5);
  const docCount = 5000;
  const terms = new Map<string, [doc: number, positions: number[]][]>();
  for (let index = 0; index < 400; index++) {
    // Around the ends of a block of postings; a term of many blocks, of which a few are enough.
    const density = random.oneIn(40) ? 4000 : random.pick([1, 1, 2, 20, 127, 128, 129, 300]);
    const docs: [number, number[]][] = [];
    for (let doc = 0; doc < docCount && docs.length < density; doc++) {
      if (random.below(docCount - doc) >= density - docs.length) continue;
      const positions = new Set(
        Array.from({ length: random.oneIn(30) ? 1 + random.below(300) : 1 }, () => random.below(500)),
      );
      docs.push([doc, [...positions].sort((a, b) => a - b)]);
    }
    terms.set(`${random.pick(["", "ab", "abc", "ü"])}${random.below(1e6).toString(36)}`, docs);
  }
  const sorted = [...terms.keys()].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  const norms = Uint8Array.from({ length: docCount }, () => random.below(256));
  const [file, entry] = roundTrip((writer) => {
    const dictionary = new DictionaryWriter(writer, norms, true);
    const list = new PostingsList();
    for (const term of sorted) {
      list.clear();
      for (const [doc, positions] of terms.get(term)!) {
        list.add(doc, positions.length);
        for (const position of positions) list.addPosition(position);
      }
      dictionary.add(Buffer.from(term), list);
    }
    return dictionary.finish();
  });
  const dictionary = new Dictionary(file, entry, docCount, () => norms);

  test("finds each term with its documents, frequencies and positions", () => {
    for (const [term, docs] of terms) {
      const cursor = dictionary.postings(term, { positions: true })!;
      assert.equal(cursor.docFreq, docs.length);
      for (const [doc, positions] of docs) {
        assert.equal(cursor.next(), doc);
        if (random.oneIn(2)) assert.deepEqual([...cursor.positions().subarray(0, cursor.freq)], positions);
        else assert.equal(cursor.freq, positions.length);
      }
      assert.equal(cursor.next(), NO_MORE_DOCS);
    }
    assert.equal(dictionary.find("zzzzzz"), null);
  });

  test("advances to what a walk would find", () => {
    for (const [term, docs] of terms) {
      const cursor = dictionary.postings(term, { positions: true })!;
      for (
        let target = random.below(50);
        cursor.doc !== NO_MORE_DOCS;
        target = cursor.doc + 1 + random.below(400)
      ) {
        const expected = docs.find(([doc]) => doc >= target);
        assert.equal(cursor.advance(target), expected?.[0] ?? NO_MORE_DOCS);
        if (expected !== undefined)
          assert.deepEqual([...cursor.positions().subarray(0, cursor.freq)], expected[1]);
        if (cursor.doc === NO_MORE_DOCS) break;
      }
    }
  });

  test("gives blocks of documents and frequencies", () => {
    const docs = new Int32Array(128);
    const freqs = new Int32Array(128);
    for (const [term, expected] of terms) {
      const cursor = dictionary.postings(term)!;
      const all: [number, number][] = [];
      for (let count = cursor.nextBlock(docs, freqs); count > 0; count = cursor.nextBlock(docs, freqs)) {
        for (let index = 0; index < count; index++) all.push([docs[index]!, freqs[index]!]);
      }
      assert.deepEqual(
        all,
        expected.map(([doc, positions]) => [doc, positions.length]),
      );
    }
  });

  test("bounds frequencies and norms of every block", () => {
    for (const [term, docs] of terms) {
      const cursor = dictionary.postings(term)!;
      for (const [doc, positions] of docs) {
        cursor.seekImpact(doc);
        assert.ok(doc <= cursor.impactEnd);
        assert.ok(positions.length <= cursor.impactMaxFreq && norms[doc]! >= cursor.impactMinNorm);
      }
    }
  });

  test("finds the first documents whose impacts pass a bound", () => {
    for (const most of [2, 40, 255, 300]) {
      const leastOf = (norm: number): number => 1 + ((norm * 7) % most);
      const bound: ImpactBound = {
        leastFreqs: new Uint16Array(256),
        find(norm) {
          return (this.leastFreqs[norm] = leastOf(norm));
        },
      };
      for (const term of terms.keys()) checkUseful(term, bound, leastOf);
    }
  });

  /** Asks for useful documents from several places on, and compares with looking at one window after the other. */
  function checkUseful(term: string, bound: ImpactBound, leastOf: (norm: number) => number): void {
    const cursor = dictionary.postings(term)!;
    const windows = dictionary.postings(term)!;
    for (let target = 0; target < docCount; target += 1 + random.below(docCount / 4)) {
      let expected = target;
      windows.seekImpact(expected);
      while (expected !== NO_MORE_DOCS) {
        if (Math.min(255, windows.impactMaxFreq) >= leastOf(windows.impactMinNorm)) break;
        expected = windows.impactEnd === NO_MORE_DOCS ? NO_MORE_DOCS : windows.impactEnd + 1;
        if (expected !== NO_MORE_DOCS) windows.seekImpact(expected);
      }
      const found = cursor.seekUseful(target, bound);
      // Behind the last document there is nothing, whatever the window says.
      const last = terms.get(term)!.at(-1)![0];
      if (target <= last && expected <= last) assert.equal(found, expected, `${term} from ${target}`);
      if (found === NO_MORE_DOCS) return;
      assert.equal(cursor.impactEnd, windows.impactEnd);
      target = Math.max(target, found);
    }
  }

  test("walks ranges and prefixes in the order of bytes", () => {
    const walk = (iterator: ReturnType<Dictionary["prefix"]>): string[] => {
      const found: string[] = [];
      while (iterator.next()) found.push(iterator.text());
      return found;
    };
    assert.deepEqual(walk(dictionary.range()), sorted);
    assert.deepEqual(
      walk(dictionary.prefix("ab")),
      sorted.filter((term) => term.startsWith("ab")),
    );
    const [from, to] = [sorted[37]!, sorted[200]!];
    assert.deepEqual(walk(dictionary.range(from, to)), sorted.slice(37, 200));
    assert.deepEqual(
      walk(dictionary.range(from, to, { fromExclusive: true, toInclusive: true })),
      sorted.slice(38, 201),
    );
  });

  test("turns terms to ordinals and back", () => {
    for (const [ordinal, term] of sorted.entries()) {
      assert.equal(dictionary.ordOf(term), ordinal);
      assert.equal(Buffer.from(dictionary.lookup(ordinal)).toString(), term);
    }
    assert.equal(dictionary.ordOf(""), -1);
    assert.equal(dictionary.ordOf("\u{10ffff}"), -sorted.length - 1);
  });
});
