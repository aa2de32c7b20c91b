import assert from "node:assert/strict";
import { test } from "node:test";
import { AppError } from "#proto/kit/errors.ts";
import { BulkAnswer } from "./bulk-answer.ts";

const INDICES = { get: () => undefined };
const REASON = "no number: é";

function resultOf(seqNos: readonly number[], failed: readonly number[]) {
  const ids = seqNos.map((_, at) => `id-${String(at).padStart(17, "0")}`);
  return {
    ids,
    result: {
      index: "logs",
      ids: Buffer.from(ids.join("")),
      idBytes: 20,
      seqNos: Float64Array.from(seqNos),
      failures: new Map(failed.map((at) => [at, new AppError("mapping_parse", REASON)])),
      copies: 2,
    },
  };
}

test("each document of a run is answered with its id and number, or why it isn't in", () => {
  const seqNos = [0, 9, 10, 12_345, 0, 2 ** 53 - 1];
  const { ids, result } = resultOf(seqNos, [4]);
  const answer = new BulkAnswer();
  answer.add('{"delete":{"_id":"ü"}}');
  const failure = ({ message }: AppError): string => JSON.stringify({ index: { error: message } });
  answer.addRun({ kind: "index", result, indices: INDICES, refresh: "true", failure });
  const { took, errors, items } = JSON.parse(Buffer.from(answer.finish(7)).toString());
  assert.deepEqual([took, errors, items.length], [7, true, 7]);
  assert.deepEqual(items[0], { delete: { _id: "ü" } });
  assert.deepEqual(items[5], { index: { error: REASON } });
  assert.deepEqual(items[4], {
    index: {
      _index: "logs",
      _type: "_doc",
      _id: ids[3],
      _version: 1,
      result: "created",
      forced_refresh: true,
      _shards: { total: 2, successful: 1, failed: 0 },
      _seq_no: 12_345,
      _primary_term: 1,
      status: 201,
    },
  });
  const numbers = items.slice(1).map((item: { index: { _seq_no?: number } }) => item.index._seq_no);
  assert.deepEqual(numbers, [0, 9, 10, 12_345, undefined, 2 ** 53 - 1]);
});

test("many items and none are answered alike", () => {
  const { result } = resultOf(
    Array.from({ length: 5_000 }, (_, at) => at),
    [],
  );
  const answer = new BulkAnswer();
  const run = { kind: "create", result, indices: INDICES, refresh: "false" } as const;
  for (let nth = 0; nth < 3; nth++) answer.addRun({ ...run, failure: () => "" });
  assert.equal(JSON.parse(Buffer.from(answer.finish(1)).toString()).items.length, 15_000);
  assert.equal(Buffer.from(new BulkAnswer().finish(0)).toString(), '{"took":0,"errors":false,"items":[]}');
});
