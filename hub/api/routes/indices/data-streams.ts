/** `_data_stream`: a name for a sequence of append-only indices. */

import type { ApiContext } from "#hub/api/context/api-context.ts";
import type { ApiRequest } from "#hub/api/http/request.ts";
import { type ApiResponse, json, type Route } from "#hub/api/http/route.ts";
import { checkWholeNames } from "#hub/api/parameters/cluster-settings.ts";
import type { IndexInfo } from "#hub/api/ports/indices.ts";
import { clusterHealth } from "#hub/api/stats/index-health.ts";
import { templateFor } from "#hub/cluster/catalog/composable-templates.ts";
import { backingIndices, generationOf, TIMESTAMP_FIELD } from "#hub/cluster/catalog/data-streams.ts";
import { policyName } from "#hub/cluster/catalog/lifecycle-policy.ts";
import { answersAs } from "#hub/search/options/request-version.ts";
import { compileWildcard } from "#hub/search/patterns/wildcard.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";

const NANOS_PER_MS = 1_000_000;

export function dataStreamRoutes(parts: ApiContext): Route[] {
  return [
    {
      methods: ["PUT"],
      paths: ["/_data_stream/{name}"],
      params: ["master_timeout", "timeout"],
      action: "index_manage",
      summary: "Creates a data stream from the template that matches its name.",
      handle: async (request) => {
        await parts.indices.createDataStream(request.segment("name"));
        return json({ acknowledged: true });
      },
    },
    {
      methods: ["GET"],
      paths: ["/_data_stream", "/_data_stream/{name}"],
      params: ["expand_wildcards", "include_defaults", "master_timeout", "verbose"],
      action: "monitor",
      summary: "Shows data streams with their indices.",
      handle: (request) => json({ data_streams: meant(parts, request).map((each) => describe(parts, each)) }),
    },
    {
      methods: ["DELETE"],
      paths: ["/_data_stream/{name}"],
      params: ["expand_wildcards", "master_timeout"],
      action: "index_delete",
      summary: "Deletes data streams with all their indices.",
      handle: (request) => deleteStreams(parts, request),
    },
    {
      methods: ["GET"],
      paths: ["/_data_stream/_stats", "/_data_stream/{name}/_stats"],
      params: ["expand_wildcards", "forbid_closed_indices"],
      action: "monitor",
      summary: "Shows the size and the newest timestamp of data streams.",
      handle: (request) => showStats(parts, request),
    },
  ];
}

/** A stream with its indices, the write index last. */
interface Stream {
  readonly name: string;
  readonly indices: readonly IndexInfo[];
}

/** Returns the streams that a request selects. Throws index_missing for an unknown name. */
function meant({ indices }: ApiContext, request: ApiRequest): Stream[] {
  const all = indices.all();
  const names = [...new Set(all.flatMap(({ dataStream }) => dataStream ?? []))].sort();
  const wanted = request.list("name") ?? ["*"];
  const missing = wanted.find((name) => !name.includes("*") && name !== "_all" && !names.includes(name));
  if (missing !== undefined)
    throw new AppError("index_missing", `no such index [${missing}]`, { data: { index: missing } });
  const tests = wanted.map((pattern) => compileWildcard(pattern === "_all" ? "*" : pattern));
  return names
    .filter((name) => tests.some((test) => test.matches(name)))
    .map((name) => ({ name, indices: backingIndices(all, name) }));
}

function describe(parts: ApiContext, { name, indices }: Stream): JsonObject {
  const found = templateFor(name, parts.indices.templateCatalog.set().templates);
  const options = found?.template.data_stream;
  const newest = indices.at(-1)!;
  return {
    name,
    timestamp_field: { name: TIMESTAMP_FIELD },
    indices: indices.map((index) => ({
      index_name: index.name,
      index_uuid: index.uuid,
      ...(answersAs(800) && { managed_by: managerOf(index), prefer_ilm: true, ...policyOf(index) }),
    })),
    generation: generationOf(newest),
    ...(found?.template._meta !== undefined && { _meta: found.template._meta }),
    status: clusterHealth(indices, parts.cluster).status.toUpperCase(),
    ...(found !== undefined && { template: found.name }),
    ...policyOf(newest),
    hidden: options?.hidden ?? false,
    system: false,
    replicated: false,
    // Clients of 7 reject fields that were added later.
    ...(answersAs(800) && {
      allow_custom_routing: options?.allow_custom_routing ?? false,
      next_generation_managed_by: managerOf(newest),
      prefer_ilm: true,
      rollover_on_write: false,
    }),
  };
}

function policyOf(index: IndexInfo): { readonly ilm_policy?: string } {
  const policy = policyName(index);
  return policy === undefined ? {} : { ilm_policy: policy };
}

/** Without a policy retention.rules decide, for which 8.x has no term. */
function managerOf(index: IndexInfo): string {
  return policyName(index) === undefined ? "Unmanaged" : "Index Lifecycle Management";
}

async function deleteStreams(parts: ApiContext, request: ApiRequest): Promise<ApiResponse> {
  checkWholeNames(parts.cluster, request.segment("name"));
  // The newest is deleted last, so that a failed attempt leaves a valid stream.
  const names = meant(parts, request).flatMap(({ indices }) => indices.map(({ name }) => name));
  await parts.indices.delete(names);
  return json({ acknowledged: true });
}

async function showStats(parts: ApiContext, request: ApiRequest): Promise<ApiResponse> {
  const streams = await Promise.all(meant(parts, request).map((stream) => statsOf(parts, stream)));
  const shards = streams.reduce((sum, each) => sum + each.shards, 0);
  return json({
    _shards: { total: shards, successful: shards, failed: 0 },
    data_stream_count: streams.length,
    backing_indices: streams.reduce((sum, { body }) => sum + body.backing_indices, 0),
    total_store_size_bytes: streams.reduce((sum, { body }) => sum + body.store_size_bytes, 0),
    data_streams: streams.map(({ body }) => body),
  });
}

async function statsOf({ shards }: ApiContext, { name, indices }: Stream) {
  const open = indices.filter(({ state }) => state === "open");
  const [byIndex, newest] = await Promise.all([shards.stats(indices), shards.largest(open, TIMESTAMP_FIELD)]);
  const stats = [...byIndex.values()].flat();
  let newestMs = 0;
  for (const { uuid, mapping } of open) {
    const perMs = mapping.field(TIMESTAMP_FIELD)?.type === "date_nanos" ? NANOS_PER_MS : 1;
    const found = newest.get(uuid) ?? 0;
    // Infinite: a shard can't be queried now.
    if (Number.isFinite(found)) newestMs = Math.max(newestMs, found / perMs);
  }
  return {
    shards: stats.length,
    body: {
      data_stream: name,
      backing_indices: indices.length,
      store_size_bytes: stats.reduce((sum, { bytes }) => sum + bytes, 0),
      maximum_timestamp: Math.floor(newestMs),
    },
  };
}
