/** The requests of the cluster page to the search interface, with answers in the form that the page shows. */

import { callHub } from "#ui/services/hub/hub-client.ts";
import { asFacts } from "#ui/services/hub/json-call.ts";
import { valueText } from "#ui/services/search/log-document.ts";

type Json = Readonly<Record<string, unknown>>;

/** A hub of the cluster. Its load is undefined if only that hub itself has it. */
export interface ClusterNode {
  readonly name: string;
  readonly ip: string;
  readonly isMaster: boolean;
  /** Percent. */
  readonly cpu: number | undefined;
  readonly load: number | undefined;
  readonly heapBytes: number | undefined;
  readonly diskFreeBytes: number | undefined;
  readonly diskBytes: number | undefined;
}

/** A copy of a shard, or one that no node holds. */
export interface ShardCopy {
  readonly index: string;
  readonly shard: number;
  readonly isPrimary: boolean;
  /** `STARTED`, `INITIALIZING`, `RELOCATING` or `UNASSIGNED`. */
  readonly state: string;
  readonly docs: number;
  readonly sizeBytes: number;
  /** Undefined if it is unassigned. */
  readonly node: string | undefined;
}

/** A copy of a shard in transit to a node. */
export interface Recovery {
  readonly index: string;
  readonly shard: number;
  /** Undefined if no copy can be copied. */
  readonly from: string | undefined;
  readonly to: string;
}

/** A copy that no node holds. */
export interface UnassignedCopy {
  readonly index: string;
  readonly shard: number;
  /** Why no node holds it and what to do, in the hub's words. */
  readonly reason: string;
}

export interface RunningTask {
  /** `node:number` */
  readonly id: string;
  readonly action: string;
  readonly description: string;
  readonly runningMs: number;
  readonly isCancellable: boolean;
}

export interface ClusterState {
  readonly name: string;
  /** `green`, `yellow` or `red`. */
  readonly health: string;
  readonly unassigned: number;
  /** One of the unassigned copies, with its reason; undefined where every copy has a node. */
  readonly explained: UnassignedCopy | undefined;
  /** Share of the present copies, percent. */
  readonly presentPercent: number;
  readonly recoveries: readonly Recovery[];
  readonly nodes: readonly ClusterNode[];
  readonly shards: readonly ShardCopy[];
  readonly tasks: readonly RunningTask[];
}

const NODES_PATH =
  "/es/_cat/nodes?format=json&bytes=b&h=name,ip,master,cpu,load_1m,heap.current,disk.avail,disk.total";
const SHARDS_PATH = "/es/_cat/shards?format=json&bytes=b&h=index,shard,prirep,state,docs,store,node";
const RECOVERIES_PATH =
  "/es/_cat/recovery?format=json&active_only=true&h=index,shard,stage,source_node,target_node";
/** Explains the first copy that no node holds; answers with an error if each has one. */
const EXPLAIN_PATH = "/es/_cluster/allocation/explain";
/** The text of `_cat` for a copy without a source. */
const NO_NODE = "n/a";
/** The request for the list itself. */
const LIST_ACTION = "cluster:monitor/tasks/lists";
const NANOS_PER_MS = 1e6;

/** Returns the cluster as it is now. Throws HubError. */
export async function fetchCluster(signal: AbortSignal): Promise<ClusterState> {
  const get = (path: string): Promise<unknown> => callHub("GET", path, undefined, signal);
  const [health, nodes, shards, recoveries, tasks] = await Promise.all([
    get("/es/_cluster/health"),
    get(NODES_PATH),
    get(SHARDS_PATH),
    get(RECOVERIES_PATH),
    get("/es/_tasks?detailed=true&group_by=none"),
  ]);
  const known = { health, nodes, shards, recoveries, tasks };
  if (readCluster(known).unassigned === 0) return readCluster(known);
  // It may have found a node meanwhile.
  const explanation = await get(EXPLAIN_PATH).catch(() => undefined);
  return readCluster({ ...known, explanation });
}

/** Cancels a task. Throws HubError. */
export async function cancelTask(id: string, signal: AbortSignal): Promise<void> {
  await callHub("POST", `/es/_tasks/${encodeURIComponent(id)}/_cancel`, undefined, signal);
}

/** Answers of the search interface; `explanation` where a copy is unassigned. */
type Answers = Readonly<Record<"health" | "nodes" | "shards" | "recoveries" | "tasks", unknown>> & {
  readonly explanation?: unknown;
};

/** Returns what the answers say. */
export function readCluster(answers: Answers): ClusterState {
  const health = asFacts(answers.health);
  return {
    name: valueText(health["cluster_name"]),
    health: valueText(health["status"]),
    unassigned: Number(health["unassigned_shards"]) || 0,
    explained: readExplanation(asFacts(answers.explanation)),
    presentPercent: numberOf(health["active_shards_percent_as_number"]) ?? 100,
    recoveries: listOf(answers.recoveries).map(readRecovery),
    nodes: listOf(answers.nodes).map(readNode),
    shards: listOf(answers.shards).map(readShard),
    tasks: listOf(asFacts(answers.tasks)["tasks"])
      .filter(({ action }) => action !== LIST_ACTION)
      .map(readTask),
  };
}

function listOf(value: unknown): Json[] {
  return Array.isArray(value) ? value.map(asFacts) : [];
}

function readNode(row: Json): ClusterNode {
  return {
    name: valueText(row["name"]),
    ip: valueText(row["ip"]),
    isMaster: row["master"] === "*",
    cpu: numberOf(row["cpu"]),
    load: numberOf(row["load_1m"]),
    heapBytes: numberOf(row["heap.current"]),
    diskFreeBytes: numberOf(row["disk.avail"]),
    diskBytes: numberOf(row["disk.total"]),
  };
}

function readShard(row: Json): ShardCopy {
  const node = valueText(row["node"]);
  return {
    index: valueText(row["index"]),
    shard: Number(row["shard"]) || 0,
    isPrimary: row["prirep"] === "p",
    state: valueText(row["state"]),
    docs: Number(row["docs"]) || 0,
    sizeBytes: Number(row["store"]) || 0,
    node: node === "" ? undefined : node.split(" ", 1)[0],
  };
}

function readExplanation(answer: Json): UnassignedCopy | undefined {
  const reason = valueText(answer["allocate_explanation"]);
  if (reason === "") return undefined;
  return { index: valueText(answer["index"]), shard: Number(answer["shard"]) || 0, reason };
}

function readRecovery(row: Json): Recovery {
  const from = valueText(row["source_node"]);
  return {
    index: valueText(row["index"]),
    shard: Number(row["shard"]) || 0,
    from: from === "" || from === NO_NODE ? undefined : from,
    to: valueText(row["target_node"]),
  };
}

function readTask(task: Json): RunningTask {
  return {
    id: `${valueText(task["node"])}:${valueText(task["id"])}`,
    action: valueText(task["action"]),
    description: valueText(task["description"]),
    runningMs: Number(task["running_time_in_nanos"]) / NANOS_PER_MS || 0,
    isCancellable: task["cancellable"] === true,
  };
}

function numberOf(value: unknown): number | undefined {
  if (value === null || value === undefined || value === "") return undefined;
  const number = Number(value);
  return Number.isFinite(number) ? number : undefined;
}

/** The copies of an index by the node that holds them; undefined: held by none. */
export interface IndexShards {
  readonly index: string;
  readonly byNode: ReadonlyMap<string | undefined, readonly ShardCopy[]>;
  readonly sizeBytes: number;
}

/** Returns the shards by index, those without a node first, then by name. */
export function shardsByIndex(shards: readonly ShardCopy[]): readonly IndexShards[] {
  const indices = new Map<string, Map<string | undefined, ShardCopy[]>>();
  for (const copy of shards) {
    const byNode = indices.get(copy.index) ?? new Map<string | undefined, ShardCopy[]>();
    indices.set(copy.index, byNode);
    byNode.set(copy.node, [...(byNode.get(copy.node) ?? []), copy]);
  }
  const rows = [...indices].map(([index, byNode]) => ({
    index,
    byNode,
    sizeBytes: [...byNode.values()].flat().reduce((sum, copy) => sum + copy.sizeBytes, 0),
  }));
  const rank = ({ byNode }: IndexShards): number => (byNode.has(undefined) ? 0 : 1);
  return rows.toSorted((a, b) => rank(a) - rank(b) || a.index.localeCompare(b.index));
}
