import assert from "node:assert/strict";
import { test } from "node:test";
import { AppError } from "#proto/kit/errors.ts";
import { DocResult } from "#proto/messages.ts";
import { addResult, eachResult, type ItemResult, itemError, resultError } from "./item-result.ts";

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

test("results of operations in a row are sent as one and arrive each by itself", () => {
  const created = { result: "created", version: 1, primaryTerm: 1 };
  const each: ItemResult[] = [
    { ...created, seqNo: 4 },
    { ...created, seqNo: 5 },
    { ...created, seqNo: 6 },
    { ...created, seqNo: 7, version: 2 },
    { ...created, seqNo: 8, result: "updated", version: 2 },
    { errorCode: "version_conflict", errorReason: "one" },
    { errorCode: "version_conflict", errorReason: "two" },
    { ...created, seqNo: 9 },
    { ...created, seqNo: 11 },
    { result: "noop" },
    { result: "noop" },
  ];
  const results: ItemResult[] = [];
  for (const result of each) addResult(results, result);
  assert.deepEqual(
    results.map(({ seqNo, count }) => [seqNo, count]),
    [
      [4, 3],
      [7, undefined],
      [8, undefined],
      [undefined, undefined],
      [undefined, undefined],
      [9, undefined],
      [11, undefined],
      [undefined, undefined],
      [undefined, undefined],
    ],
  );
  assert.deepEqual(eachResult(results), each);
});

test("an error that travelled has its code, its reason, the type and reason of its cause, and where it happened", () => {
  const cause = { type: "number_format_exception", reason: 'For input string: "a; b"' };
  const sent = itemError(
    new AppError("mapping_parse", "failed to parse field [n] of type [long]", { data: { caused_by: cause } }),
  );
  const [arrived] = DocResult.decode(DocResult.encode({ sequence: 1, items: [sent] }).finish()).items;
  const { code, message, data } = resultError(arrived!, { index: "a" });
  assert.deepEqual([code, message], ["mapping_parse", "failed to parse field [n] of type [long]"]);
  assert.deepEqual(data, { index: "a", caused_by: cause });
});

test("an error of a code that this version doesn't have is internal and has no cause", () => {
  const { code, data } = resultError({ errorCode: "of_another_version", errorReason: "why" }, {});
  assert.deepEqual([code, data], ["internal", {}]);
});

test("an error that quotes half of a surrogate pair travels", () => {
  const cause = { type: "illegal_argument_exception", reason: 'For input string: "\ud800"' };
  const sent = itemError(
    new AppError("mapping_parse", "failed to parse [\ud800]", { data: { caused_by: cause } }),
  );
  const arrived = DocResult.decode(DocResult.encode({ sequence: 1, items: [sent] }).finish());
  const error = resultError(eachResult(arrived.items)[0]!, {});
  assert.equal(error.message, "failed to parse [\ufffd]");
  assert.deepEqual(error.data["caused_by"], { ...cause, reason: 'For input string: "\ufffd"' });
});
