/** The parameter `preference` of a search: which shards it reads, and whose copies of them. */

import { meantNodes } from "#hub/api/parameters/meant-nodes.ts";
import type { NodeInfo } from "#hub/api/ports/cluster.ts";
import type { CopyWish } from "#hub/host/contract/calls.ts";
import { warnDeprecated } from "#hub/search/options/request-version.ts";
import { AppError } from "#proto/kit/errors.ts";

/** What a preference means. */
export interface Preference {
  /** Numbers of the shards of each index; undefined: all. */
  readonly shards?: readonly number[];
  readonly copies?: CopyWish;
}

/** Copies are equal: none of them is the one that writes go through. */
const EQUAL = /^_(?:primary|primary_first|replica|replica_first)$/;

/** `nodes`: the live ones, this one first. Throws request_invalid. */
export function parsePreference(given: string | undefined, nodes: readonly NodeInfo[]): Preference {
  if (given === undefined || given === "") return {};
  if (!given.startsWith("_shards:")) return { ...copiesOf(given, nodes) };
  // The list of shards may be followed by another preference.
  const [list = "", ...rest] = given.slice("_shards:".length).split("|");
  const numbers = list.split(",");
  if (!numbers.every((number) => /^\d{1,9}$/.test(number)))
    throw new AppError("request_invalid", `preference [${given}] must list numbers of shards: "_shards:0,2"`);
  const shards = [...new Set(numbers.map(Number))];
  return { shards, ...(rest.length > 0 && copiesOf(rest.join("|"), nodes)) };
}

function copiesOf(given: string, nodes: readonly NodeInfo[]): Preference {
  const [own] = nodes;
  if (given === "_local") return {}; // this hub's copies come first
  if (given === "_only_local") return { copies: { only: [own!.id] } };
  const [name, list] = given.split(/:(.*)/s);
  if (list !== undefined && (name === "_only_nodes" || name === "_prefer_nodes")) {
    const ids = meantNodes(nodes, list).map(({ id }) => id);
    if (name === "_prefer_nodes") return { copies: { prefer: ids } };
    if (ids.length > 0 && list !== "") return { copies: { only: ids } };
    throw new AppError(
      "request_invalid",
      `no data nodes with criteria [${list}] found for preference [${given}]`,
    );
  }
  if (!given.startsWith("_")) return { copies: { session: given } };
  if (!EQUAL.test(given)) throw new AppError("request_invalid", `no Preference for [${given}]`);
  warnDeprecated(
    `[${given}] has been deprecated in 6.1+, and will be removed in 7.0; use [_only_nodes] or [_prefer_nodes]`,
  );
  return {};
}
