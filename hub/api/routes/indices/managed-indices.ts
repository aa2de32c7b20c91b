/** `/{index}/_ilm`: the position of indices in their lifecycle. */

import type { ApiContext } from "#hub/api/context/api-context.ts";
import type { ApiRequest } from "#hub/api/http/request.ts";
import { type ApiResponse, json, type Route } from "#hub/api/http/route.ts";
import { RESOLVE_PARAMS, resolveOptions } from "#hub/api/parameters/shared-parameters.ts";
import type { IndexInfo } from "#hub/api/ports/indices.ts";
import type { StoredPolicy } from "#hub/cluster/catalog/lifecycle-catalog.ts";
import { IndexRelations, type LifecycleState, lifecycleOf } from "#hub/cluster/catalog/lifecycle-state.ts";
import { answersAs } from "#hub/search/options/request-version.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "#proto/kit/units.ts";

/** Settings that `_ilm/remove` removes. */
const REMOVED = {
  "lifecycle.name": null,
  "lifecycle.rollover_alias": null,
  "lifecycle.indexing_complete": null,
};

export function managedIndexRoutes(parts: ApiContext): Route[] {
  return [
    {
      methods: ["GET"],
      paths: ["/{index}/_ilm/explain"],
      params: [...RESOLVE_PARAMS, "only_managed", "only_errors", "master_timeout"],
      action: "monitor",
      summary: "Shows where indices are in their lifecycle.",
      handle: (request) => explain(parts, request),
    },
    {
      methods: ["POST"],
      paths: ["/{index}/_ilm/remove"],
      params: [...RESOLVE_PARAMS, "timeout", "master_timeout"],
      action: "index_manage",
      summary: "Takes indices out of their lifecycle.",
      handle: async (request) => {
        for (const { name } of meant(parts, request)) await parts.indices.putSettings(name, REMOVED);
        return json({ has_failures: false, failed_indexes: [] });
      },
    },
    {
      methods: ["POST"],
      paths: ["/{index}/_ilm/retry"],
      params: [...RESOLVE_PARAMS, "timeout", "master_timeout"],
      action: "index_manage",
      summary: "Forgets that steps failed; they are tried again at the next check.",
      handle: (request) => retry(parts, request),
    },
  ];
}

function meant({ indices }: ApiContext, request: ApiRequest): IndexInfo[] {
  return indices.resolve(request.segment("index"), resolveOptions(request, { expandWildcards: "all" }));
}

function explain(parts: ApiContext, request: ApiRequest): ApiResponse {
  const { indices, clock } = parts;
  const onlyErrors = request.flag("only_errors") ?? false;
  const onlyManaged = onlyErrors || (request.flag("only_managed") ?? false);
  const policyOf = (name: string): StoredPolicy | undefined => indices.lifecycles.get(name);
  const relations = new IndexRelations(indices.all());
  const nowMs = clock.now();
  const answer: JsonObject = {};
  for (const index of meant(parts, request)) {
    const state = lifecycleOf(index, relations, policyOf, nowMs);
    const error = state === undefined ? undefined : errorOf(parts, index, state);
    if ((onlyManaged && state === undefined) || (onlyErrors && error === undefined)) continue;
    answer[index.name] =
      state === undefined
        ? { index: index.name, managed: false }
        : { ...printState(index, state, policyOf(state.policy), nowMs), ...error };
  }
  return json({ indices: answer });
}

function printState(
  { name, settings }: IndexInfo,
  state: LifecycleState,
  stored: StoredPolicy | undefined,
  nowMs: number,
): JsonObject {
  // Clients expect a time also for an index that its policy hasn't rolled over yet.
  const sinceMs = state.sinceMs ?? settings.creationDate;
  const definition = stored && (stored.policy["phases"] as JsonObject)[state.phase];
  return {
    index: name,
    managed: true,
    policy: state.policy,
    ...(answersAs(717) && {
      index_creation_date_millis: settings.creationDate,
      time_since_index_creation: printAge(nowMs - settings.creationDate),
    }),
    lifecycle_date_millis: sinceMs,
    age: printAge(nowMs - sinceMs),
    phase: state.phase,
    action: state.action,
    step: state.step,
    ...(stored !== undefined && {
      phase_execution: {
        policy: state.policy,
        ...(definition !== undefined && { phase_definition: definition }),
        version: stored.version,
        modified_date_in_millis: stored.modifiedMs,
      },
    }),
  };
}

/** Returns the additions to the answer for an index on which the policy can't be executed, or on which a step failed. */
function errorOf({ indices }: ApiContext, index: IndexInfo, state: LifecycleState): JsonObject | undefined {
  const fault = indices.lifecycles.fault(index);
  const reason = state.error ?? fault?.reason;
  if (reason === undefined) return undefined;
  const failed = fault?.step ?? (state.action === "rollover" ? "check-rollover-ready" : state.action);
  return { step: "ERROR", failed_step: failed, step_info: { type: "illegal_argument_exception", reason } };
}

async function retry(parts: ApiContext, request: ApiRequest): Promise<ApiResponse> {
  const { indices, clock } = parts;
  const policyOf = (name: string): StoredPolicy | undefined => indices.lifecycles.get(name);
  const relations = new IndexRelations(indices.all());
  const failed = meant(parts, request);
  for (const index of failed) {
    const state = lifecycleOf(index, relations, policyOf, clock.now());
    if (state !== undefined && errorOf(parts, index, state) !== undefined) continue;
    throw new AppError(
      "request_invalid",
      `cannot retry an action for an index [${index.name}] that has not encountered an error when running a Lifecycle Policy`,
    );
  }
  for (const { name } of failed) await indices.lifecycles.clearFault(name);
  return json({ acknowledged: true });
}

/** Returns an age in the largest unit below it, with two decimals at most: "2.5d". */
function printAge(ms: number): string {
  const units = [
    ["d", DAY_MS],
    ["h", HOUR_MS],
    ["m", MINUTE_MS],
    ["s", SECOND_MS],
  ] as const;
  const [unit, length] = units.find((each) => ms >= each[1]) ?? (["ms", 1] as const);
  return `${Number((ms / length).toFixed(2))}${unit}`;
}
