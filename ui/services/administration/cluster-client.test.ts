import assert from "node:assert/strict";
import { test } from "node:test";
import { readCluster, shardsByIndex } from "./cluster-client.ts";

const shard = (index: string, number: number, prirep: string, node: string | null): object => ({
  index,
  shard: String(number),
  prirep,
  state: node === null ? "UNASSIGNED" : "STARTED",
  docs: node === null ? null : "7",
  store: node === null ? null : "1000",
  node,
});

const ANSWERS = {
  health: {
    cluster_name: "shop",
    status: "yellow",
    unassigned_shards: 1,
    active_shards_percent_as_number: 75,
  },
  nodes: [
    {
      name: "hub-1",
      ip: "10.0.0.1",
      master: "*",
      cpu: "12",
      load_1m: "0.50",
      "heap.current": "100",
      "disk.avail": "5",
    },
    { name: "hub-2", ip: "10.0.0.2", master: "-", cpu: null, load_1m: null },
  ],
  shards: [
    shard("logs-1", 0, "p", "hub-1"),
    shard("logs-1", 0, "r", "hub-2"),
    shard("visits", 0, "p", "hub-1"),
    shard("visits", 0, "r", null),
  ],
  recoveries: [
    { index: "logs-1", shard: "0", stage: "index", source_node: "hub-1", target_node: "hub-2" },
    { index: "visits", shard: "0", stage: "init", source_node: "n/a", target_node: "hub-2" },
  ],
  tasks: {
    tasks: [
      { node: "n1", id: 4, action: "cluster:monitor/tasks/lists", running_time_in_nanos: 0 },
      {
        node: "n1",
        id: 3,
        action: "indices:data/write/reindex",
        description: "reindex from [a]",
        running_time_in_nanos: 2e9,
        cancellable: true,
      },
    ],
  },
};

test("the answers of nodes, shards, recoveries and tasks are read, what a node doesn't know of others stays open", () => {
  const state = readCluster(ANSWERS);
  assert.deepEqual([state.name, state.health, state.unassigned], ["shop", "yellow", 1]);
  assert.deepEqual(
    state.nodes.map(({ name, isMaster, cpu, load, diskFreeBytes }) => [
      name,
      isMaster,
      cpu,
      load,
      diskFreeBytes,
    ]),
    [
      ["hub-1", true, 12, 0.5, 5],
      ["hub-2", false, undefined, undefined, undefined],
    ],
  );
  assert.equal(state.presentPercent, 75);
  assert.deepEqual(state.recoveries, [
    { index: "logs-1", shard: 0, from: "hub-1", to: "hub-2" },
    { index: "visits", shard: 0, from: undefined, to: "hub-2" },
  ]);
  assert.deepEqual(state.tasks, [
    {
      id: "n1:3",
      action: "indices:data/write/reindex",
      description: "reindex from [a]",
      runningMs: 2_000,
      isCancellable: true,
    },
  ]);
});

test("indices with copies that no node holds come first", () => {
  const rows = shardsByIndex(readCluster(ANSWERS).shards);
  assert.deepEqual(
    rows.map(({ index, byNode, sizeBytes }) => [index, [...byNode.keys()], sizeBytes]),
    [
      ["visits", ["hub-1", undefined], 1_000],
      ["logs-1", ["hub-1", "hub-2"], 2_000],
    ],
  );
});

test("answers of another form are an empty cluster", () => {
  const state = readCluster({ health: null, nodes: {}, shards: "x", recoveries: 3, tasks: undefined });
  assert.deepEqual([state.nodes, state.shards, state.tasks, state.unassigned], [[], [], [], 0]);
});

test("the reason why a copy is on no node is that of the hub", () => {
  const reason = "each copy needs a node of its own";
  const explanation = { index: "visits", shard: 2, primary: false, allocate_explanation: reason };
  assert.deepEqual(readCluster({ ...ANSWERS, explanation }).explained, { index: "visits", shard: 2, reason });
  assert.equal(readCluster(ANSWERS).explained, undefined);
  // A copy that begins to be copied has a node.
  const assigned = { index: "visits", shard: 2, current_state: "initializing" };
  assert.equal(readCluster({ ...ANSWERS, explanation: assigned }).explained, undefined);
});
