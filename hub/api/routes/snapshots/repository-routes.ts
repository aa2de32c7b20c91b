/** `_snapshot/{repository}`: registers, shows, verifies and unregisters repositories. */

import { randomUUID } from "node:crypto";
import type { ApiContext } from "#hub/api/context/api-context.ts";
import { type ApiRequest, checkValid } from "#hub/api/http/request.ts";
import { type ApiResponse, json, type Route } from "#hub/api/http/route.ts";
import { flattenSettings } from "#hub/api/parameters/index-settings.ts";
import type { RepositoryDefinition, SnapshotRepositories } from "#hub/api/ports/repositories.ts";
import { valueText } from "#proto/event.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { matchesWildcard } from "#proto/kit/wildcard.ts";
import { IndexSnapshots } from "./index-snapshots.ts";

const TIMEOUTS = ["timeout", "master_timeout"];

/** Settings of each type; all others are refused. */
const SETTINGS: Readonly<Record<RepositoryDefinition["type"], readonly string[]>> = {
  fs: ["location", "readonly"],
  s3: ["bucket", "base_path", "readonly"],
};
/** Settings of other servers that affect only the speed of their copies. */
const IDLE = ["compress", "chunk_size", "max_snapshot_bytes_per_sec", "max_restore_bytes_per_sec"];

/** Returns the repositories. Throws not_offered if this hub has none. */
export function repositoriesOf({ repositories }: ApiContext): SnapshotRepositories {
  if (repositories === undefined)
    throw new AppError("not_offered", "snapshot repositories: not offered here");
  return repositories;
}

/** Returns the snapshots of the repository that a request names. Throws not_found, settings_invalid, forbidden. */
export function openRepository(parts: ApiContext, name: string): IndexSnapshots {
  return new IndexSnapshots(repositoriesOf(parts).open(definitionOf(parts, name)));
}

/** Throws request_invalid for a read-only repository, not_found for an unknown one. */
export function refuseReadonly(parts: ApiContext, name: string): void {
  if (definitionOf(parts, name).settings["readonly"] !== "true") return;
  throw new AppError("request_invalid", `[${name}] repository is readonly`, {
    data: { type: "repository_exception" },
  });
}

export function repositoryRoutes(parts: ApiContext): Route[] {
  const path = "/_snapshot/{repository}";
  return [
    {
      methods: ["PUT", "POST"],
      paths: [path],
      params: [...TIMEOUTS, "verify"],
      action: "administer",
      summary: "Registers a folder or a bucket as a place of snapshots.",
      handle: (request) => putRepository(parts, request),
    },
    {
      methods: ["GET"],
      paths: ["/_snapshot", path],
      params: ["local", "master_timeout"],
      action: "administer",
      summary: "Shows the places of snapshots.",
      handle: (request) => json(Object.fromEntries(chosenRepositories(parts, request.path["repository"]))),
    },
    {
      methods: ["DELETE"],
      paths: [path],
      params: TIMEOUTS,
      action: "administer",
      summary: "Forgets places of snapshots; their files stay.",
      handle: async (request) => {
        await repositoriesOf(parts).delete([
          ...chosenRepositories(parts, request.segment("repository")).keys(),
        ]);
        return json({ acknowledged: true });
      },
    },
    {
      methods: ["POST"],
      paths: [`${path}/_verify`],
      params: TIMEOUTS,
      action: "administer",
      summary: "Writes, reads and removes a file in a place of snapshots.",
      handle: async (request) => {
        await verify(parts, request.segment("repository"));
        return json({
          nodes: Object.fromEntries(parts.cluster.nodes().map(({ id, name }) => [id, { name }])),
        });
      },
    },
    {
      methods: ["POST"],
      paths: [`${path}/_cleanup`],
      params: TIMEOUTS,
      action: "administer",
      summary: "Removes the pages of documents that no snapshot of a place has.",
      handle: async (request) => {
        refuseReadonly(parts, request.segment("repository"));
        const { blobs, bytes } = await openRepository(parts, request.segment("repository")).cleanUp();
        return json({ results: { deleted_bytes: bytes, deleted_blobs: blobs } });
      },
    },
  ];
}

async function putRepository(parts: ApiContext, request: ApiRequest): Promise<ApiResponse> {
  const name = request.segment("repository");
  const body = request.requiredObject();
  const { type } = body;
  checkValid(
    type === undefined && "type is missing",
    body["settings"] === undefined && "settings is missing",
  );
  if (type !== "fs" && type !== "s3")
    throw new AppError(
      "request_invalid",
      `[${name}] repository type [${valueText(type)}] does not exist; there are fs and s3`,
      {
        data: { type: "repository_exception" },
      },
    );
  const settings = Object.fromEntries(
    Object.entries(flattenSettings(body["settings"])).map(([key, value]) => [key, valueText(value)]),
  );
  const unknown = Object.keys(settings).find((key) => ![...SETTINGS[type], ...IDLE].includes(key));
  if (unknown !== undefined)
    throw new AppError(
      "settings_invalid",
      `[${name}] a repository of type ${type} has no setting [${unknown}]; there are ${SETTINGS[type].join(", ")}`,
    );
  const definition: RepositoryDefinition = { type, settings };
  const isChecked = (request.flag("verify") ?? true) && settings["readonly"] !== "true";
  const repositories = repositoriesOf(parts);
  if (isChecked) await new IndexSnapshots(repositories.open(definition)).verify(randomUUID());
  await repositories.put(name, definition);
  return json({ acknowledged: true });
}

async function verify(parts: ApiContext, name: string): Promise<void> {
  const snapshots = openRepository(parts, name);
  if (definitionOf(parts, name).settings["readonly"] === "true") await snapshots.names();
  else await snapshots.verify(randomUUID());
}

function definitionOf(parts: ApiContext, name: string): RepositoryDefinition {
  const found = repositoriesOf(parts).all().get(name);
  if (found === undefined) throw missing(name);
  return found;
}

/** Returns the repositories that names and patterns select. Throws not_found for an unknown name. */
export function chosenRepositories(parts: ApiContext, names = "_all"): Map<string, JsonObject> {
  const all = repositoriesOf(parts).all();
  const found = new Map<string, JsonObject>();
  for (const pattern of names.split(",")) {
    const wanted = pattern === "_all" ? "*" : pattern;
    const matching = [...all.keys()].filter((name) => matchesWildcard(wanted, name));
    if (matching.length === 0 && !wanted.includes("*")) throw missing(pattern);
    for (const name of matching) found.set(name, { ...all.get(name)! });
  }
  return found;
}

function missing(name: string): AppError {
  return new AppError("not_found", `[${name}] missing`, { data: { type: "repository_missing_exception" } });
}
