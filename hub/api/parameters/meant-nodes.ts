/** Selects the nodes that a request names. */

import { INDEX_VERSION } from "#hub/api/compat/version.ts";
import type { NodeInfo } from "#hub/api/ports/cluster.ts";
import { answersAs } from "#hub/search/options/request-version.ts";
import { compileWildcard } from "#hub/search/patterns/wildcard.ts";
import type { JsonObject } from "#proto/kit/json.ts";

/** Roles that every node has. */
const ROLES: readonly string[] = ["master", "data", "ingest"];

/** Returns the roles of a node in the form of the request's version: from 7.8 on alphabetically, with one more role. */
export function printedRoles(): readonly string[] {
  return answersAs(708) ? ["data", "ingest", "master", "remote_cluster_client"] : ROLES;
}

/** Returns a node in the form in which answers describe nodes with shards. `version`: if given, shown from 8 on. */
export function printedNode(
  { id, name, transportAddress, attributes }: NodeInfo,
  version?: string,
): JsonObject {
  return {
    name,
    ephemeral_id: id,
    transport_address: transportAddress,
    attributes,
    ...(answersAs(714) && { roles: printedRoles() }),
    ...(answersAs(800) && { external_id: name }),
    ...(answersAs(800) &&
      version !== undefined && {
        version,
        min_index_version: INDEX_VERSION,
        max_index_version: INDEX_VERSION,
      }),
  };
}

/**
 * Returns the nodes that an expression selects by ids, names, addresses with wildcards, _local, _master, _all, role:true
 * or attribute:value. Without an expression: all.
 */
export function meantNodes(nodes: readonly NodeInfo[], expression: string | undefined): readonly NodeInfo[] {
  const parts = expression?.split(",").filter((part) => part !== "") ?? [];
  if (parts.length === 0 || parts.includes("_all")) return nodes;
  return nodes.filter((node, at) =>
    parts.some((part) => {
      if (part === "_local") return at === 0;
      if (part === "_master") return node.master;
      if (part.includes(":") && fitsProperty(node, part)) return true;
      const pattern = compileWildcard(part);
      return [node.id, node.name, node.host, node.transportAddress].some((name) => pattern.matches(name));
    }),
  );
}

/** Matches "master:true" or "rack:r*": a role, which every node has here, or an attribute with its value. */
function fitsProperty({ attributes }: NodeInfo, part: string): boolean {
  const colon = part.indexOf(":");
  const [name, value] = [part.slice(0, colon), part.slice(colon + 1)];
  if (ROLES.includes(name)) return value === "true";
  return Object.hasOwn(attributes, name) && compileWildcard(value).matches(attributes[name] ?? "");
}
