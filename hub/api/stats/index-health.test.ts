import assert from "node:assert/strict";
import { test } from "node:test";
import type { NodeInfo } from "#hub/api/ports/cluster.ts";
import type { IndexInfo } from "#hub/api/ports/indices.ts";
import { clusterHealth, copyNodes, indexHealth } from "./index-health.ts";

function nodes(count: number): NodeInfo[] {
  return Array.from({ length: count }, (_, at) => ({
    id: `n${at}`,
    name: `hub-${at}`,
    attributes: {},
    host: "",
    httpAddress: "",
    transportAddress: "",
    master: at === count - 1,
  }));
}

function index(shards: number, replicas: number): IndexInfo {
  return { settings: { numberOfShards: shards, numberOfReplicas: replicas } } as IndexInfo;
}

for (const [shards, replicas, hubs, status, active, unassigned] of [
  [3, 0, 1, "green", 3, 0],
  [3, 1, 1, "yellow", 3, 3],
  [3, 1, 2, "green", 6, 0],
  [3, 2, 2, "yellow", 6, 3],
  [3, 0, 2, "green", 3, 0],
] as const) {
  test(`${shards} shards with ${replicas} replicas on ${hubs} hubs are ${status}`, () => {
    const found = indexHealth(index(shards, replicas), nodes(hubs));
    assert.deepEqual(found, { status, primaries: shards, active, unassigned });
  });
}

test("the primary is on the hub with the duties, and every hub reports the same", () => {
  const seen = nodes(3);
  const ids = copyNodes(index(1, 1), seen).map(({ id }) => id);
  assert.deepEqual(ids, ["n2", "n0"]);
  assert.deepEqual(
    copyNodes(index(1, 1), seen.toReversed()).map(({ id }) => id),
    ids,
  );
});

test("one index that lacks a copy makes the cluster yellow", () => {
  assert.equal(clusterHealth([index(1, 0), index(1, 2)], nodes(2)).status, "yellow");
});
