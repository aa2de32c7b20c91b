import assert from "node:assert/strict";
import { test } from "node:test";
import { itemError, validationError } from "./error-body.ts";

test("the error for a request that violates rules numbers the problems, and carries them as they are", () => {
  const problems = ["[a; 2: b] is unknown", "c is missing"];
  const error = validationError(problems);
  assert.deepEqual(error.data["problems"], problems);
  assert.deepEqual(itemError(error), {
    type: "action_request_validation_exception",
    reason: "Validation Failed: 1: [a; 2: b] is unknown;2: c is missing;",
  });
});
