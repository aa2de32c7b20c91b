import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { AppError } from "#proto/kit/errors.ts";
import { DocBatch, DocOperation, type tailrace } from "#proto/messages.ts";
import { DocBatchView } from "./doc-batch-view.ts";

const { INDEX, CREATE, UPDATE, DELETE } = DocOperation.Kind;
const source = Buffer.from("{}");
/** What a writer of documents without ids sends. */
const NEW = { kind: INDEX, id: "a", source, appendOnly: true };

suite("an operation is plain", () => {
  const cases: readonly [name: string, operation: tailrace.IDocOperation, plain: boolean][] = [
    ["that adds a new document", NEW, true],
    ["that creates a new document", { ...NEW, kind: CREATE }, true],
    ["with its place in the log", { ...NEW, ordinal: 7, sourceIndex: 1, offset: 2 ** 40 }, true],
    ["whose other fields say nothing", { ...NEW, routing: "", versionType: 0, docAsUpsert: false }, true],
    ["unless its id may be known", { ...NEW, appendOnly: false }, false],
    ["unless it updates", { ...NEW, kind: UPDATE }, false],
    ["unless it deletes", { kind: DELETE, id: "a", appendOnly: true }, false],
    ["unless it is routed", { ...NEW, routing: "r" }, false],
    ["unless it has a version", { ...NEW, hasVersion: true, version: 3 }, false],
    ["unless it has a condition", { ...NEW, ifSeqNo: 3, ifPrimaryTerm: 1 }, false],
  ];
  for (const [name, operation, plain] of cases) {
    test(name, () => {
      const view = DocBatchView.of({ operations: [NEW, operation] });
      assert.equal(view.isPlain(1), plain);
      assert.deepEqual(view.operation(1), DocOperation.decode(DocOperation.encode(operation).finish()));
    });
  }
});

test("a message is seen as it was written", () => {
  const operations = Array.from({ length: 700 }, (_, nth) => ({
    ...NEW,
    id: `id-${nth}`,
    source: Buffer.from(JSON.stringify({ nth })),
    ordinal: nth,
    sourceIndex: nth % 3,
    offset: nth * 2 ** 33,
  }));
  const batch = {
    index: "logs",
    indexUuid: "u",
    shard: 2,
    sources: [{ key: "k", from: 1, to: 9 }],
    timeMs: 5,
  };
  const view = DocBatchView.of({ ...batch, operations });
  assert.equal(view.header.index, "logs");
  assert.equal(view.header.sources[0]!.to, 9);
  assert.equal(view.count, 700);
  for (const [nth, operation] of operations.entries()) {
    assert.equal(view.id(nth), operation.id);
    const bytes = view.bytes.subarray(view.sourceStart(nth), view.sourceStop(nth));
    assert.deepEqual(Buffer.from(bytes), operation.source);
    assert.deepEqual(
      [view.ordinal(nth), view.sourceIndex(nth), view.offset(nth)],
      [operation.ordinal, operation.sourceIndex, operation.offset],
    );
  }
});

test("a message that was cut is refused, or ends with a whole field", () => {
  const bytes = DocBatch.encode({ index: "logs", operations: [NEW, NEW, NEW] }).finish();
  for (let length = 0; length < bytes.length; length++) {
    const cut = bytes.subarray(0, length);
    try {
      const view = new DocBatchView(cut);
      assert.equal(view.count, DocBatch.decode(cut).operations.length);
    } catch (error) {
      assert.equal((error as AppError).code, "data_corrupt");
      assert.throws(() => DocBatch.decode(cut));
    }
  }
});
