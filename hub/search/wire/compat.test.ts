/** Calls and replies as earlier versions wrote them are still read. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { RawJson } from "#hub/search/options/json-writer.ts";
import { AppError } from "#proto/kit/errors.ts";
import { LateBucket } from "./late-bucket.ts";
import { decodeValue } from "./value-reader.ts";
import { encodeValue } from "./value-writer.ts";

const FILE = new URL("../../../test/compat/search-1/values.bin", import.meta.url);

const ERROR =
  "01220000000f060b71756572795f736861726406086e6f206669656c64018008000101010605696e6465780106046c6f6773";

/** Every kind of value. */
function sample(): unknown {
  return {
    scalars: [null, undefined, true, false, 0, 63, 64, -1, 0.5, -0, Number.POSITIVE_INFINITY, 2n ** 63n],
    texts: ["", "a", "ü", "\ud800", "x".repeat(100)],
    numbers: [1.5, 2, 3],
    hits: [
      { ranks: [-1.5, "a"], shardOrder: 0, segmentOrder: 2, doc: 70_000 },
      { ranks: [-1, "b"], shardOrder: 1, segmentOrder: 0, doc: 5 },
    ],
    bytes: Uint8Array.of(0, 127, 255),
    source: new RawJson(new TextEncoder().encode('{"n":  1.0}')),
    buckets: [new LateBucket("key", 7, () => ({ mean: { sum: 1.25, format: { kind: "raw" } } }))],
    many: Object.fromEntries(Array.from({ length: 130 }, (_, at) => [`k${at}`, { [`m${at}`]: at }])),
  };
}

test("version 1 is read, and written, as it was", () => {
  const frozen = readFileSync(FILE);
  const wanted = sample();
  assert.deepEqual(Buffer.from(encodeValue(wanted)), frozen);
  const read = decodeValue(frozen) as { buckets: LateBucket[] };
  assert.deepEqual(read.buckets[0]!.below, { mean: { sum: 1.25, format: { kind: "raw" } } });
  assert.deepEqual(Buffer.from(encodeValue(read)), frozen);
});

test("an error of version 1 is read", () => {
  const frozen = Buffer.from(ERROR, "hex");
  const error = decodeValue(frozen) as AppError;
  assert.ok(error instanceof AppError);
  assert.deepEqual([error.code, error.message, error.data], ["query_shard", "no field", { index: "logs" }]);
});
