import assert from "node:assert/strict";
import { test } from "node:test";
import type { Field } from "#hub/engine/mapping/field.ts";
import type { NumericColumn, SegmentReader } from "#hub/engine/searcher/searcher.ts";
import { MIB } from "#proto/kit/units.ts";
import { NumericKeySource } from "./numeric-key.ts";

/** A column whose value of a document is twice its number. */
const COLUMN = {
  multiValued: false,
  first: (doc: number) => 2 * doc,
  decodeBlock: (block: number, into: Float64Array) => {
    for (let at = 0; at < into.length; at++) into[at] = 2 * (block * into.length + at);
  },
} as unknown as NumericColumn;
const SEGMENT = { numericColumn: () => COLUMN } as unknown as SegmentReader;
const SOURCE = new NumericKeySource(
  { path: "n", type: "long" } as Field,
  { kind: "field", field: "n", descending: false, missing: "_last" } as never,
  Number,
);
const KEYS = 2_000;

test("keys of many buckets, each of a few documents, take no block of values each", () => {
  const out = new Float64Array(1);
  const before = process.memoryUsage().arrayBuffers;
  const keys = Array.from({ length: KEYS }, (_, at) => {
    const key = SOURCE.segment(SEGMENT);
    key.load(Int32Array.of(at), null, 1, out);
    assert.equal(out[0], 2 * at);
    return key;
  });
  const taken = process.memoryUsage().arrayBuffers - before;
  assert.ok(taken < 4 * MIB, `${taken} bytes for ${keys.length} keys`);
});

test("documents that lie close together have the values of their block, and those after it too", () => {
  const key = SOURCE.segment(SEGMENT);
  const docs = Int32Array.from({ length: 100 }, (_, at) => 1_000 + at);
  const out = new Float64Array(docs.length);
  key.load(docs, null, docs.length, out);
  assert.deepEqual(
    [...out],
    [...docs].map((doc) => 2 * doc),
  );
  key.load(Int32Array.of(1_100, 9_000), null, 2, out);
  assert.deepEqual([...out.subarray(0, 2)], [2_200, 18_000]);
});
