import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { replicasFor } from "./replicas.ts";

const [one, two, three] = [["a"], ["a", "b"], ["a", "b", "c"]] as const;

describe("replicas of streams and buckets", () => {
  for (const [name, configured, servers, cluster, expected] of [
    ["three servers of a cluster hold three", undefined, three, "nats", 3],
    ["two named servers of a cluster hold one, since two can't lose any", undefined, two, "nats", 1],
    ["three addresses of a single server hold one", undefined, three, undefined, 1],
    ["the setting is followed in a cluster, however many servers are named", 5, one, "nats", 5],
    ["a single server holds one where that is set", 1, one, undefined, 1],
  ] as const) {
    test(name, () => assert.equal(replicasFor(configured, { servers, cluster }), expected));
  }

  test("several on a single server are refused", () => {
    assert.throws(() => replicasFor(3, { servers: one, cluster: undefined }), {
      code: "nats_refused",
      message: /nats\.replicas is 3/,
    });
  });
});
