/** Health of the cluster as this hub sees it: its own membership, hubs that are missing, partitions without an owner. */

import { takesPartitions } from "#hub/cluster/membership/member-record.ts";
import type { ClusterNode } from "#hub/node/wiring/cluster.ts";
import { MINUTE_MS } from "#proto/kit/units.ts";
import { type HealthCheck, OK } from "./health.ts";

/** Partitions on their way between hubs for longer need attention. */
const MOVING_MS = MINUTE_MS;

export function clusterCheck(
  cluster: Pick<ClusterNode, "membership" | "directory" | "partitions">,
): HealthCheck {
  const { membership, directory, partitions } = cluster;
  let settledMs: number | undefined;
  return (nowMs) => {
    if (membership.isDisplaced)
      return {
        level: "failing",
        reason: "another process has joined with this hub's identity: its data folder was copied",
      };
    if (!membership.isValid)
      return { level: "failing", reason: "this hub can't renew its membership, so it processes no lines" };
    const missing = directory.all().flatMap((member) => {
      const silentMs = directory.silentMs(member);
      if (member.record.id === membership.id || silentMs === 0) return [];
      const since =
        member.record.lostMs === undefined ? "" : ` since ${new Date(member.record.lostMs).toISOString()}`;
      return [`${member.record.name} doesn't answer${since}`];
    });
    if (missing.length > 0) return { level: "degraded", reason: missing.join("; ") };
    const { epoch } = partitions.table();
    const slow = directory.all().filter(({ record }) => takesPartitions(record) && record.active < epoch);
    if (slow.length === 0 || settledMs === undefined) settledMs = nowMs;
    if (nowMs - settledMs < MOVING_MS) return OK;
    const names = slow.map(({ record }) => record.name).join(", ");
    return { level: "degraded", reason: `partitions are not taken over yet by ${names}` };
  };
}
