/** `_snapshot/{repository}/{snapshot}`: takes, shows, copies, restores and deletes snapshots of indices. */

import type { ApiContext } from "#hub/api/context/api-context.ts";
import type { ApiRequest } from "#hub/api/http/request.ts";
import { type ApiResponse, json, type Route } from "#hub/api/http/route.ts";
import { isTrue } from "#hub/api/parameters/values.ts";
import type { IndexInfo } from "#hub/api/ports/indices.ts";
import { answersAs } from "#hub/search/options/request-version.ts";
import { AppError } from "#proto/kit/errors.ts";
import { isObject, type JsonObject } from "#proto/kit/json.ts";
import { matchesWildcard } from "#proto/kit/wildcard.ts";
import type { IndexSnapshots, SnapshotRecord } from "./index-snapshots.ts";
import { printSnapshot, printStatus } from "./print-snapshot.ts";
import { chosenRepositories, openRepository, refuseReadonly, repositoriesOf } from "./repository-routes.ts";
import { checkKeys, chosenIndices, listOf, restoreSnapshot } from "./restore-snapshot.ts";
import { type Taking, takeSnapshot } from "./take-snapshot.ts";

const PATH = "/_snapshot/{repository}/{snapshot}";
const NAME = /^[a-z0-9][a-z0-9_.-]{0,199}$/;
const CREATE_KEYS = [
  "indices",
  "ignore_unavailable",
  "include_global_state",
  "metadata",
  "partial",
  "expand_wildcards",
];

export function snapshotRoutes(parts: ApiContext): Route[] {
  /** Snapshots that this hub is taking, by "repository/snapshot"; undefined while one is starting. */
  const taking = new Map<string, Taking | undefined>();
  return [
    {
      methods: ["PUT", "POST"],
      paths: [PATH],
      params: ["master_timeout", "wait_for_completion"],
      action: "administer",
      summary: "Takes a snapshot of indices.",
      handle: (request) => create(parts, request, taking),
    },
    {
      methods: ["GET"],
      paths: [PATH],
      params: ["master_timeout", "ignore_unavailable", "verbose"],
      action: "administer",
      summary: "Shows snapshots.",
      handle: async (request) => {
        const isVerbose = request.flag("verbose") ?? true;
        const found: JsonObject[] = [];
        for (const repository of chosenRepositories(parts, request.segment("repository")).keys())
          for (const record of await chosenSnapshots(parts, request, repository))
            found.push(printSnapshot(record, isVerbose, repository));
        return json({
          snapshots: found,
          ...(answersAs(714) && { total: found.length, remaining: 0 }),
        });
      },
    },
    {
      methods: ["GET"],
      paths: ["/_snapshot/_status", "/_snapshot/{repository}/_status", `${PATH}/_status`],
      params: ["master_timeout", "ignore_unavailable"],
      action: "administer",
      summary: "Shows how far snapshots are; without a name those that are being taken.",
      handle: (request) => status(parts, request),
    },
    {
      methods: ["DELETE"],
      paths: [PATH],
      params: ["master_timeout"],
      action: "administer",
      summary: "Deletes a snapshot; one that is being taken ends.",
      handle: (request) => remove(parts, request, taking),
    },
    {
      methods: ["PUT"],
      paths: [`${PATH}/_clone/{target_snapshot}`],
      params: ["master_timeout"],
      action: "administer",
      summary: "Makes a snapshot of some indices of another one.",
      handle: (request) => clone(parts, request),
    },
    {
      methods: ["POST"],
      paths: [`${PATH}/_restore`],
      params: ["master_timeout", "wait_for_completion"],
      action: "administer",
      summary: "Restores indices of a snapshot.",
      handle: (request) => restore(parts, request),
    },
  ];
}

async function create(
  parts: ApiContext,
  request: ApiRequest,
  taking: Map<string, Taking | undefined>,
): Promise<ApiResponse> {
  const repository = request.segment("repository");
  const snapshot = request.segment("snapshot");
  const body = request.metadata();
  checkKeys(body, CREATE_KEYS);
  refuseReadonly(parts, repository);
  const store = openRepository(parts, repository);
  const metadata = body["metadata"] ?? undefined;
  if (metadata !== undefined && !isObject(metadata))
    throw new AppError("parsing", "malformed metadata, should be an object");
  const wanted = {
    repository,
    snapshot,
    indices: indicesOf(parts, body),
    includeGlobalState: body["include_global_state"] === undefined || isTrue(body["include_global_state"]),
    metadata,
  };
  const key = `${repository}/${snapshot}`;
  checkName(repository, snapshot, taking.has(key));
  // Set before the first await: from now on another request with the same name is refused.
  taking.set(key, undefined);
  let begun: Taking;
  try {
    checkName(repository, snapshot, (await store.read(snapshot)) !== undefined);
    begun = await takeSnapshot(parts, request, store, wanted);
  } catch (error) {
    taking.delete(key);
    throw error;
  }
  taking.set(key, begun);
  void begun.task.ended.then(() => taking.delete(key));
  if (request.flag("wait_for_completion") !== true) return json({ accepted: true });
  return json({ snapshot: printSnapshot(await begun.done, true, repository) });
}

/** Throws request_invalid for a name that is invalid or already used. */
function checkName(repository: string, snapshot: string, isTaken: boolean): void {
  const fault = !NAME.test(snapshot)
    ? "must be 1 to 200 lowercase letters, digits, _, . and -, with a letter or digit first"
    : isTaken
      ? "snapshot with the same name already exists"
      : undefined;
  if (fault === undefined) return;
  throw new AppError(
    "request_invalid",
    `[${repository}:${snapshot}] Invalid snapshot name [${snapshot}], ${fault}`,
    {
      data: { type: "invalid_snapshot_name_exception" },
    },
  );
}

/** Returns the indices requested for a snapshot. Throws index_missing. */
function indicesOf({ indices }: ApiContext, body: JsonObject): IndexInfo[] {
  const names = listOf(body["indices"]);
  return indices.resolve(names.length === 0 ? undefined : names.join(","), {
    ignoreUnavailable: body["ignore_unavailable"] !== undefined && isTrue(body["ignore_unavailable"]),
    expandHidden: true,
  });
}

async function status(parts: ApiContext, request: ApiRequest): Promise<ApiResponse> {
  const { repository } = request.path;
  const named = request.path["snapshot"] !== undefined;
  const found: JsonObject[] = [];
  for (const name of repository === undefined ? repositoriesOf(parts).all().keys() : [repository]) {
    const records = named
      ? await chosenSnapshots(parts, request, name)
      : await openRepository(parts, name).all();
    for (const record of records)
      if (named || record.state === "IN_PROGRESS") found.push(printStatus(name, record, parts.clock.now()));
  }
  return json({ snapshots: found });
}

async function remove(
  parts: ApiContext,
  request: ApiRequest,
  taking: ReadonlyMap<string, Taking | undefined>,
): Promise<ApiResponse> {
  const repository = request.segment("repository");
  refuseReadonly(parts, repository);
  const store = openRepository(parts, repository);
  for (const name of request.segment("snapshot").split(",")) {
    const running = taking.get(`${repository}/${name}`);
    if (running !== undefined) {
      parts.tasks.cancel(running.task.id);
      await running.task.ended;
    }
    await requireSnapshot(store, repository, name);
    await store.remove(name);
  }
  return json({ acknowledged: true });
}

async function clone(parts: ApiContext, request: ApiRequest): Promise<ApiResponse> {
  const repository = request.segment("repository");
  const target = request.segment("target_snapshot");
  refuseReadonly(parts, repository);
  const store = openRepository(parts, repository);
  const source = await requireSnapshot(store, repository, request.segment("snapshot"));
  if (source.state !== "SUCCESS")
    throw new AppError(
      "request_invalid",
      `[${repository}:${source.snapshot}] can't be cloned: its state is ${source.state}`,
    );
  checkName(repository, target, NAME.test(target) && (await store.read(target)) !== undefined);
  const body = request.requiredObject();
  if (listOf(body["indices"]).length === 0)
    throw new AppError("request_invalid", "Validation Failed: 1: indices patterns are empty;");
  const nowMs = parts.clock.now();
  const indices = chosenIndices(source, body);
  await store.write({ ...source, snapshot: target, indices, startMs: nowMs, endMs: nowMs });
  return json({ acknowledged: true });
}

async function restore(parts: ApiContext, request: ApiRequest): Promise<ApiResponse> {
  const repository = request.segment("repository");
  const store = openRepository(parts, repository);
  const record = await requireSnapshot(store, repository, request.segment("snapshot"));
  const { indices, shards, done } = await restoreSnapshot(parts, request, store, record, request.metadata());
  if (request.flag("wait_for_completion") !== true) return json({ accepted: true });
  await done;
  const counts = { total: shards, failed: 0, successful: shards };
  return json({ snapshot: { snapshot: record.snapshot, indices, shards: counts } });
}

/** Returns the snapshots that the path's names and patterns select. Throws not_found for an unknown name. */
async function chosenSnapshots(
  parts: ApiContext,
  request: ApiRequest,
  repository: string,
): Promise<SnapshotRecord[]> {
  const store = openRepository(parts, repository);
  const all = await store.all();
  const found = new Set<SnapshotRecord>();
  for (const pattern of request.segment("snapshot").split(",")) {
    const wanted = pattern === "_all" ? "*" : pattern;
    const matching = all.filter(({ snapshot, state }) =>
      pattern === "_current" ? state === "IN_PROGRESS" : matchesWildcard(wanted, snapshot),
    );
    const isName = !wanted.includes("*") && pattern !== "_current";
    if (matching.length === 0 && isName && request.flag("ignore_unavailable") !== true)
      throw missing(repository, pattern);
    for (const record of matching) found.add(record);
  }
  return all.filter((record) => found.has(record));
}

async function requireSnapshot(
  store: IndexSnapshots,
  repository: string,
  name: string,
): Promise<SnapshotRecord> {
  const record = NAME.test(name) ? await store.read(name) : undefined;
  if (record === undefined) throw missing(repository, name);
  return record;
}

function missing(repository: string, snapshot: string): AppError {
  return new AppError("not_found", `[${repository}:${snapshot}] is missing`, {
    data: { type: "snapshot_missing_exception" },
  });
}
