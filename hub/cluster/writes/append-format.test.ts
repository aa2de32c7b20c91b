import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { suite, test } from "node:test";
import { fileURLToPath } from "node:url";
import { Analysis } from "#hub/engine/analysis/analysis.ts";
import { Mapping } from "#hub/engine/mapping/mapping.ts";
import { DocBatchView } from "#hub/engine/operations/doc-batch-view.ts";
import { Shard } from "#hub/engine/shard.ts";
import { openBlock } from "#hub/engine/stored/stored.ts";
import type { DocumentBatch } from "#proto/document-batch.ts";
import { recycleBytes } from "#proto/kit/large-bytes.ts";
import { silentLogger } from "#proto/kit/log.ts";
import { DocBatch, DocOperation, type tailrace } from "#proto/messages.ts";
import { Workspace } from "#test/harness/workspace.ts";
import { allowBlocks, encodeAppends } from "./append-encoder.ts";

/** Messages of new documents as logs hold them since columns came: such a log is still read after an upgrade. */
const sampleOf = (name: string, version = 1): Buffer =>
  readFileSync(fileURLToPath(import.meta.resolve(`#test/compat/doc-${version}/${name}.bin`)));

const NOTHING = new Uint8Array(0);

const HEAD: tailrace.DocBatch.$Properties = {
  index: "logs-2026.01.02",
  indexUuid: "AbCdEfGhIjKlMnOpQrStUv",
  shard: 3,
  mappingVersion: 7,
  timeMs: 1_767_312_000_123,
};

interface Sample {
  readonly head: tailrace.DocBatch.$Properties;
  readonly text: string;
  /** Offsets in `text` where documents end. */
  readonly columns: Omit<DocumentBatch, "bytes" | "start" | "indexNames" | "ids"> & { readonly ids: string };
  readonly documents: readonly string[];
}

const SAMPLES: Readonly<Record<string, Sample>> = {
  "of-a-request": {
    head: { ...HEAD, reply: "reply.0b6c.1" },
    text: '{"n":1}\n{"index":{}}\n{"text":"größer"}\n{"index":{}}\n{}',
    columns: {
      ends: Uint32Array.of(7, 40, 56),
      gap: 14,
      ids: "AAAAAAAAAAAAAAAAAAA1AAAAAAAAAAAAAAAAAAA2AAAAAAAAAAAAAAAAAAA3",
    },
    documents: ['{"n":1}', '{"text":"größer"}', "{}"],
  },
  "of-a-pipeline": {
    head: {
      ...HEAD,
      lenient: true,
      rawIncarnation: 2,
      rawPartition: 200,
      rawSequence: 90_071,
      sources: [
        { key: "agent/file/1", from: 10, to: 20 },
        { key: "agent/file/1", from: 4_294_967_296, to: 4_294_967_400 },
      ],
    },
    text: '{"message":"one"}{"message":"two"}',
    columns: {
      ends: Uint32Array.of(17, 34),
      gap: 0,
      ids: "BBBBBBBBBBBBBBBBBBB1BBBBBBBBBBBBBBBBBBB2",
      ordinals: Uint32Array.of(256, 4_294_967_040),
      sourceIndices: Uint32Array.of(1, 2),
      offsets: Float64Array.of(10, 4_294_967_296),
    },
    documents: ['{"message":"one"}', '{"message":"two"}'],
  },
};

function written({ head, text, columns }: Sample): Buffer {
  const ids = Buffer.from(columns.ids);
  const batch = { ...columns, ids, bytes: Buffer.from(text), start: 0, indexNames: [] };
  return encodeAppends(DocBatch.encode(head).finish(), batch);
}

for (const [name, sample] of Object.entries(SAMPLES)) {
  suite(`a message ${name.replaceAll("-", " ")} of version 1`, () => {
    test("is read as it was written", () => {
      const view = new DocBatchView(sampleOf(name));
      const { ordinals, sourceIndices, offsets, ids } = sample.columns;
      assert.equal(view.count, sample.documents.length);
      for (const [place, document] of sample.documents.entries()) {
        const { id, source, ordinal, sourceIndex, offset, appendOnly } = view.operation(place);
        assert.equal(Buffer.from(source).toString(), document);
        assert.equal(id, ids.slice(20 * place, 20 * (place + 1)));
        assert.equal(ordinal, ordinals?.[place] ?? place);
        assert.equal(sourceIndex, sourceIndices?.[place] ?? 0);
        assert.equal(offset, offsets?.[place] ?? 0);
        assert.ok(appendOnly && view.isPlain(place));
      }
      const head = DocBatch.encode(view.header).finish();
      assert.ok(Buffer.from(head).equals(DocBatch.encode(sample.head).finish()));
    });

    test("is written the same", () => {
      assert.ok(written(sample).equals(sampleOf(name)));
    });
  });
}

/** More than a part of packed documents holds, much alike, with letters beyond ASCII. */
const MANY = Array.from(
  { length: 4_000 },
  (_, nth) => `{"message":"größer ${nth}","host":{"name":"web-1"},"n":${nth % 7}}`,
);
const idOf = (nth: number): string => `id-${String(nth).padStart(6, "0")}`;

/** Documents with `between` before each but the first. */
function columnsOf(documents: readonly string[], between = ""): DocumentBatch {
  const gap = Buffer.byteLength(between);
  let end = -gap;
  return {
    bytes: Buffer.from(documents.join(between)),
    start: 0,
    indexNames: [],
    ends: Uint32Array.from(documents, (document) => (end += gap + Buffer.byteLength(document))),
    gap,
    ids: Buffer.from(documents.map((_, nth) => idOf(nth)).join("")),
  };
}

const HEAD_BYTES = DocBatch.encode(HEAD).finish();

/** Checks that a view has these documents, of `MANY` or others, with the ids of their indexes. */
function checkDocuments(view: DocBatchView, documents: readonly string[], idAt = (nth: number) => nth): void {
  assert.equal(view.count, documents.length);
  for (const [place, document] of documents.entries()) {
    assert.equal(Buffer.from(view.operation(place).source).toString(), document);
    assert.equal(view.id(place), idOf(idAt(place)));
    assert.ok(view.isPlain(place));
  }
  assert.ok(Buffer.from(DocBatch.encode(view.header).finish()).equals(Buffer.from(HEAD_BYTES)));
}

/** Throws unless messages with these changes are refused. */
function checkDamage(
  message: Uint8Array,
  changes: readonly Partial<tailrace.DocAppends.$Properties>[],
): void {
  const { appends } = DocBatch.decode(message);
  for (const change of changes) {
    const bad = DocBatch.encode({ ...HEAD, appends: { ...appends, ...change } }).finish();
    const name = JSON.stringify(Object.keys(change));
    assert.throws(() => new DocBatchView(bad), { code: "data_corrupt" }, name);
  }
}

suite("many documents alike are packed into blocks", () => {
  const columns = columnsOf(MANY, ',"{"index":{}}\n');
  const message = encodeAppends(HEAD_BYTES, columns);

  test("the same as in version 3", () => {
    assert.ok(message.equals(sampleOf("blocks", 3)));
    assert.ok(message.length < columns.bytes.length / 3);
  });

  test("and read as they were, with the blocks that a segment takes", () => {
    const view = new DocBatchView(sampleOf("blocks", 3));
    checkDocuments(view, MANY);
    const stored = view.blocks.flatMap(({ packed, count }) => {
      const block = openBlock(packed);
      assert.equal(block.count, count);
      return Array.from({ length: count }, (_, place) => Buffer.from(block.document(place)).toString());
    });
    assert.ok(view.blocks.length > 2);
    assert.deepEqual(stored, MANY);
  });

  test("and their size is the same in memory that was used before", () => {
    for (const name of ["blocks", "packed"]) {
      const message = sampleOf(name, name === "blocks" ? 3 : 2);
      const { sizeBytes } = new DocBatchView(message);
      recycleBytes(Buffer.alloc(3 * sizeBytes));
      const again = new DocBatchView(message);
      assert.deepEqual([again.sizeBytes, again.bytes.length], [sizeBytes, 3 * sizeBytes]);
      checkDocuments(again, MANY);
    }
  });

  test("also some of a batch, with others between them", () => {
    const places = Uint32Array.from({ length: 2_000 }, (_, nth) => 2 * nth + 1);
    const view = new DocBatchView(encodeAppends(HEAD_BYTES, columns, places));
    assert.ok(view.blocks.length > 0);
    const some = Array.from(places, (place) => MANY[place]!);
    checkDocuments(view, some, (nth) => places[nth]!);
  });

  test("with few ids that aren't packed", () => {
    const large = Array.from({ length: 5 }, (_, nth) => `{"n":${nth},"text":"${"ab".repeat(20_000)}"}`);
    const view = new DocBatchView(encodeAppends(HEAD_BYTES, columnsOf(large)));
    assert.ok(view.blocks.length > 0);
    checkDocuments(view, large);
  });

  test("unless a hub of an earlier version reads the log too", () => {
    allowBlocks(false);
    try {
      const view = new DocBatchView(encodeAppends(HEAD_BYTES, columns));
      assert.equal(view.blocks.length, 0);
      checkDocuments(view, MANY);
    } finally {
      allowBlocks(true);
    }
  });

  test("unless that brings nothing", () => {
    const noise = randomBytes(80_000);
    const ids = Buffer.from("a");
    const ends = Uint32Array.of(noise.length);
    assert.ok(encodeAppends(HEAD_BYTES, { ...columns, bytes: noise, ends, ids }).includes(noise));
  });

  test("and refused where a byte of them is gone or the sizes aren't theirs", () => {
    const { appends } = DocBatch.decode(message);
    const blocks = appends?.blocks ?? NOTHING;
    const packedBytes = appends?.packedBytes ?? 0;
    const blockOffsets = appends?.blockOffsets ?? NOTHING;
    const changed = (at: number, byte: number): Uint8Array => Buffer.from(blocks).fill(byte, at, at + 1);
    checkDamage(message, [
      { blocks: blocks.subarray(1) },
      { blocks: blocks.subarray(0, -1) },
      { blocks: changed(0, 0) },
      { blocks: changed(4, 1) },
      { blocks: changed(6, 255) },
      { blocks: changed(10, 255) },
      { blockOffsets: blockOffsets.subarray(4) },
      { blockOffsets: NOTHING },
      { blockOffsets: blockOffsets.subarray(1) },
      { packedBytes: packedBytes + 1 },
      { packed: [] },
      { ids: Buffer.from("more") },
      { documents: Buffer.from("{}") },
      { ends: Buffer.alloc(4) },
    ]);
  });
});

suite("a shard stores the blocks of a message", () => {
  const CREATED = 11;
  const DELETED = 1_234;

  for (const deleted of [false, true]) {
    test(deleted ? "but for one with a document that isn't new" : "as they are", async (context) => {
      const folder = new Workspace(context).path("shard", "");
      const mapping = Mapping.parse(
        { properties: { message: { type: "text" }, n: { type: "long" } } },
        { index: "logs", analysis: new Analysis() },
      );
      const open = (): Shard => Shard.open(folder, { index: "logs", mapping, log: silentLogger() });
      let shard = open();
      // Its tombstone makes the document of the message one that is looked up.
      const operations = [{ kind: DocOperation.Kind.DELETE, id: idOf(DELETED) }];
      if (deleted) shard.apply({ operations, timeMs: 1 }, { incarnation: 1, sequence: 1 });
      const view = new DocBatchView(encodeAppends(HEAD_BYTES, columnsOf(MANY)));
      const results = shard.apply(view, { incarnation: 1, sequence: CREATED }) ?? [];
      const created = results.filter(({ result }) => result === "created");
      assert.equal(
        created.reduce((sum, { count }) => sum + (count ?? 1), 0),
        MANY.length,
      );
      const check = (): void => {
        for (const [place, document] of MANY.entries())
          assert.equal(Buffer.from(shard.get(idOf(place))!.source).toString(), document);
      };
      check();
      shard.commit();
      check();
      shard.close();
      shard = open();
      check();
      await shard.forceMerge(1);
      check();
      shard.close();
    });
  }
});

suite("fewer documents are packed with their ids", () => {
  test("as messages of version 2 have them", () => {
    checkDocuments(new DocBatchView(sampleOf("packed", 2)), MANY);
    const few = MANY.slice(0, 300);
    const message = encodeAppends(HEAD_BYTES, columnsOf(few));
    assert.ok(message.length < few.join("").length / 3);
    const view = new DocBatchView(message);
    assert.equal(view.blocks.length, 0);
    checkDocuments(view, few);
  });

  test("as are documents that are too large for the kernel", () => {
    const large = [`{"text":"${"ab".repeat(200_000)}"}`, "{}"];
    const message = encodeAppends(HEAD_BYTES, columnsOf(large));
    assert.ok(message.length < large[0]!.length / 3);
    checkDocuments(new DocBatchView(message), large);
  });

  test("and refused where a byte of them is gone or the sizes aren't theirs", () => {
    const message = sampleOf("packed", 2);
    const { appends } = DocBatch.decode(message);
    const packed = appends?.packed ?? [];
    const packedBytes = appends?.packedBytes ?? 0;
    checkDamage(message, [
      { packed: packed.map((part) => part.subarray(1)) },
      { packed: packed.slice(1) },
      { packedBytes: packedBytes + 1 },
      { packedBytes: 2 ** 31 },
      { packedBytes: 1 },
      { packed: [] },
      { ids: Buffer.from("more") },
      { documents: Buffer.from("{}") },
    ]);
  });
});
