import assert from "node:assert/strict";
import { test } from "node:test";
import { DocResult } from "#proto/messages.ts";
import { eachResult } from "./item-result.ts";

test("results that travelled keep their zeros, and each of a run has its own number", () => {
  const items = [
    { result: "created", version: 1, seqNo: 0, primaryTerm: 1, count: 3 },
    { result: "updated", version: 0, seqNo: 3, primaryTerm: 1 },
    { errorCode: "mapping_parse", errorReason: "no" },
  ];
  const arrived = DocResult.decode(DocResult.encode({ sequence: 1, items }).finish());
  assert.deepEqual(
    eachResult(arrived.items).map(({ version, seqNo, errorCode }) => [version, seqNo, errorCode ?? ""]),
    [
      [1, 0, ""],
      [1, 1, ""],
      [1, 2, ""],
      [0, 3, ""],
      [0, 0, "mapping_parse"],
    ],
  );
});
