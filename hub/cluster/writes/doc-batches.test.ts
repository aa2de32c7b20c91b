import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { newIndex } from "#hub/cluster/catalog/new-index.ts";
import { DocBatchView } from "#hub/engine/operations/doc-batch-view.ts";
import type { DocumentBatch } from "#proto/document-batch.ts";
import { DocBatch, DocOperation, type tailrace } from "#proto/messages.ts";
import { appendMessages } from "./append-messages.ts";
import { DocBatches } from "./doc-batches.ts";
import { shardOf } from "./routing.ts";

const { INDEX, CREATE, UPDATE, DELETE } = DocOperation.Kind;
const HEADER = {
  lenient: true,
  timeMs: 5,
  rawIncarnation: 1,
  rawPartition: 2,
  rawSequence: 3,
  sources: [{ key: "k", from: 1, to: 9 }],
};
const NEW = { kind: INDEX, id: "an-id", source: Buffer.from('{"a":1}'), appendOnly: true };

function indexOf(shards: number) {
  const definition = { settings: { number_of_shards: shards }, mappings: {}, aliases: {} };
  const templates = { older: {}, templates: {}, components: {} };
  return newIndex({ name: "logs", definition, templates, nowMs: 0 });
}

/** What a reader sees of a message's operations. */
function seen(data: Uint8Array): tailrace.DocOperation[] {
  const view = new DocBatchView(data);
  return Array.from({ length: view.count }, (_, at) => view.operation(at));
}

suite("a reader sees the operations that were written", () => {
  const cases: readonly [name: string, operations: tailrace.DocOperation.$Properties[], columns: boolean][] =
    [
      ["of new documents", [NEW, { ...NEW, id: "other", source: Buffer.from("{}") }], true],
      [
        "with their places in the log",
        [{ ...NEW, ordinal: 300, sourceIndex: 2, offset: 2 ** 45 + 77 }],
        true,
      ],
      ["with ordinals of the last pipeline", [{ ...NEW, ordinal: 2 ** 32 - 1 }], true],
      ["that must not be there", [{ ...NEW, kind: CREATE }], true],
      ["whose ids go beyond ASCII", [{ ...NEW, id: "ключ" }], true],
      ["of no bytes", [{ ...NEW, source: Buffer.alloc(0) }], true],
      ["of ids of several lengths", [NEW, { ...NEW, id: "longer-id" }], false],
      ["that may replace one", [NEW, { ...NEW, appendOnly: false }], false],
      ["that update", [{ ...NEW, kind: UPDATE }], false],
      ["that delete", [{ kind: DELETE, id: "an-id", appendOnly: true }], false],
      ["that are routed", [{ ...NEW, routing: "r" }], false],
      ["with an upsert", [{ ...NEW, upsert: Buffer.from("{}") }], false],
      ["with a version", [{ ...NEW, hasVersion: true, version: 3 }], false],
      ["with a condition", [{ ...NEW, ifSeqNo: 1, ifPrimaryTerm: 1 }], false],
    ];
  for (const [name, operations, columns] of cases) {
    test(name, () => {
      const batches = new DocBatches(HEADER);
      const index = indexOf(1);
      for (const [place, operation] of operations.entries()) batches.add(index, operation, place);
      const [message] = batches.take();
      assert.equal(DocBatch.decode(message!.data).appends !== null, columns);
      const plain = operations.map((each) => ({ ...each, ...(columns && { kind: INDEX }) }));
      const expected = DocBatch.decode(DocBatch.encode({ operations: plain }).finish()).operations;
      assert.deepEqual(seen(message!.data).map(plainOf), (expected as tailrace.DocOperation[]).map(plainOf));
      assert.deepEqual(new DocBatchView(message!.data).header.sources[0]!.to, 9);
    });
  }
});

function plainOf(operation: tailrace.DocOperation): unknown {
  const { id, source, ordinal, sourceIndex, offset, kind, appendOnly, routing } = operation;
  const text = Buffer.from(source).toString();
  return { id, text, ordinal, sourceIndex, offset, kind, appendOnly, routing };
}

/** Documents with something between them that belongs to neither. */
function newDocuments(count: number): DocumentBatch & { readonly texts: readonly string[] } {
  const texts = Array.from({ length: count }, (_, at) => JSON.stringify({ at, text: "é".repeat(at % 9) }));
  const between = "\n--\n";
  let end = 2 - between.length;
  const ends = Uint32Array.from(texts, (text) => (end += between.length + Buffer.byteLength(text)));
  return {
    texts,
    bytes: Buffer.from(`>>${texts.join(between)}<<`),
    start: 2,
    ends,
    gap: between.length,
    ids: Buffer.from(texts.map((_, at) => String(at).padStart(20, "i")).join("")),
    indexNames: ["logs"],
    ordinals: Uint32Array.from(texts, (_, at) => 256 * at),
    sourceIndices: new Uint32Array(count).fill(1),
    offsets: Float64Array.from(texts, (_, at) => at * 2 ** 33),
  };
}

for (const shards of [1, 3]) {
  test(`new documents arrive whole at ${shards} shards, in messages of bounded size`, () => {
    const documents = newDocuments(12_000);
    const index = indexOf(shards);
    const messages = appendMessages(documents, { index, header: HEADER, reply: () => "reply" });
    assert.ok(messages.length >= 3);
    const found = new Set<number>();
    for (const { data, places, shard } of messages) {
      const view = new DocBatchView(data);
      assert.equal(view.count, places.length);
      assert.ok(view.count <= 5_000);
      assert.equal(view.header.reply, "reply");
      for (const [at, place] of places.entries()) {
        found.add(place);
        const bytes = view.bytes.subarray(view.sourceStart(at), view.sourceStop(at));
        assert.equal(Buffer.from(bytes).toString(), documents.texts[place]);
        assert.equal(view.id(at), String(place).padStart(20, "i"));
        assert.equal(shardOf(view.id(at), "", shards), shard);
        assert.deepEqual(
          [view.ordinal(at), view.sourceIndex(at), view.offset(at), view.isPlain(at)],
          [256 * place, 1, place * 2 ** 33, true],
        );
      }
    }
    assert.equal(found.size, documents.texts.length);
  });
}

test("no documents are no messages", () => {
  assert.deepEqual(appendMessages(newDocuments(0), { index: indexOf(1), header: HEADER }), []);
});
