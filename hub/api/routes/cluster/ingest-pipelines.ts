/** `_ingest`: stores, shows and simulates the pipelines that documents pass before they are written. */

import { ingestError } from "#hub/api/context/apply-pipelines.ts";
import { errorDetail, errorIn } from "#hub/api/http/error-body.ts";
import type { ApiRequest } from "#hub/api/http/request.ts";
import { type ApiResponse, json, type Route } from "#hub/api/http/route.ts";
import type { IngestDestination, IngestFailure, IngestPipelines } from "#hub/api/ports/pipelines.ts";
import { RawJson, writeJson } from "#hub/search/options/json-writer.ts";
import { requestVersion } from "#hub/search/options/request-version.ts";
import { compileWildcard } from "#hub/search/patterns/wildcard.ts";
import { AppError } from "#proto/kit/errors.ts";
import { isObject, type JsonObject } from "#proto/kit/json.ts";

/** Maximum number of documents of one simulation. */
const MAX_SAMPLES = 1_000;

/** A processor's failure has no shards. */
const NOWHERE = { nodeId: "" };

const DESTINATION = ["_index", "_type", "_id", "_routing", "_version", "_version_type"] as const;

export function ingestRoutes(ingest: IngestPipelines): Route[] {
  return [
    {
      methods: ["GET"],
      paths: ["/_ingest/pipeline", "/_ingest/pipeline/{id}"],
      params: ["master_timeout"],
      action: "monitor",
      summary: "Shows ingest pipelines.",
      handle: (request) => show(ingest, request),
    },
    {
      methods: ["PUT"],
      paths: ["/_ingest/pipeline/{id}"],
      params: ["master_timeout", "timeout"],
      action: "administer",
      summary: "Checks an ingest pipeline and stores it.",
      audited: "pipeline_changed",
      handle: async (request) => {
        const definition = request.metadata();
        request.requireBody();
        await ingest.put(request.segment("id"), definition);
        return json({ acknowledged: true });
      },
    },
    {
      methods: ["DELETE"],
      paths: ["/_ingest/pipeline/{id}"],
      params: ["master_timeout", "timeout"],
      action: "administer",
      summary: "Deletes ingest pipelines.",
      audited: "pipeline_removed",
      handle: (request) => remove(ingest, request),
    },
    {
      methods: ["GET", "POST"],
      paths: ["/_ingest/pipeline/_simulate", "/_ingest/pipeline/{id}/_simulate"],
      params: ["verbose"],
      action: "administer",
      summary: "Runs an ingest pipeline on sample documents without writing them.",
      handle: (request) => simulate(ingest, request),
    },
    {
      methods: ["GET"],
      paths: ["/_ingest/processor/grok"],
      params: ["s", "ecs_compatibility"],
      action: "monitor",
      summary: "Lists the grok patterns; s: sorted by name, ecs_compatibility: v1 with fields of the ECS.",
      handle: (request) => showPatterns(ingest, request),
    },
  ];
}

async function showPatterns(ingest: IngestPipelines, request: ApiRequest): Promise<ApiResponse> {
  const mode = request.text("ecs_compatibility") ?? "disabled";
  if (mode !== "disabled" && mode !== "v1")
    throw new AppError("request_invalid", `unsupported ECS compatibility mode [${mode}]`);
  const patterns = Object.entries(await ingest.patterns(mode === "v1"));
  if (request.flag("s") ?? false) patterns.sort(([a], [b]) => (a < b ? -1 : 1));
  return json({ patterns: Object.fromEntries(patterns) });
}

function show(ingest: IngestPipelines, request: ApiRequest): ApiResponse {
  const found = matching(ingest, request.path["id"] ?? "*");
  const isMissing =
    found.length === 0 && request.path["id"] !== undefined && !hasWildcard(request.path["id"]);
  return json(Object.fromEntries(found), isMissing ? 404 : 200);
}

async function remove(ingest: IngestPipelines, request: ApiRequest): Promise<ApiResponse> {
  const id = request.segment("id");
  const found = matching(ingest, id);
  if (found.length === 0 && id !== "*") throw missing(id);
  await ingest.delete(found.map(([name]) => name));
  return json({ acknowledged: true });
}

async function simulate(ingest: IngestPipelines, request: ApiRequest): Promise<ApiResponse> {
  const body = request.object();
  request.requireBody();
  const id = request.path["id"];
  const definition = id === undefined ? request.metadata()["pipeline"] : ingest.all().get(id);
  if (id !== undefined && definition === undefined)
    throw new AppError("request_invalid", `pipeline [${id}] does not exist`);
  if (!isObject(definition)) throw missingProperty("pipeline");
  const docs = body["docs"];
  if (!Array.isArray(docs)) throw missingProperty("docs");
  if (docs.length === 0 || docs.length > MAX_SAMPLES)
    throw new AppError("request_invalid", `must specify 1 to ${MAX_SAMPLES} documents in [docs]`);
  const samples = docs.map(sampleOf);
  const shown = await ingest.simulate(definition, samples, request.flag("verbose") ?? false, id);
  return json({ docs: shown.map(printed) });
}

/** Writes a document of a simulation: its source comes as text, its failure as that of a document that is written. */
function printed(shown: unknown): unknown {
  if (!isObject(shown)) return shown;
  const { doc, processor_results: steps, failed, ...about } = shown;
  if (Array.isArray(steps)) return { processor_results: steps.map(printed) };
  if (failed !== undefined)
    return {
      ...about,
      error: errorDetail(errorIn(ingestError(failed as IngestFailure), requestVersion()), NOWHERE),
    };
  return isObject(doc)
    ? { ...shown, doc: { ...doc, _source: new RawJson(Buffer.from(String(doc["_source"]))) } }
    : shown;
}

function sampleOf(doc: unknown): { source: string; destination: IngestDestination } {
  const source = isObject(doc) ? doc["_source"] : undefined;
  if (!isObject(doc) || !isObject(source)) throw missingProperty("_source");
  const destination: IngestDestination = { _index: "_index", _type: "_type", _id: "_id" };
  for (const name of DESTINATION) {
    const value = doc[name];
    if (typeof value === "string" || typeof value === "number") destination[name] = String(value);
  }
  return { source: writeJson(source), destination };
}

/** Returns the pipelines matching names that are separated by commas and may have wildcards. */
function matching(ingest: IngestPipelines, names: string): [string, JsonObject][] {
  const patterns = names.split(",").map((name) => (name === "_all" ? "*" : name));
  const fits = patterns.map((name) => (hasWildcard(name) ? matcherOf(name) : (id: string) => id === name));
  return [...ingest.all()].filter(([id]) => fits.some((fit) => fit(id)));
}

function matcherOf(pattern: string): (id: string) => boolean {
  const wildcard = compileWildcard(pattern);
  return (id) => wildcard.matches(id);
}

function hasWildcard(name: string): boolean {
  return name.includes("*");
}

function missing(id: string): AppError {
  return new AppError("not_found", `pipeline [${id}] is missing`, {
    data: { type: "resource_not_found_exception" },
  });
}

function missingProperty(name: string): AppError {
  return new AppError("request_invalid", `[${name}] required property is missing`, {
    data: { type: "parse_exception", header: { property_name: name } },
  });
}
