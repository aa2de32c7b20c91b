import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { suite, test } from "node:test";
import { fileURLToPath } from "node:url";
import { DocBatchView } from "#hub/engine/operations/doc-batch-view.ts";
import type { DocumentBatch } from "#proto/document-batch.ts";
import { DocBatch, type tailrace } from "#proto/messages.ts";
import { encodeAppends } from "./append-encoder.ts";

/** Messages of new documents as logs hold them since columns came: such a log is read on after an upgrade. */
const sampleOf = (name: string, version = 1): Buffer =>
  readFileSync(fileURLToPath(import.meta.resolve(`#test/compat/doc-${version}/${name}.bin`)));

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
  /** Places in `text` where documents end. */
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

suite("many documents alike are packed", () => {
  const bytes = Buffer.from(MANY.join(""));
  let end = 0;
  const columns: DocumentBatch = {
    bytes,
    start: 0,
    indexNames: [],
    ends: Uint32Array.from(MANY, (document) => (end += Buffer.byteLength(document))),
    gap: 0,
    ids: Buffer.from(MANY.map((_, nth) => `id-${String(nth).padStart(6, "0")}`).join("")),
  };
  const head = DocBatch.encode(HEAD).finish();
  const message = encodeAppends(head, columns);

  test("the same as in version 2", () => {
    assert.ok(message.equals(sampleOf("packed", 2)));
    assert.ok(message.length < bytes.length / 3);
  });

  test("and read as they were", () => {
    const view = new DocBatchView(sampleOf("packed", 2));
    assert.equal(view.count, MANY.length);
    for (const [place, document] of MANY.entries()) {
      assert.equal(Buffer.from(view.operation(place).source).toString(), document);
      assert.equal(view.id(place), `id-${String(place).padStart(6, "0")}`);
      assert.ok(view.isPlain(place));
    }
    assert.ok(Buffer.from(DocBatch.encode(view.header).finish()).equals(Buffer.from(head)));
  });

  test("unless that brings nothing", () => {
    const noise = randomBytes(8_000);
    const plain = encodeAppends(head, {
      ...columns,
      bytes: noise,
      ends: Uint32Array.of(noise.length),
      ids: Buffer.from("a"),
    });
    assert.ok(plain.includes(noise));
  });

  test("and refused where a byte of them is gone or the sizes aren't theirs", () => {
    const { appends } = DocBatch.decode(message);
    const packed = appends?.packed ?? [];
    const packedBytes = appends?.packedBytes ?? 0;
    const damaged: Partial<tailrace.DocAppends.$Properties>[] = [
      { packed: packed.map((part) => part.subarray(1)) },
      { packed: packed.slice(1) },
      { packedBytes: packedBytes + 1 },
      { packedBytes: 2 ** 31 },
      { packedBytes: 1 },
      { packed: [] },
      { ids: Buffer.from("more") },
      { documents: Buffer.from("{}") },
    ];
    for (const change of damaged) {
      const bad = DocBatch.encode({ ...HEAD, appends: { ...appends, ...change } }).finish();
      assert.throws(
        () => new DocBatchView(bad),
        { code: "data_corrupt" },
        JSON.stringify(Object.keys(change)),
      );
    }
  });
});
