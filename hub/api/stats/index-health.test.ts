import assert from "node:assert/strict";
import { test } from "node:test";
import type { NodeInfo } from "#hub/api/ports/cluster.ts";
import type { IndexInfo } from "#hub/api/ports/indices.ts";
import {
  clusterHealth,
  comingCopies,
  type HealthSource,
  indexHealth,
  type ShardHealth,
  shardCopies,
} from "./index-health.ts";

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

const among = (count: number): HealthSource => ({ nodes: () => nodes(count) });

for (const [shards, replicas, hubs, status, active, unassigned] of [
  [3, 0, 1, "green", 3, 0],
  [3, 1, 1, "yellow", 3, 3],
  [3, 1, 2, "green", 6, 0],
  [3, 2, 2, "yellow", 6, 3],
  [3, 0, 2, "green", 3, 0],
] as const) {
  test(`${shards} shards with ${replicas} replicas on ${hubs} hubs are ${status}`, () => {
    const found = indexHealth(index(shards, replicas), among(hubs));
    const none = { relocating: 0, initializing: 0, delayed: 0 };
    assert.deepEqual(found, { status, primaries: shards, active, unassigned, ...none });
  });
}

test("the primary is on the hub with the duties, and every hub reports the same", () => {
  const seen = nodes(3);
  const ids = (all: NodeInfo[]): string[] =>
    shardCopies(index(1, 1), 0, { nodes: () => all }).started.map(({ id }) => id);
  assert.deepEqual(ids(seen), ["n2", "n0"]);
  assert.deepEqual(ids(seen.toReversed()), ids(seen));
});

test("one index that lacks a copy makes the cluster yellow", () => {
  assert.equal(clusterHealth([index(1, 0), index(1, 2)], among(2)).status, "yellow");
});

/** Of a shard with one replica on hubs n0 to n2: who shall have it, who has it, and what is counted. */
const PLACED: [
  what: string,
  holders: string,
  having: string,
  status: string,
  counts: Partial<ShardHealth>,
][] = [
  ["both are there", "n0 n1", "n0 n1", "green", { active: 2 }],
  ["a copy more than wanted isn't counted", "n0 n1", "n0 n1 n2", "green", { active: 2 }],
  ["a copy is made", "n0 n1", "n0", "yellow", { active: 1, initializing: 1 }],
  ["a copy is moved", "n0 n2", "n0 n1", "green", { active: 2, relocating: 1 }],
  ["a hub is lost", "n0 n9", "n0", "yellow", { active: 1, unassigned: 1, delayed: 1 }],
  ["no other hub is free", "n0", "n0", "yellow", { active: 1, unassigned: 1 }],
  ["the only hubs are lost", "n8 n9", "", "red", { primaries: 0, unassigned: 2, delayed: 2 }],
  ["no hub has it yet", "n0 n1", "", "red", { primaries: 0, initializing: 2 }],
];
for (const [what, holders, having, status, counts] of PLACED)
  test(`placed copies: ${what}`, () => {
    const ids = (text: string): string[] => text.split(" ").filter((id) => id !== "");
    const placement = () => ({ holders: ids(holders), having: ids(having) });
    const none = { active: 0, relocating: 0, initializing: 0, unassigned: 0, delayed: 0 };
    assert.deepEqual(indexHealth(index(1, 1), { ...among(3), placement }), {
      status,
      primaries: 1,
      ...none,
      ...counts,
    });
  });

test("copies on their way have a hub that has them, where there is one", () => {
  const source = (holders: string[], having: string[]): HealthSource => ({
    ...among(3),
    placement: () => ({ holders, having }),
  });
  const found = (...given: Parameters<typeof source>): (string | undefined)[][] =>
    comingCopies(index(1, 1), source(...given)).map(({ from, to }) => [from?.id, to.id]);
  assert.deepEqual(found(["n0", "n2"], ["n0", "n1"]), [["n1", "n2"]]);
  assert.deepEqual(found(["n0", "n1"], ["n0"]), [["n0", "n1"]]);
  assert.deepEqual(found(["n1"], []), [[undefined, "n1"]]);
  assert.deepEqual(comingCopies(index(1, 1), among(3)), []);
});
