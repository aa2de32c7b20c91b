import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { suite, test } from "node:test";
import { fileURLToPath } from "node:url";
import { DocBatchView } from "#hub/engine/doc-batch-view.ts";
import { DocBatch, type tailrace } from "#proto/messages.ts";
import { type DocumentColumns, encodeAppends } from "./append-encoder.ts";

/** Messages of new documents as logs hold them since columns came: such a log is read on after an upgrade. */
const sampleOf = (name: string): Buffer =>
  readFileSync(fileURLToPath(import.meta.resolve(`#test/compat/doc-1/${name}.bin`)));

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
  readonly columns: Omit<DocumentColumns, "put" | "documentBytes" | "ids"> & { readonly ids: string };
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
  const bytes = Buffer.from(text);
  return encodeAppends(DocBatch.encode(head).finish(), {
    ...columns,
    ids: Buffer.from(columns.ids),
    documentBytes: bytes.length,
    put: (out, at) => out.set(bytes, at),
  });
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
