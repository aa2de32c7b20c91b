/** `_ilm/policy`: lifecycle policies, and whether they are executed. */

import { warnOfActions } from "#hub/api/compat/interface-compatibility.ts";
import type { ApiContext } from "#hub/api/context/api-context.ts";
import type { ApiRequest } from "#hub/api/http/request.ts";
import { type ApiResponse, json, type Route } from "#hub/api/http/route.ts";
import { policyName } from "#hub/cluster/catalog/lifecycle-policy.ts";
import { answersAs } from "#hub/search/options/request-version.ts";
import { compileWildcard } from "#hub/search/patterns/wildcard.ts";
import { AppError } from "#proto/kit/errors.ts";
import { isObject, type JsonObject } from "#proto/kit/json.ts";
import { managedIndexRoutes } from "./managed-indices.ts";

/** A policy can delete indices. */
const CHANGES = ["index_manage", "index_delete"] as const;
const TIMEOUTS = ["timeout", "master_timeout"];

export function lifecycleRoutes(parts: ApiContext): Route[] {
  return [...policyRoutes(parts), ...modeRoutes(parts), ...managedIndexRoutes(parts)];
}

function policyRoutes(parts: ApiContext): Route[] {
  const { lifecycles } = parts.indices;
  return [
    {
      methods: ["PUT"],
      paths: ["/_ilm/policy/{name}"],
      params: TIMEOUTS,
      action: CHANGES,
      summary: "Stores a lifecycle policy.",
      handle: (request) => putPolicy(parts, request),
    },
    {
      methods: ["GET"],
      paths: ["/_ilm/policy", "/_ilm/policy/{name}"],
      params: TIMEOUTS,
      action: "monitor",
      summary: "Shows lifecycle policies.",
      handle: (request) => getPolicies(parts, request),
    },
    {
      methods: ["DELETE"],
      paths: ["/_ilm/policy/{name}"],
      params: TIMEOUTS,
      action: CHANGES,
      summary: "Deletes a lifecycle policy that no index uses.",
      handle: async (request) => {
        await lifecycles.delete(request.segment("name"));
        return json({ acknowledged: true });
      },
    },
  ];
}

function modeRoutes({ indices: { lifecycles } }: ApiContext): Route[] {
  const change = (name: string, isStopped: boolean, summary: string): Route => ({
    methods: ["POST"],
    paths: [`/_ilm/${name}`],
    params: TIMEOUTS,
    action: CHANGES,
    summary,
    handle: async () => {
      await lifecycles.setStopped(isStopped);
      return json({ acknowledged: true });
    },
  });
  return [
    {
      methods: ["GET"],
      paths: ["/_ilm/status"],
      params: TIMEOUTS,
      action: "monitor",
      summary: "Shows whether lifecycle policies are carried out.",
      handle: () => json({ operation_mode: lifecycles.isStopped ? "STOPPED" : "RUNNING" }),
    },
    change("start", false, "Carries lifecycle policies out."),
    change("stop", true, "Carries no lifecycle policy out until they are started again."),
  ];
}

async function putPolicy({ indices }: ApiContext, request: ApiRequest): Promise<ApiResponse> {
  request.requireBody();
  const { policy, ...others } = request.metadata();
  const [unknown] = Object.keys(others);
  if (unknown !== undefined)
    throw new AppError("parsing", `[put_lifecycle_request] unknown field [${unknown}], parser not found`);
  if (!isObject(policy)) throw new AppError("request_invalid", "Required [policy]");
  await indices.lifecycles.put(request.segment("name"), policy);
  warnOfActions(policy);
  return json({ acknowledged: true });
}

function getPolicies(parts: ApiContext, request: ApiRequest): ApiResponse {
  const all = parts.indices.lifecycles.all();
  const names = request.path["name"] === undefined ? undefined : request.list("name");
  const tests = names?.map((name) => compileWildcard(name));
  const missing = names?.find((name) => !name.includes("*") && !Object.hasOwn(all, name));
  if (missing !== undefined) throw new AppError("not_found", `Lifecycle policy not found: ${missing}`);
  const found = Object.entries(all)
    .filter(([name]) => tests?.some((test) => test.matches(name)) ?? true)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  const users = answersAs(714) ? usersOf(parts) : undefined;
  return json(
    Object.fromEntries(
      found.map(([name, { version, modifiedMs, policy }]) => [
        name,
        {
          version,
          modified_date: new Date(modifiedMs).toISOString(),
          policy: printPolicy(policy),
          ...(users !== undefined && {
            in_use_by: users.get(name) ?? { indices: [], data_streams: [], composable_templates: [] },
          }),
        },
      ]),
    ),
  );
}

interface PolicyUsers {
  readonly indices: string[];
  readonly data_streams: string[];
  readonly composable_templates: string[];
}

function usersOf({ indices }: ApiContext): Map<string, PolicyUsers> {
  const users = new Map<string, PolicyUsers>();
  const note = (policy: unknown, kind: keyof PolicyUsers, user: string | undefined): void => {
    if (typeof policy !== "string" || user === undefined) return;
    const of = users.get(policy) ?? { indices: [], data_streams: [], composable_templates: [] };
    users.set(policy, of);
    if (!of[kind].includes(user)) of[kind].push(user);
  };
  for (const index of indices.all()) {
    note(policyName(index), "indices", index.name);
    note(policyName(index), "data_streams", index.dataStream);
  }
  const { templates, components } = indices.templateCatalog.set();
  for (const [name, { template, composed_of: used }] of Object.entries(templates))
    for (const part of [template, ...used.map((each) => components[each]?.template)])
      note(part?.settings?.["lifecycle.name"], "composable_templates", name);
  return users;
}

/** Returns a policy with the defaults that clients expect to see. */
function printPolicy({ phases, ...rest }: JsonObject): JsonObject {
  const printed = Object.entries(phases as Record<string, JsonObject>).map(([name, phase]) => {
    const actions = (phase["actions"] ?? {}) as JsonObject;
    const deletion = isObject(actions["delete"]) && answersAs(708);
    const shown = deletion
      ? { ...actions, delete: { delete_searchable_snapshot: true, ...(actions["delete"] as JsonObject) } }
      : actions;
    return [name, { min_age: phase["min_age"] ?? "0ms", actions: shown }];
  });
  return { ...rest, phases: Object.fromEntries(printed) as JsonObject };
}
