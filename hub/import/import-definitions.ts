/** Creates a cluster's templates, ingest pipelines and lifecycle policies in a hub, if the hub supports them. */

import { AppError } from "#proto/kit/errors.ts";
import { isObject, type JsonObject } from "#proto/kit/json.ts";
import { type ClusterClient, objectsIn, segmentOf } from "./cluster-client.ts";
import { type Definition, definitionOf, putDefinition } from "./index-definition.ts";
import { type ClusterVersion, flatSettings } from "./source-index.ts";

/** One definition and the result of its import. */
export interface DefinitionResult {
  /** "template", "pipeline", "lifecycle". */
  readonly kind: string;
  readonly name: string;
  /** Undefined: it is in the hub. */
  readonly error: string | undefined;
  readonly leftOut: readonly string[];
}

/** Names of definitions that are part of a cluster's own software; most are also marked as managed. */
const OWN =
  /^(\.|(ilm|slm)-history|(logs|metrics|synthetics)(-mappings|-settings|@.*)?$|data-streams-mappings|ecs@|xpack-|ent-search)/;

/** Imports the ingest pipelines. Throws as `ClusterClient.ask` if the source can't be read. */
export async function importPipelines(
  source: ClusterClient,
  hub: ClusterClient,
): Promise<DefinitionResult[]> {
  const all = (await source.find("/_ingest/pipeline")) ?? {};
  const results: DefinitionResult[] = [];
  for (const [name, body] of Object.entries(all)) {
    if (OWN.test(name) || !isObject(body) || isManaged(body)) continue;
    const definition = { body, leftOut: [] };
    results.push(await put(hub, "pipeline", name, `/_ingest/pipeline/${segmentOf(name)}`, definition));
  }
  return results;
}

/** Imports index templates of both kinds and their components. Throws as `ClusterClient.ask`. */
export async function importTemplates(
  source: ClusterClient,
  hub: ClusterClient,
  target: ClusterVersion,
  policies: ReadonlySet<string>,
): Promise<DefinitionResult[]> {
  const results: DefinitionResult[] = [];
  for (const kind of ["component_templates", "index_templates"]) {
    const path = `/_${kind.slice(0, -1)}`;
    const answer = await source.find(path);
    for (const { name, [kind.slice(0, -1)]: body } of objectsIn(answer?.[kind])) {
      if (typeof name !== "string" || OWN.test(name) || !isObject(body) || isManaged(body)) continue;
      const { template, deprecated: _marked, ...rest } = body;
      const inner = definitionOf(isObject(template) ? template : {}, 800, policies);
      const definition = { body: { ...rest, template: inner.body }, leftOut: inner.leftOut };
      results.push(await put(hub, "template", name, `${path}/${segmentOf(name)}`, definition));
    }
  }
  for (const [name, body] of Object.entries((await source.find("/_template")) ?? {}))
    if (!OWN.test(name) && isObject(body))
      results.push(await importLegacy(hub, name, body, target, policies));
  return results;
}

async function importLegacy(
  hub: ClusterClient,
  name: string,
  body: JsonObject,
  target: ClusterVersion,
  policies: ReadonlySet<string>,
): Promise<DefinitionResult> {
  const { settings, mappings, aliases, ...rest } = body;
  let definition: Definition;
  try {
    definition = definitionOf({ settings, mappings, aliases }, target, policies);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return { kind: "template", name, error: error.message, leftOut: [] };
  }
  const whole = { body: { ...rest, ...definition.body }, leftOut: definition.leftOut };
  return put(hub, "template", name, `/_template/${segmentOf(name)}`, whole);
}

/** Result of the import of the lifecycle policies. */
export interface ImportedPolicies {
  readonly results: readonly DefinitionResult[];
  /** Names of the policies that the hub has. */
  readonly names: ReadonlySet<string>;
  /** Retention rules that replace the deletions of policies that the hub doesn't have. */
  readonly rules: readonly string[];
}

/**
 * Imports the lifecycle policies, except the cluster's built-in ones that no template of its user names. A policy that
 * the hub already has is left unchanged. Throws as `ClusterClient.ask` if the source can't be read.
 */
export async function importPolicies(source: ClusterClient, hub: ClusterClient): Promise<ImportedPolicies> {
  const policies = Object.entries((await source.find("/_ilm/policy")) ?? {});
  const templates = policies.length === 0 ? [] : await templatesOf(source);
  const used = new Set(templates.map(({ policy }) => policy));
  const results: DefinitionResult[] = [];
  const names = new Set<string>();
  const rules = new Set<string>();
  for (const [name, stored] of policies) {
    if (!isObject(stored) || !isObject(stored["policy"])) continue;
    const { policy } = stored as { policy: JsonObject };
    if ((OWN.test(name) || OWN_POLICY.test(name) || isManaged(policy)) && !used.has(name)) continue;
    const result = await importPolicy(hub, name, policy);
    if (result === undefined || result.error === undefined) names.add(name);
    if (result !== undefined) results.push(result);
    const age = textAt(policy, ["phases", "delete", "min_age"]);
    if (result?.error === undefined || age === undefined) continue;
    for (const each of templates)
      if (each.policy === name) for (const pattern of each.patterns) rules.add(`${pattern} ${age}`);
  }
  return { results, names, rules: [...rules] };
}

/** Names of a cluster's built-in policies. */
const OWN_POLICY = /^\d+-days(-default|@lifecycle)$|@lifecycle$|-ilm-policy$|^kibana-/;

/** Returns undefined for a policy that the hub has. */
async function importPolicy(
  hub: ClusterClient,
  name: string,
  { phases, _meta }: JsonObject,
): Promise<DefinitionResult | undefined> {
  const path = `/_ilm/policy/${segmentOf(name)}`;
  if ((await hub.find(path)) !== undefined) return undefined;
  const body = { policy: { phases, ...(isObject(_meta) && { _meta }) } };
  const actions = Object.entries(isObject(phases) ? phases : {}).flatMap(([phase, value]) =>
    Object.keys(isObject(value) && isObject(value["actions"]) ? value["actions"] : {})
      .filter((action) => !EFFECTIVE.has(action))
      .map((action) => `the effect of ${phase}.${action}`),
  );
  return put(hub, "lifecycle", name, path, { body, leftOut: actions });
}

/** Actions of policies that a hub carries out. */
const EFFECTIVE: ReadonlySet<string> = new Set(["rollover", "readonly", "forcemerge", "delete"]);

interface TemplateUse {
  readonly patterns: readonly string[];
  /** The lifecycle policy that it names. */
  readonly policy: string | undefined;
}

/** Returns the templates and components of the cluster's user; components have no patterns. */
async function templatesOf(source: ClusterClient): Promise<TemplateUse[]> {
  const found: [name: string, body: JsonObject][] = [];
  for (const [name, body] of Object.entries((await source.find("/_template")) ?? {}))
    if (isObject(body)) found.push([name, body]);
  for (const kind of ["component_template", "index_template"]) {
    const list = (await source.find(`/_${kind}`))?.[`${kind}s`];
    for (const { name, [kind]: body } of objectsIn(list))
      if (typeof name === "string" && isObject(body)) found.push([name, body]);
  }
  return found
    .filter(([name, body]) => !OWN.test(name) && !isManaged(body))
    .map(([, body]) => {
      const settings = body["settings"] ?? (isObject(body["template"]) ? body["template"]["settings"] : {});
      const policy = flatSettings(settings)["lifecycle.name"];
      return {
        patterns: Array.isArray(body["index_patterns"]) ? (body["index_patterns"] as string[]) : [],
        policy: typeof policy === "string" ? policy : undefined,
      };
    });
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
