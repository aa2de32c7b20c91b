import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { RawJson, writeJson } from "#hub/search/options/json-writer.ts";
import { AppError, toAppError } from "#proto/kit/errors.ts";
import { NumberText } from "#proto/kit/number-text.ts";
import { assertSharesThread } from "#test/support/kit/shared-thread.ts";
import { LateBucket } from "./late-bucket.ts";
import { decodeValue } from "./value-reader.ts";
import { encodeInSlices, encodeSteps, encodeValue } from "./value-writer.ts";

const VALUES: readonly unknown[] = [
  null,
  undefined,
  true,
  false,
  [0, 63, 64, -1, 2 ** 31 - 1, -(2 ** 31), 2 ** 31, 2 ** 53, 0.1, -0, Number.NaN, Number.NEGATIVE_INFINITY],
  [0, "0", -0, 5e-324, 70],
  ["", "a", "ü", "𝄞", "x".repeat(47), "x".repeat(48), "ü".repeat(300), "\ud800", "a\u0000b"],
  [9_223_372_036_854_775_807n, -1n, 0n],
  [[], [[]], [[[1]]], {}, { a: {} }],
  { z: 1, a: "text", "": "text", ü: undefined, "\udfff": 2, "1": 3 },
  Array.from({ length: 300 }, (_, at) => ({ [`key${at}`]: at, same: "same" })),
  Array.from({ length: 1000 }, (_, at) => ({ kind: `kind ${at}`, list: [at, at + 0.5] })),
  Uint8Array.of(0, 1, 255),
  new Map<unknown, unknown>([
    ["a", [1]],
    [2, new Map()],
  ]),
  new RawJson(new TextEncoder().encode('{"a":  1.0}')),
  Object.defineProperty({}, "__proto__", { value: 1, enumerable: true, configurable: true, writable: true }),
];

suite("an encoded value", () => {
  test("with a text of a number is decoded to raw JSON", () => {
    const decoded = decodeValue(encodeValue([new NumberText("5.0")]));
    assert.equal(writeJson(decoded), "[5.0]");
  });

  test("is decoded to an equal one", () => {
    for (const value of VALUES) assert.deepStrictEqual(decodeValue(encodeValue(value)), value);
    assert.deepStrictEqual(decodeValue(encodeValue(VALUES)), VALUES);
  });

  test("is the same made in steps", () => {
    const steps = encodeSteps(VALUES);
    let step = steps.next();
    let pauses = 0;
    for (; step.done !== true; step = steps.next()) pauses++;
    assert.ok(pauses > 10);
    assert.deepStrictEqual(decodeValue(step.value), VALUES);
  });

  test("may be made in slices of time, between which others have the thread", async () => {
    const range = (at: number) => ({ from: at, to: at + 5, terms: [`t${at}`] });
    const large = { aggs: { r: { ranges: Array.from({ length: 50_000 }, (_, at) => range(at)) } } };
    let bytes: Uint8Array = new Uint8Array(0);
    await assertSharesThread(async () => {
      bytes = await encodeInSlices(large);
    });
    assert.deepStrictEqual(decodeValue(bytes), large);
  });

  test("pauses within large items and objects, too", () => {
    const terms = Array.from({ length: 1_000 }, (_, at) => `t${at}`);
    const large = { should: Array.from({ length: 64 }, () => ({ terms })) };
    const members = Object.fromEntries(terms.map((term) => [term, term]));
    const nested = Array.from({ length: 30 }, () =>
      Array.from({ length: 30 }, () => ({ terms: ["a", "b"] })),
    );
    for (const [value, least] of [
      [large, 64 * 15],
      [members, 15],
      [nested, 40],
    ] as const)
      assert.ok([...encodeSteps(value, true)].length >= least);
  });

  test("isn't changed by those encoded meanwhile and afterwards", () => {
    const steps = encodeSteps(VALUES);
    steps.next();
    const meanwhile = encodeValue(["meanwhile", "x".repeat(5_000)]);
    let step = steps.next();
    while (step.done !== true) step = steps.next();
    for (const size of [10, 400_000, 10]) encodeValue(["afterwards", "y".repeat(size)]);
    assert.deepStrictEqual(decodeValue(meanwhile), ["meanwhile", "x".repeat(5_000)]);
    assert.deepStrictEqual(decodeValue(step.value), VALUES);
  });

  test("keeps errors with what they hold", () => {
    const cause = new AppError("query_shard", "no mapping", { data: { index: "a" } });
    const error = new AppError("internal", "all failed", {
      cause,
      detail: "d",
      data: { failures: [{ error: cause }] },
    });
    const decoded = decodeValue(encodeValue({ error })) as { error: AppError };
    assert.ok(decoded.error instanceof AppError && decoded.error.cause instanceof AppError);
    assert.deepStrictEqual(decoded.error.data, error.data);
    assert.equal(decoded.error.detail, "d");
    assert.equal(decoded.error.cause.message, "no mapping");
  });

  test("keeps for the log where an error that isn't of the catalogue comes from", () => {
    const error = toAppError(new TypeError("x is not a function"));
    const decoded = decodeValue(encodeValue(error)) as AppError;
    assert.deepEqual([decoded.code, decoded.detail], ["internal", "x is not a function"]);
    assert.match(String((decoded.cause as Error).message), /x is not a function/);
  });

  test("has states below buckets that are read when they are wanted, in any order", () => {
    const below = (at: number): Record<string, unknown> => ({
      [`mean${at % 5}`]: { count: at, kind: "raw" },
    });
    const buckets = Array.from({ length: 50 }, (_, at) => new LateBucket(`host ${at}`, at, () => below(at)));
    const decoded = decodeValue(encodeValue({ buckets })) as { buckets: LateBucket[] };
    for (const at of [49, 3, 0, 17]) {
      assert.deepStrictEqual(decoded.buckets[at]!.below, below(at));
      assert.equal(decoded.buckets[at]!.key, `host ${at}`);
    }
  });

  test("that is cut off or of another version is refused", () => {
    const bytes = encodeValue(VALUES);
    for (let length = 0; length < bytes.length; length += 97)
      assert.throws(() => decodeValue(bytes.subarray(0, length)), { code: "data_corrupt" });
    const other = encodeValue(1).slice();
    other[0] = 9;
    assert.throws(() => decodeValue(other), /its version is 9, not 1/);
  });

  test("of a class that can't be sent is refused", () => {
    assert.throws(() => encodeValue({ a: new Set() }), { code: "internal" });
    assert.throws(() => encodeValue(() => 1), { code: "internal" });
  });
});
