import assert from "node:assert/strict";
import { test } from "node:test";
import { AppError } from "#proto/kit/errors.ts";
import { decodeValue, encodeValue, errorOf, plainError } from "./values.ts";

test("values keep big whole numbers, infinities, maps, bytes and what isn't there", () => {
  const value = {
    long: 9_007_199_254_740_993n,
    inf: Number.NEGATIVE_INFINITY,
    map: new Map([["a", [1]]]),
    bytes: new Uint8Array([1, 2]),
    none: undefined,
  };
  assert.deepEqual(decodeValue(encodeValue(value)), value);
});

test("an error comes back with its causes and the errors in its data", () => {
  const inner = new AppError("query_shard", "no mapping", { data: { index: "a" } });
  const outer = new AppError("query_shard", "all shards failed", {
    cause: inner,
    detail: "for the log",
    data: { failures: [{ index: "a", shard: 0, error: inner }] },
  });
  const back = errorOf(decodeValue(encodeValue(plainError(outer))));
  assert.ok(back instanceof AppError);
  assert.deepEqual([back.code, back.message, back.detail], [outer.code, outer.message, outer.detail]);
  const [failure] = back.data["failures"] as { error: unknown }[];
  assert.ok(failure?.error instanceof AppError && back.cause instanceof AppError);
  assert.deepEqual(failure.error.data, { index: "a" });
});

test("an error of no catalogue becomes internal, with its text for the log", () => {
  const back = errorOf(decodeValue(encodeValue(plainError(new TypeError("x is not a function")))));
  assert.deepEqual([back.code, back.detail], ["internal", "x is not a function"]);
  assert.match(String((back.cause as Error).message), /x is not a function/);
});
