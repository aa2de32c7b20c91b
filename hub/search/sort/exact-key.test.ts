import assert from "node:assert/strict";
import { test } from "node:test";
import type { NumericColumn } from "#hub/engine/searcher/searcher.ts";
import { IndexFixture } from "#test/support/search/shards.ts";
import { ExactKey } from "./exact-key.ts";

test("only documents within the range that is wanted are read exactly", () => {
  const read: number[] = [];
  const values = Array.from({ length: 10 }, (_, at) => 2n ** 60n + BigInt(at) * 2n ** 40n + 1n);
  const column = {
    multiValued: false,
    min: 2 ** 60,
    max: 2 ** 61,
    first: (doc: number) => Number(values[doc]),
    readExact: (doc: number, out: bigint[]) => {
      read.push(doc);
      out[0] = values[doc]!;
      return 1;
    },
  } as unknown as NumericColumn;
  for (const sign of [1, -1] as const) {
    const key = new ExactKey({ column, sign, missing: 0, mode: "min", print: (value) => value });
    const [out, rest] = [new Float64Array(10), new Float64Array(10)];
    const ends = [sign * Number(values[3]), sign * Number(values[6])].toSorted((a, b) => a - b);
    const docs = Int32Array.from(values.keys());
    key.loadExact(docs, docs.length, out, rest, { from: ends[0]!, to: ends[1]! });
    assert.deepEqual(read, [3, 4, 5, 6]);
    assert.deepEqual([rest[2], rest[3]], [0, sign]);
    assert.deepEqual(
      [...out],
      [...docs].map((doc) => sign * Number(values[doc])),
    );
    read.length = 0;
  }
});

test("small numbers beside a far one, from which they are decoded, are sorted exactly", async () => {
  const index = new IndexFixture({
    mapping: { properties: { v: { type: "long" }, id: { type: "long" } } },
    docs: [
      ...Array.from({ length: 1_024 }, (_, at) => ({ v: at < 2 ? -3 : 1_000, id: at + 5 })),
      { v: "-9007199254740993", id: 4 },
      { v: -3, id: 1 },
    ],
  });
  try {
    assert.deepEqual(await index.ids({ sort: ["v", "id"], size: 2 }), ["1024", "1025"]);
  } finally {
    index.close();
  }
});
