import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { DocBatch, DocOperation, type tailrace } from "#proto/messages.ts";
import { appendBytes, appendOf, putAppend } from "./operation-bytes.ts";

const { INDEX, CREATE, UPDATE, DELETE } = DocOperation.Kind;
const NEW = { kind: INDEX, id: "an-id", source: Buffer.from('{"a":1}'), appendOnly: true };

suite("a new document is written as the encoder would", () => {
  const cases: readonly [name: string, operation: tailrace.DocOperation.$Properties][] = [
    ["with an id alone", NEW],
    ["with its place in the log", { ...NEW, ordinal: 300, sourceIndex: 2, offset: 2 ** 45 + 77 }],
    ["that must not be there", { ...NEW, kind: CREATE, ordinal: 1 }],
    ["of many bytes", { ...NEW, source: Buffer.alloc(300_000, 0x20) }],
    ["whose id goes beyond ASCII", { ...NEW, id: "ключ-日本".repeat(20) }],
    ["of no bytes", { ...NEW, source: Buffer.alloc(0) }],
  ];
  for (const [name, operation] of cases) {
    test(name, () => {
      const append = appendOf(operation)!;
      const out = Buffer.alloc(appendBytes(append));
      const bytes = out.subarray(0, putAppend(out, 0, append));
      const { operations } = DocBatch.decode(bytes);
      assert.deepEqual(operations, [DocOperation.decode(DocOperation.encode(operation).finish())]);
    });
  }
});

test("what says more than that is left to the encoder", () => {
  for (const more of [
    { appendOnly: false },
    { kind: UPDATE },
    { kind: DELETE },
    { routing: "r" },
    { upsert: Buffer.from("{}") },
    { hasVersion: true, version: 3 },
    { ifSeqNo: 1, ifPrimaryTerm: 1 },
    { id: "" },
  ])
    assert.equal(appendOf({ ...NEW, ...more }), null);
});
