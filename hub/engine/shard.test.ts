import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { DocOperation, type tailrace } from "#proto/messages.ts";
import {
  apply,
  CREATE,
  DELETE,
  INDEX,
  openShard,
  operation,
  UPDATE,
  withFolder,
} from "#test/support/engine/shard.ts";

const { EXTERNAL, EXTERNAL_GTE } = DocOperation.VersionType;

suite("operations of a shard", () => {
  type Row = readonly [
    operation: tailrace.IDocOperation,
    expected: Partial<tailrace.DocItemResult.$Properties>,
  ];
  const stories: readonly (readonly [name: string, rows: readonly Row[]])[] = [
    [
      "count versions and sequence numbers",
      [
        [operation(INDEX, "a", { n: 1 }), { result: "created", version: 1, seqNo: 0, primaryTerm: 1 }],
        [operation(INDEX, "a", { n: 2 }), { result: "updated", version: 2, seqNo: 1 }],
        [operation(DELETE, "a"), { result: "deleted", version: 3, seqNo: 2 }],
        [operation(DELETE, "a"), { result: "not_found", version: 4, seqNo: 3 }],
        [operation(INDEX, "a", { n: 1 }), { result: "created", version: 5, seqNo: 4 }],
      ],
    ],
    [
      "create only what isn't there",
      [
        [operation(CREATE, "a", {}), { result: "created" }],
        [
          operation(CREATE, "a", {}),
          {
            errorCode: "version_conflict",
            errorReason: "[_doc][a]: version conflict, document already exists (current version [1])",
          },
        ],
      ],
    ],
    [
      "update by merging",
      [
        [
          operation(UPDATE, "a", { n: 1 }),
          { errorCode: "document_missing", errorReason: "[_doc][a]: document missing" },
        ],
        [operation(UPDATE, "a", { n: 1 }, { upsert: Buffer.from('{"n":7}') }), { result: "created" }],
        [operation(UPDATE, "a", { n: 7 }, { detectNoop: true }), { result: "noop", version: 1, seqNo: 0 }],
        [operation(UPDATE, "a", { n: 8 }, { detectNoop: true }), { result: "updated", version: 2 }],
        [operation(UPDATE, "b", { n: 9 }, { docAsUpsert: true }), { result: "created" }],
      ],
    ],
    [
      "check internal versions and sequence numbers",
      [
        [operation(INDEX, "a", {}), { version: 1 }],
        [
          operation(INDEX, "a", {}, { hasVersion: true, version: 2 }),
          {
            errorReason:
              "[_doc][a]: version conflict, current version [1] is different than the one provided [2]",
          },
        ],
        [operation(INDEX, "a", {}, { hasVersion: true, version: 1 }), { version: 2, seqNo: 1 }],
        [
          operation(INDEX, "a", {}, { ifSeqNo: 0, ifPrimaryTerm: 1 }),
          {
            errorReason:
              "[_doc][a]: version conflict, required seqNo [0], primary term [1]. current document has seqNo [1] and primary term [1]",
          },
        ],
        [operation(INDEX, "a", {}, { ifSeqNo: 1, ifPrimaryTerm: 1 }), { version: 3 }],
        [
          operation(DELETE, "x", {}, { ifSeqNo: 1, ifPrimaryTerm: 1 }),
          {
            errorReason:
              "[_doc][x]: version conflict, required seqNo [1], primary term [1]. but no document was found",
          },
        ],
      ],
    ],
    [
      "take external versions, of deletions too",
      [
        [operation(INDEX, "a", {}, { hasVersion: true, version: 5, versionType: EXTERNAL }), { version: 5 }],
        [
          operation(INDEX, "a", {}, { hasVersion: true, version: 5, versionType: EXTERNAL }),
          {
            errorReason:
              "[_doc][a]: version conflict, current version [5] is higher or equal to the one provided [5]",
          },
        ],
        [
          operation(INDEX, "a", {}, { hasVersion: true, version: 5, versionType: EXTERNAL_GTE }),
          { version: 5 },
        ],
        [
          operation(DELETE, "a", {}, { hasVersion: true, version: 9, versionType: EXTERNAL }),
          { result: "deleted", version: 9 },
        ],
        [
          operation(INDEX, "a", {}, { hasVersion: true, version: 8, versionType: EXTERNAL }),
          { errorCode: "version_conflict" },
        ],
        [
          operation(INDEX, "a", {}, { hasVersion: true, version: 10, versionType: EXTERNAL }),
          { result: "created", version: 10 },
        ],
      ],
    ],
    [
      "fail one by one",
      [
        [
          operation(INDEX, "a", { n: "abc" }),
          {
            errorCode: "mapping_parse",
            errorReason: "failed to parse field [n] of type [long]",
            causeType: "number_format_exception",
            causeReason: 'For input string: "abc"',
          },
        ],
        [operation(INDEX, "a", '{"n":1'), { errorCode: "mapping_parse" }],
        [
          operation(INDEX, "a", '{"o":5}'),
          {
            errorReason:
              "object mapping for [o] tried to parse field [o] as object, but found a concrete value",
          },
        ],
        [operation(INDEX, "", {}), { errorCode: "request_invalid" }],
        [operation(INDEX, "x".repeat(513), {}), { errorCode: "request_invalid" }],
        [operation(INDEX, "a", { n: 1 }), { result: "created", version: 1, seqNo: 0 }],
      ],
    ],
  ];
  for (const [name, rows] of stories) {
    test(name, () =>
      withFolder((folder) => {
        const shard = openShard(folder);
        for (const [index, [given, expected]] of rows.entries()) {
          const [result] = apply(shard, index + 1, given)!;
          assert.deepEqual({ ...result, ...expected }, result, `row ${index + 1}: ${JSON.stringify(result)}`);
        }
        shard.close();
      }),
    );
  }

  test("keep the text of numbers when they merge documents", () =>
    withFolder((folder) => {
      const shard = openShard(folder);
      apply(shard, 1, operation(INDEX, "a", '{"n":9007199254740993,"f":1.0,"o":{"x":1}}'));
      apply(shard, 2, operation(UPDATE, "a", '{"o":{"y":2.50},"__proto__":1}'));
      assert.equal(
        Buffer.from(shard.get("a")!.source).toString(),
        '{"n":9007199254740993,"f":1.0,"o":{"x":1,"y":2.50},"__proto__":1}',
      );
      shard.close();
    }));
});
