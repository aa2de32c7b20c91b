import assert from "node:assert/strict";
import { after, suite, test } from "node:test";
import { UninvertedColumn } from "#hub/engine/segment/uninverted-column.ts";
import { IndexFixture } from "#test/support/search/shards.ts";

const WORDS = ["ant", "bee", "cat", "dog", "eel", "fox", "gnu", "hen"];

/** Documents with up to four words, some with none: the same as a text and as a list of keywords. */
const docs = Array.from({ length: 2_500 }, (_, at) => {
  const words = WORDS.filter((_word, word) => ((at * 2654435761) >>> (word + 8)) % 4 === 0).slice(0, 4);
  return words.length === 0 ? { n: at } : { n: at, text: words.toReversed().join(" "), words };
});
const fixture = new IndexFixture({
  mapping: {
    properties: {
      text: { type: "text", fielddata: true },
      plain: { type: "text" },
      words: { type: "keyword" },
      n: { type: "long" },
    },
  },
  docs,
  segmentDocs: 1_700,
});
after(() => fixture.close());

suite("a text field with fielddata", () => {
  for (const options of [
    { order: "asc" },
    { order: "desc" },
    { order: "asc", mode: "max" },
    { order: "asc", missing: "_first" },
    { order: "desc", missing: "cow" },
  ]) {
    test(`is sorted by as a keyword field with the same terms: ${JSON.stringify(options)}`, async () => {
      const by = (field: string): Promise<string[]> =>
        fixture.ids({ sort: [{ [field]: options }, { n: "asc" }], size: 500 });
      assert.deepEqual(await by("text"), await by("words"));
    });
  }

  test("has the column that a keyword field has", () => {
    const { segments } = fixture.shards[0]!.searcher;
    assert.equal(segments.length, 2);
    for (const segment of segments) {
      const text = segment.uninverted("text")!;
      const words = segment.keywordColumn("words")!;
      for (const key of ["cardinality", "docCount", "valueCount", "multiValued", "blockCount"] as const)
        assert.equal(text[key], words[key], key);
      const [a, b] = [text, words].map((column) => {
        const blocks = Array.from({ length: column.blockCount }, (_, block) => {
          const firsts = new Int32Array(1024);
          const values = { values: new Float64Array(0), slots: new Uint16Array(0) };
          const count = column.decodeBlock(block, firsts);
          const valueCount = column.decodeValues(block, values);
          return [
            firsts.slice(0, count),
            values.values.slice(0, valueCount),
            values.slots.slice(0, valueCount),
            column.blockMin(block),
            column.blockMax(block),
          ];
        });
        const ordinals: number[] = [];
        const lists = docs.slice(0, segment.docCount).map((_, doc) => {
          const count = column.read(doc, ordinals);
          return [column.first(doc), ...ordinals.slice(0, count).map((ordinal) => column.text(ordinal))];
        });
        return { blocks, lists, place: column.ordOf("cow"), dog: column.reader().text(column.ordOf("dog")) };
      });
      assert.deepEqual(a, b);
    }
  });

  test("that no document has is sorted by like a field without values", async () => {
    assert.equal(fixture.shards[0]!.searcher.segments[0]!.uninverted("nothing"), null);
    await assert.rejects(fixture.ids({ sort: ["plain"] }), /all shards failed/);
  });

  test("whose column would be too large is refused with what to use", () => {
    const parts = { field: "text", docCount: 9_000_000, sumDocFreq: 1, presence: null };
    assert.throws(
      () => new UninvertedColumn({ ...parts, dictionary: undefined as never }),
      /\[text\] would take 36000008 bytes of a segment, more than the limit of 33554432; use a keyword field/,
    );
  });
});
