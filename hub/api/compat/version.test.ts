import assert from "node:assert/strict";
import { test } from "node:test";
import { completeVersion, needsProductHeader, requestedVersion, warningAgent } from "./version.ts";

test("a version of one or two parts is completed", () => {
  assert.deepEqual(["7", "7.17", "6.5.4"].map(completeVersion), ["7.0.0", "7.17.0", "6.5.4"]);
});

test("the product header follows the version", () => {
  assert.deepEqual(["6.5.4", "7.13.4", "7.14.0", "8.1.0"].map(needsProductHeader), [
    false,
    false,
    true,
    true,
  ]);
});

test("warnings name the version that the request is answered in", () => {
  const accept = "application/vnd.elasticsearch+json; compatible-with=8";
  assert.equal(warningAgent("7.10.2", requestedVersion(710, {})), "Elasticsearch-7.10.2-d2ef93d");
  assert.equal(warningAgent("7.10.2", requestedVersion(710, { accept })), "Elasticsearch-8.0.0-d2ef93d");
});
