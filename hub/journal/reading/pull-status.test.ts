import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { pullStatus } from "./pull-status.ts";

describe("statuses of a pull", () => {
  for (const [code, description, expected] of [
    [100, "Idle Heartbeat", "alive"],
    [404, "No Messages", "over"],
    [408, "Request Timeout", "over"],
    [408, "Interest Expired", "over"],
    [409, "Batch Completed", "alive"],
    [409, "Message Size Exceeds MaxBytes", "too-large"],
    [409, "Consumer Deleted", "lost"],
    [409, "Leadership Change", "lost"],
    [503, "", "lost"],
  ] as const) {
    test(`${code} ${description} is ${expected}`, () =>
      assert.equal(pullStatus(code, description), expected));
  }
});
