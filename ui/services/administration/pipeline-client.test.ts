import assert from "node:assert/strict";
import { test } from "node:test";
import { changesOf } from "./pipeline-client.ts";

test("what a step did is told field by field", () => {
  const before = { message: "GET /", tags: ["a"], http: { method: "GET" } };
  const after = { message: "GET /", tags: ["a", "b"], http: { status: 200 } };
  assert.deepEqual(changesOf(before, after), [
    { field: "tags", kind: "changed", value: "a, b" },
    { field: "http.status", kind: "added", value: "200" },
    { field: "http.method", kind: "removed", value: "GET" },
  ]);
});
