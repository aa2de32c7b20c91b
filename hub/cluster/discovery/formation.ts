/**
 * Decides whether a hub may start its part of the cluster's store. Pure; README.md has the decision table and the failure
 * cases.
 */

import type { Hello, StoreState } from "./hello.ts";

/** Minimum number of hubs: with two, neither may be lost. */
export const SMALLEST_CLUSTER = 3;

/**
 * `start`: continue with its own store. `found`: make the store together with the others. `join`: a new or emptied hub gets
 * its part from the others. `wait`: ask again.
 */
export type Decision = "start" | "found" | "join" | "wait";

/** Returns the number of hubs that can elect a leader. */
export function quorumOf(size: number): number {
  return Math.floor(size / 2) + 1;
}

/** `size`: hubs of the cluster, this one included. `others`: those that answered. */
export function decide(own: StoreState, size: number, others: readonly Hello[]): Decision {
  if (own !== "empty") return "start";
  // Files alone don't count: servers that don't run yet could elect one whose store was emptied.
  if (others.filter(({ led }) => led).length >= quorumOf(size)) return "join";
  const ready = others.filter((other) => other.size > 0).length;
  return others.every(({ store }) => store !== "formed") && ready === size - 1 ? "found" : "wait";
}

/** The values on which a hub must agree with the others. */
export type Agreed = Pick<Hello, "node" | "cluster" | "id" | "size" | "store" | "grows">;

/** Returns why this hub must not start beside `other`, with the remedy; undefined: it may. */
export function conflictWith(own: Agreed, other: Hello, address: string): string | undefined {
  const there = `the hub "${other.node}" at ${address}`;
  if (other.cluster !== own.cluster)
    return `${there} belongs to the cluster "${other.cluster}", but cluster.name is "${own.cluster}": set the same cluster.name on all hubs, or remove ${address} from discovery.seed_hosts`;
  if (other.node === own.node)
    return `the hub at ${address} is named "${own.node}" as well: set node.name to a name of its own on each hub`;
  if (other.id !== "" && own.id !== "" && other.id !== own.id)
    return `the data folder of this hub belongs to another cluster than that of ${there}: set path.data to a new folder, and the hub joins the others`;
  return conflictOfData(own, other, there);
}

/** Returns why the log of this single hub can't become that of a cluster with `other`; undefined: it can, or it has none. */
function conflictOfData(own: Agreed, other: Hello, there: string): string | undefined {
  const { grows = "" } = own;
  if (grows === "" || own.store !== "empty") return undefined;
  const isOfAnother = (other.grows ?? "") !== grows;
  if (other.store === "formed" || (other.store === "founding" && isOfAnother))
    return `${there} has the store of a cluster, into which the data of this single hub can't be merged: set path.data to a new folder, and copy the indices with "tailrace-hub import cluster"; or, where that cluster holds nothing, empty the data folders of its hubs`;
  if (other.store === "empty" && isOfAnother && (other.grows ?? "") !== "")
    return `this hub and ${there} both hold the data of a single hub, of which only one's can become the cluster's: set path.data of the other to a new folder, and copy its indices later with "tailrace-hub import cluster"`;
  return undefined;
}

/** Returns the UUID of the single hub whose log the founders' store gets; empty: none. */
export function grownFrom(own: Pick<Hello, "grows">, others: readonly Pick<Hello, "grows">[]): string {
  return [own, ...others].map(({ grows = "" }) => grows).find((grows) => grows !== "") ?? "";
}

/**
 * Returns why these hubs must not found a store together; undefined: they may. Later the numbers may differ, while hubs are
 * added.
 */
export function conflictOfFounders(own: Agreed, others: readonly Hello[]): string | undefined {
  const old = others.find(({ grows }) => grows === undefined);
  if (old !== undefined && grownFrom(own, others) !== "")
    return `"${old.node}" runs version ${old.release}, which can't wait for the data of a single hub: install the same version on all hubs`;
  const other = others.find(({ size }) => size !== own.size);
  if (other === undefined) return undefined;
  return `discovery.seed_hosts names ${own.size} hubs here and ${other.size} on "${other.node}": give all hubs the same list`;
}
