/** `_cluster/reroute`: moves or allocates shard copies, or cancels that, if copies are placed by a table. */

import type { ApiContext } from "#hub/api/context/api-context.ts";
import type { ApiRequest } from "#hub/api/http/request.ts";
import { type ApiResponse, json } from "#hub/api/http/route.ts";
import type { ShardCommand } from "#hub/api/ports/cluster.ts";
import { AppError } from "#proto/kit/errors.ts";
import { isObject, type JsonObject } from "#proto/kit/json.ts";
import { clusterState, STATE_METRICS } from "./cluster-state.ts";

/** Maximum number of commands of one request. */
const MAX_COMMANDS = 1_000;
/** Commands that would create a shard without its documents. */
const LOSING = ["allocate_stale_primary", "allocate_empty_primary"];

/** A command as given, with its meaning or the reason why it can't be executed. */
interface Asked {
  readonly name: string;
  readonly given: JsonObject;
  readonly meant: ShardCommand | string;
}

export async function reroute(parts: ApiContext, request: ApiRequest): Promise<ApiResponse> {
  const { commands = [] } = request.object();
  if (!Array.isArray(commands)) throw new AppError("parsing", "[commands] must be a list");
  if (commands.length > MAX_COMMANDS)
    throw new AppError("request_invalid", `[commands] has more than ${MAX_COMMANDS} commands`);
  const explains = request.flag("explain") ?? false;
  const asked = commands.map((command: unknown) => readCommand(parts, command));
  const mode = (request.flag("dry_run") ?? false) ? "dry_run" : explains ? "possible" : "all";
  const refusals = await run(parts, asked, mode);
  const at = refusals.findIndex((each) => each !== null);
  if (at >= 0 && !explains)
    throw new AppError("request_invalid", `[${asked[at]!.name}] can't be done: ${refusals[at]}`);
  const metrics = request.list("metric") ?? STATE_METRICS.filter((metric) => metric !== "metadata");
  return json({
    acknowledged: true,
    state: clusterState(parts, metrics, parts.indices.all()),
    ...(explains && { explanations: asked.map((each, order) => explanation(each, refusals[order]!)) }),
  });
}

/** Returns for each command why it can't be executed, or null. */
async function run(
  { cluster }: ApiContext,
  asked: readonly Asked[],
  mode: "all" | "possible" | "dry_run",
): Promise<readonly (string | null)[]> {
  const known = asked.flatMap(({ meant }) => (typeof meant === "string" ? [] : [meant]));
  // If one command can't be executed, none is.
  const isWhole = known.length === asked.length || mode === "possible";
  const found = await cluster.reroute?.(known, isWhole ? mode : "dry_run");
  const refusals = [...(found ?? known.map(() => "copies of shards aren't placed"))];
  return asked.map(({ meant }) => (typeof meant === "string" ? meant : refusals.shift()!));
}

/** Throws parsing, request_invalid, index_missing. */
function readCommand(parts: ApiContext, command: unknown): Asked {
  const [entry, ...more] = isObject(command) ? Object.entries(command) : [];
  if (entry === undefined || more.length > 0 || !isObject(entry[1]))
    throw new AppError("parsing", "each of [commands] must be an object with the name of one command");
  const [name, given] = entry;
  return { name, given, meant: meaning(parts, name, given) };
}

function meaning({ indices, cluster }: ApiContext, name: string, given: JsonObject): ShardCommand | string {
  if (LOSING.includes(name)) return "it would make a shard without its documents";
  if (name !== "move" && name !== "allocate_replica" && name !== "cancel")
    throw new AppError("parsing", `unknown command [${name}]: move, allocate_replica and cancel are known`);
  const { index: text, shard } = given;
  if (typeof text !== "string" || typeof shard !== "number")
    throw new AppError("parsing", `[${name}] needs [index] and [shard]`);
  const [index] = indices.resolve(text, { allowNoIndices: false, expandWildcards: "all" });
  const { numberOfShards, numberOfReplicas } = index!.settings;
  if (!Number.isInteger(shard) || shard < 0 || shard >= numberOfShards)
    return `the index [${text}] has no shard [${shard}]`;
  const idOf = (parameter: string): string => {
    const node = given[parameter];
    if (typeof node !== "string") throw new AppError("parsing", `[${name}] needs [${parameter}]`);
    return cluster.nodes().find((each) => each.id === node || each.name === node)?.id ?? node;
  };
  const shared = { uuid: index!.uuid, shard, wanted: 1 + numberOfReplicas };
  if (name === "move") return { ...shared, command: name, from: idOf("from_node"), to: idOf("to_node") };
  return { ...shared, command: name, node: idOf("node") };
}

function explanation({ name, given }: Asked, refusal: string | null): JsonObject {
  return {
    command: name,
    parameters: { ...given, ...(name !== "move" && { allow_primary: false }) },
    decisions: [
      {
        decider: `${name}_allocation_command`,
        decision: refusal === null ? "YES" : "NO",
        explanation: refusal === null ? "the copy is assigned" : `[${name}] can't be done: ${refusal}`,
      },
    ],
  };
}
