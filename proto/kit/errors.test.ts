import assert from "node:assert/strict";
import { test } from "node:test";
import { AppError, type ErrorCode, isErrorCode, systemCode, toAppError } from "./errors.ts";

for (const [code, status, retryable] of [
  ["internal", 500, false],
  ["unavailable", 503, true],
  ["journal_full", 429, true],
  ["request_too_large", 413, false],
  ["version_conflict", 409, false],
  ["unauthenticated", 401, false],
] as const satisfies readonly (readonly [ErrorCode, number, boolean])[]) {
  test(`${code} answers ${status}, and ${retryable ? "may" : "won't"} succeed later`, () => {
    const error = new AppError(code, "no");
    assert.deepEqual([error.status, error.retryable], [status, retryable]);
  });
}

test("an error keeps its cause, its detail and its public data separate from the message", () => {
  const cause = new Error("socket");
  const error = new AppError("unavailable", "the hub can't be reached", {
    cause,
    detail: "10.0.0.3",
    data: { index: "a" },
  });
  assert.equal(error.message, "the hub can't be reached");
  assert.deepEqual([error.cause, error.detail, error.data], [cause, "10.0.0.3", { index: "a" }]);
});

test("a foreign error becomes internal, and its text stays with the operator", () => {
  const error = toAppError(new TypeError("x is undefined in secret.ts"));
  assert.deepEqual(
    [error.code, error.message, error.detail],
    ["internal", "internal error", "x is undefined in secret.ts"],
  );
  assert.equal(toAppError("thrown text").detail, "thrown text");
});

test("one of ours passes unchanged", () => {
  const error = new AppError("forbidden", "no");
  assert.equal(toAppError(error), error);
});

test("codes off the wire are checked against the catalogue, not against what every object has", () => {
  assert.equal(isErrorCode("timeout"), true);
  assert.equal(isErrorCode("toString"), false);
  assert.equal(isErrorCode(""), false);
});

test("the system's code is read off any value", () => {
  assert.equal(systemCode(Object.assign(new Error("full"), { code: "ENOSPC" })), "ENOSPC");
  for (const value of [null, undefined, "text", {}, { code: 7 }]) assert.equal(systemCode(value), "");
});
