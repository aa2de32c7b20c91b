/** Makes sure that only one hub at a time runs an input of a shared source: a lease for each input, and its state in a bucket. */

import { MEMBER_LEASE_MS } from "#hub/cluster/membership/member-record.ts";
import { acquireLease } from "#hub/journal/buckets/lease.ts";
import type { Journal } from "#hub/journal/journal.ts";
import type { ClusterNode } from "#hub/node/wiring/cluster.ts";
import type { InputStates } from "#hub/pipeline/runtime/input-states.ts";
import { SharedInputStates, type SharedInputs } from "#hub/pipeline/runtime/shared-inputs.ts";
import { systemClock } from "#proto/kit/clock.ts";
import type { Logger } from "#proto/kit/log.ts";

/** Bucket with leases (`lease.…`) and states (`state.…`). */
export const INPUTS_BUCKET = "inputs";

export async function openSharedInputs({
  journal,
  cluster,
  local,
  log,
}: {
  readonly journal: Journal;
  readonly cluster: ClusterNode;
  /** State that an earlier version stored on this machine. */
  readonly local: InputStates;
  readonly log: Logger;
}): Promise<SharedInputs> {
  const bucket = await journal.bucket(INPUTS_BUCKET);
  const { identity, membership } = cluster;
  const isDead = (owner: string): boolean => owner.startsWith(`${identity.node}/`);
  return {
    hubName: identity.founder,
    states: new SharedInputStates(bucket, (pipeline, plugin) => local.of(pipeline, plugin)),
    turn: (pipeline, plugin, signal) => {
      const key = `lease.${[pipeline, plugin].map((text) => `_${Buffer.from(text).toString("base64url")}`).join(".")}`;
      const owner = `${identity.node}/${membership.process}`;
      return acquireLease(
        { bucket, key, owner, isDead, durationMs: MEMBER_LEASE_MS, clock: systemClock, log },
        signal,
      );
    },
  };
}
