import assert from "node:assert/strict";
import { test } from "node:test";
import { gatherWarnings } from "#hub/search/options/request-version.ts";
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
      idEnds: Uint32Array.from(seqNos, (_, at) => 20 * (at + 1)),
      outcomes: new Uint8Array(seqNos.length),
      versions: new Float64Array(seqNos.length).fill(1),
      seqNos: Float64Array.from(seqNos),
      failures: new Map(failed.map((at) => [at, new AppError("mapping_parse", REASON)])),
      copies: 2,
    },
  };
}

test("each document of a run is answered with its id and number, or why it isn't in", async () => {
  const seqNos = [0, 9, 10, 12_345, 0, 2 ** 53 - 1];
  const { ids, result } = resultOf(seqNos, [4]);
  const answer = new BulkAnswer();
  answer.add('{"delete":{"_id":"ü"}}');
  const failure = ({ message }: AppError): string => JSON.stringify({ index: { error: message } });
  await answer.addRun({ kind: "index", result, indices: INDICES, refresh: "true", failure });
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

test("documents of a run that became different things are answered each with its own", async () => {
  const ids = ["a", "b", "cc", "d", "e"];
  let idEnd = 0;
  const result = {
    index: "logs",
    ids: Buffer.from(ids.join("")),
    idEnds: Uint32Array.from(ids, (id) => (idEnd += id.length)),
    outcomes: Uint8Array.of(0, 0, 0, 1, 0),
    versions: Float64Array.of(1, 1, 1, 7, 2),
    seqNos: Float64Array.of(5, 6, 7, 8, 10),
    failures: new Map(),
    copies: 1,
  };
  const answer = new BulkAnswer();
  const run = { kind: "index", result, indices: INDICES, refresh: "false" } as const;
  await answer.addRun({ ...run, failure: () => "" });
  const { items } = JSON.parse(Buffer.from(answer.finish(1)).toString());
  const shown = items.map(
    ({ index: { _id: id, _version: version, result: became, _seq_no: seqNo, status } }: Item) =>
      [id, version, became, seqNo, status].join(" "),
  );
  const wanted = [
    "a 1 created 5 201",
    "b 1 created 6 201",
    "cc 1 created 7 201",
    "d 7 updated 8 200",
    "e 2 created 10 201",
  ];
  assert.deepEqual(shown, wanted);
});

interface Item {
  readonly index: Readonly<Record<string, unknown>>;
}

test("many items and none are answered alike", async () => {
  const { result } = resultOf(
    Array.from({ length: 5_000 }, (_, at) => at),
    [],
  );
  const answer = new BulkAnswer();
  const run = { kind: "create", result, indices: INDICES, refresh: "false" } as const;
  for (let nth = 0; nth < 3; nth++) await answer.addRun({ ...run, failure: () => "" });
  assert.equal(JSON.parse(Buffer.from(answer.finish(1)).toString()).items.length, 15_000);
  assert.equal(Buffer.from(new BulkAnswer().finish(0)).toString(), '{"took":0,"errors":false,"items":[]}');
});

for (const version of [605, 700])
  test(`documents of a run that changed nothing have a number from 7.0 on: ${version}`, async () => {
    const ids = ["a", "b", "c", "d"];
    const result = {
      index: "logs",
      ids: Buffer.from(ids.join("")),
      idEnds: Uint32Array.of(1, 2, 3, 4),
      outcomes: Uint8Array.of(0, 4, 4, 0),
      versions: Float64Array.of(1, 0, 0, 1),
      seqNos: Float64Array.of(5, 0, 0, 6),
      failures: new Map(),
      copies: 1,
    };
    const answer = new BulkAnswer();
    const run = { kind: "index", result, indices: INDICES, refresh: "false", failure: () => "" } as const;
    await gatherWarnings(new Set(), version, () => answer.addRun(run));
    const { items } = JSON.parse(Buffer.from(answer.finish(1)).toString());
    const none = version < 700 ? undefined : 0;
    assert.deepEqual(
      items.map(({ index: { _id: id, result: became, _seq_no: seqNo } }: Item) => [id, became, seqNo]),
      [
        ["a", "created", 5],
        ["b", "noop", none],
        ["c", "noop", none],
        ["d", "created", 6],
      ],
    );
  });
