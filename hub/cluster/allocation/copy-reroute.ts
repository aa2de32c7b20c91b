/** Manual changes of the table of copies: move a copy, make one, or cancel a move. The allocator keeps what fits. */

import type { CopyTable } from "./copy-table.ts";

/** Why nothing is changed if copies aren't placed. */
export const EVERYWHERE =
  "every hub has a copy of each shard (cluster.copies: all), or copies aren't placed yet: none can be moved, made or cancelled";

/** One command of a request. Hubs are named by their ids. */
export type RerouteCommand = { readonly uuid: string; readonly shard: number } & (
  | { readonly command: "move"; readonly from: string; readonly to: string }
  | { readonly command: "allocate_replica" | "cancel"; readonly node: string }
);

export interface RerouteInput {
  readonly copies: CopyTable["copies"];
  /** Copies of the shard that are wanted. */
  readonly wanted: number;
  /** Ids of the live hubs. */
  readonly live: ReadonlySet<string>;
  /** Returns whether a hub has a whole copy of the shard. */
  readonly has: (id: string) => boolean;
}

/** The table after a command, or why it can't be done. */
export type Rerouted = { readonly copies: CopyTable["copies"] } | { readonly refusal: string };

/** Applies the commands one after the other. Returns the table, and for each command why it can't be done, or null. */
export function rerouteAll(
  before: CopyTable["copies"],
  commands: readonly (RerouteCommand & { readonly wanted: number })[],
  live: ReadonlySet<string>,
  view: { has(id: string, uuid: string, shard: number): boolean },
): { readonly copies: CopyTable["copies"]; readonly refusals: readonly (string | null)[] } {
  let copies = before;
  const refusals = commands.map((command): string | null => {
    const { uuid, shard, wanted } = command;
    const has = (id: string): boolean => view.has(id, uuid, shard);
    const found = reroute(command, { copies, wanted, live, has });
    if ("refusal" in found) return found.refusal;
    copies = found.copies;
    return null;
  });
  return { copies, refusals };
}

/** Returns the result of a command. The other holders must have the shard before a copy is dropped. */
export function reroute(command: RerouteCommand, input: RerouteInput): Rerouted {
  const { uuid, shard } = command;
  const holders = input.copies[uuid]?.[shard];
  if (holders === undefined) return { refusal: "the shard isn't placed yet: it is at every hub" };
  const changed = changedHolders(command, holders, input);
  if (typeof changed === "string") return { refusal: changed };
  const shards = input.copies[uuid]!.map((ids, at) => (at === shard ? changed : ids));
  return { copies: { ...input.copies, [uuid]: shards } };
}

/** Returns the holders after a command, or why it can't be done. */
function changedHolders(
  command: RerouteCommand,
  holders: readonly string[],
  { wanted, live, has }: RerouteInput,
): readonly string[] | string {
  const target = command.command === "move" ? command.to : command.node;
  if (command.command === "cancel") return cancelled(target, holders, live, has);
  if (!live.has(target)) return "the node isn't a live hub of the cluster";
  if (holders.includes(target)) return "the node has a copy of the shard, or gets one already";
  if (![...live].some(has)) return "no live hub has a whole copy to make one of";
  if (command.command === "move") {
    if (!holders.includes(command.from)) return "the node that it is to leave has no copy of the shard";
    return holders.map((id) => (id === command.from ? command.to : id));
  }
  const there = holders.filter((id) => live.has(id));
  if (there.length >= wanted)
    return `all ${wanted} copies of the shard have their nodes: set number_of_replicas higher, or move one`;
  // A lost hub may get its copy back as long as a copy is missing.
  const lost = holders.filter((id) => !live.has(id));
  return [...there, target, ...lost.slice(0, wanted - there.length - 1)];
}

/** Cancels a move while the copy is in transit. */
function cancelled(
  node: string,
  holders: readonly string[],
  live: ReadonlySet<string>,
  has: (id: string) => boolean,
): readonly string[] | string {
  if (!holders.includes(node)) return "the node has no copy of the shard, nor gets one";
  if (has(node)) return "the copy is there: move it, or set number_of_replicas lower";
  const from = [...live].filter((id) => !holders.includes(id) && has(id)).sort()[0];
  if (from === undefined)
    return "the copy is one that is missing, and would be made again: set number_of_replicas lower, or move it";
  return holders.map((id) => (id === node ? from : id));
}
