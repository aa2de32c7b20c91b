/** Templates, ingest pipelines and lifecycle policies of a cluster, made in a hub where it can. */

import { AppError } from "#proto/kit/errors.ts";
import { isObject, type JsonObject } from "#proto/kit/json.ts";
import type { ClusterClient } from "./cluster-client.ts";
import { type Definition, definitionOf, putDefinition } from "./index-definition.ts";
import { type ClusterVersion, flatSettings } from "./source-index.ts";

/** One definition and what became of it. */
export interface DefinitionResult {
  /** "template", "pipeline", "lifecycle". */
  readonly kind: string;
  readonly name: string;
  /** Undefined: it is in the hub. */
  readonly error: string | undefined;
  readonly leftOut: readonly string[];
}

/** Names of definitions that a cluster brings itself; most are marked as managed too. */
const OWN =
  /^(\.|(ilm|slm)-history|(logs|metrics|synthetics)(-mappings|-settings|@.*)?$|data-streams-mappings|ecs@|xpack-|ent-search)/;

/** Imports the ingest pipelines. Throws as `ClusterClient.ask` where the source can't be read. */
export async function importPipelines(
  source: ClusterClient,
  hub: ClusterClient,
): Promise<DefinitionResult[]> {
  const all = (await source.find("/_ingest/pipeline")) ?? {};
  const results: DefinitionResult[] = [];
  for (const [name, body] of Object.entries(all)) {
    if (OWN.test(name) || !isObject(body) || isManaged(body)) continue;
    const definition = { body, leftOut: [] };
    results.push(
      await put(hub, "pipeline", name, `/_ingest/pipeline/${encodeURIComponent(name)}`, definition),
    );
  }
  return results;
}

/** Imports index templates of both kinds and their components. Throws as `ClusterClient.ask`. */
export async function importTemplates(
  source: ClusterClient,
  hub: ClusterClient,
  target: ClusterVersion,
): Promise<DefinitionResult[]> {
  const results: DefinitionResult[] = [];
  for (const kind of ["component_templates", "index_templates"]) {
    const path = `/_${kind.slice(0, -1)}`;
    const answer = await source.find(path);
    const list = Array.isArray(answer?.[kind]) ? (answer[kind] as JsonObject[]) : [];
    for (const { name, [kind.slice(0, -1)]: body } of list) {
      if (typeof name !== "string" || OWN.test(name) || !isObject(body) || isManaged(body)) continue;
      const { template, deprecated: _marked, ...rest } = body;
      const inner = definitionOf(isObject(template) ? template : {}, 800);
      const definition = { body: { ...rest, template: inner.body }, leftOut: inner.leftOut };
      results.push(await put(hub, "template", name, `${path}/${encodeURIComponent(name)}`, definition));
    }
  }
  for (const [name, body] of Object.entries((await source.find("/_template")) ?? {}))
    if (!OWN.test(name) && isObject(body)) results.push(await importLegacy(hub, name, body, target));
  return results;
}

async function importLegacy(
  hub: ClusterClient,
  name: string,
  body: JsonObject,
  target: ClusterVersion,
): Promise<DefinitionResult> {
  const { settings, mappings, aliases, ...rest } = body;
  let definition: Definition;
  try {
    definition = definitionOf({ settings, mappings, aliases }, target);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return { kind: "template", name, error: error.message, leftOut: [] };
  }
  const whole = { body: { ...rest, ...definition.body }, leftOut: definition.leftOut };
  return put(hub, "template", name, `/_template/${encodeURIComponent(name)}`, whole);
}

/** Returns the rules by which a hub deletes what lifecycle policies of the source delete. Throws as `ClusterClient.ask`. */
export async function retentionRules(source: ClusterClient): Promise<string[]> {
  const policies = (await source.find("/_ilm/policy")) ?? {};
  const ages = new Map<string, string>();
  for (const [name, policy] of Object.entries(policies)) {
    const age = textAt(policy, ["policy", "phases", "delete", "min_age"]);
    if (age !== undefined) ages.set(name, age);
  }
  if (ages.size === 0) return [];
  const rules = new Set<string>();
  for (const { patterns, settings } of await templatesOf(source)) {
    const age = ages.get(String(flatSettings(settings)["lifecycle.name"] as string));
    if (age !== undefined) for (const pattern of patterns) rules.add(`${pattern} ${age}`);
  }
  return [...rules];
}

/** Returns the patterns and settings of all templates. */
async function templatesOf(source: ClusterClient): Promise<{ patterns: string[]; settings: unknown }[]> {
  const legacy = Object.values((await source.find("/_template")) ?? {}).filter(isObject);
  const list = (await source.find("/_index_template"))?.["index_templates"];
  const composable = (Array.isArray(list) ? (list as JsonObject[]) : [])
    .map((each) => each["index_template"])
    .filter(isObject);
  return [...legacy, ...composable].map((body) => ({
    patterns: Array.isArray(body["index_patterns"]) ? (body["index_patterns"] as string[]) : [],
    settings: body["settings"] ?? (isObject(body["template"]) ? body["template"]["settings"] : {}),
  }));
}

async function put(
  hub: ClusterClient,
  kind: string,
  name: string,
  path: string,
  definition: Definition,
): Promise<DefinitionResult> {
  try {
    return { kind, name, error: undefined, leftOut: await putDefinition(hub, path, definition) };
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== "request_invalid") throw error;
    return { kind, name, error: error.message, leftOut: [] };
  }
}

function isManaged(body: JsonObject): boolean {
  return isObject(body["_meta"]) && body["_meta"]["managed"] === true;
}

function textAt(value: unknown, path: readonly string[]): string | undefined {
  let at = value;
  for (const key of path) at = isObject(at) ? at[key] : undefined;
  return typeof at === "string" ? at : undefined;
}
