/** Parses, checks and prints composable templates and their components, and matches their names. */

import { warnOfFields, warnOfSettings } from "#hub/api/compat/interface-compatibility.ts";
import { DEFAULT_TYPE, splitType } from "#hub/api/compat/mapping-types.ts";
import { parseAliases } from "#hub/api/parameters/alias-definition.ts";
import { flattenSettings, nestSettings, printSettings } from "#hub/api/parameters/index-settings.ts";
import { isTrue, optionalInteger, texts } from "#hub/api/parameters/values.ts";
import type {
  ComponentTemplate,
  ComposableTemplate,
  DataStreamOptions,
  PartialDefinition,
} from "#hub/cluster/catalog/composable-templates.ts";
import { answersAs } from "#hub/search/options/request-version.ts";
import { compileWildcard } from "#hub/search/patterns/wildcard.ts";
import { AppError } from "#proto/kit/errors.ts";
import { isObject, type JsonObject } from "#proto/kit/json.ts";

const TEMPLATE_KEYS = [
  "index_patterns",
  "template",
  "composed_of",
  "priority",
  "version",
  "_meta",
  "data_stream",
  "allow_auto_create",
  "ignore_missing_component_templates",
  "deprecated",
];
const COMPONENT_KEYS = ["template", "version", "_meta", "allow_auto_create", "deprecated"];
const DEFINITION_KEYS = ["settings", "mappings", "aliases", "lifecycle"];
const STREAM_KEYS = ["hidden", "allow_custom_routing"];

/** Parses a composable template. Throws parsing, request_invalid, settings_invalid. */
export function readComposable(name: string, body: JsonObject): ComposableTemplate {
  checkKeys("index_template", body, TEMPLATE_KEYS);
  const patterns = texts(body["index_patterns"], "index_patterns");
  if (patterns.length === 0) throw invalid(name, "index patterns are missing");
  const priority = optionalInteger(body["priority"], "priority");
  if (priority !== undefined && priority < 0) throw invalid(name, "index template priority must be >= 0");
  const stream = body["data_stream"];
  const mayBeMissing = texts(
    body["ignore_missing_component_templates"],
    "ignore_missing_component_templates",
  );
  return {
    index_patterns: patterns,
    ...(priority !== undefined && { priority }),
    composed_of: texts(body["composed_of"], "composed_of"),
    ...(isGiven(body["template"]) && { template: readDefinition("template", body["template"]) }),
    ...readMarks(body),
    ...(isGiven(stream) && { data_stream: readStream(stream) }),
    ...(isGiven(body["allow_auto_create"]) && { allow_auto_create: isTrue(body["allow_auto_create"]) }),
    ...(mayBeMissing.length > 0 && { ignore_missing_component_templates: mayBeMissing }),
  };
}

/** Parses a component template. Throws parsing, settings_invalid. */
export function readComponent(body: JsonObject): ComponentTemplate {
  checkKeys("component_template", body, COMPONENT_KEYS);
  if (!isGiven(body["template"])) {
    throw new AppError("parsing", "Required [template]", { data: { type: "illegal_argument_exception" } });
  }
  return { template: readDefinition("template", body["template"]), ...readMarks(body) };
}

/** Returns a template as answers show it. */
export function printComposable(template: ComposableTemplate, isFlat: boolean): JsonObject {
  const { index_patterns, template: own, composed_of, data_stream: stream, ...rest } = template;
  return {
    index_patterns,
    ...(own !== undefined && { template: printDefinition(own, isFlat) }),
    composed_of,
    ...rest,
    ...(stream !== undefined && { data_stream: printedStream(stream) }),
  };
}

/** Clients of 7 reject options that were added later. */
function printedStream({
  hidden = false,
  allow_custom_routing: routing = false,
}: DataStreamOptions): JsonObject {
  return { hidden, ...((answersAs(800) || routing) && { allow_custom_routing: routing }) };
}

/** Returns a component as answers show it. */
export function printComponent({ template, ...rest }: ComponentTemplate, isFlat: boolean): JsonObject {
  return { template: printDefinition(template, isFlat), ...rest };
}

/** Returns the definition in a template; only the parts that exist. */
export function printDefinition(
  { settings, mappings, aliases }: PartialDefinition,
  isFlat: boolean,
): JsonObject {
  const flat = settings === undefined ? {} : printSettings(settings);
  return {
    ...(settings !== undefined && { settings: isFlat ? flat : nestSettings(flat) }),
    ...(mappings !== undefined && { mappings }),
    ...(aliases !== undefined && { aliases }),
  };
}

/** Throws request_invalid for names that no template may have. */
export function checkTemplateName(name: string): void {
  const broken = [
    [name.includes(" "), "name must not contain a space"],
    [name.includes(","), "name must not contain a ','"],
    [name.includes("#"), "name must not contain a '#'"],
    [name.includes("*"), "name must not contain a '*'"],
    [name.startsWith("_"), "name must not start with '_'"],
    [name !== name.toLowerCase(), "name must be lower cased"],
    [!name.isWellFormed(), "name must be well-formed Unicode"],
  ] as const;
  const rule = broken.find(([isBroken]) => isBroken);
  if (rule !== undefined) throw invalid(name.toWellFormed(), rule[1]);
}

function readDefinition(place: string, value: unknown): PartialDefinition {
  if (!isObject(value)) throw new AppError("parsing", `[${place}] must be an object`);
  checkKeys(place, value, DEFINITION_KEYS);
  const { settings, mappings, aliases, lifecycle } = value;
  const flat = flattenSettings(settings);
  warnOfSettings(isGiven(lifecycle) ? { ...flat, "lifecycle.data_retention": true } : flat);
  if (isObject(mappings)) warnOfFields(mappings);
  return {
    ...(isGiven(settings) && { settings: flat }),
    ...(isGiven(mappings) && { mappings: readMapping(mappings) }),
    ...(isGiven(aliases) && { aliases: parseAliases(aliases) }),
  };
}

function readMapping(value: unknown): JsonObject {
  const { type, mapping } = splitType(value, "_template");
  if (type === undefined || type === DEFAULT_TYPE) return mapping;
  throw new AppError(
    "mapping_parse",
    `Root mapping definition has unsupported parameters: [${type}]; a composable template has no types`,
  );
}

function readMarks(body: JsonObject): { version?: number; _meta?: JsonObject } {
  const version = optionalInteger(body["version"], "version");
  const meta = body["_meta"];
  if (isGiven(meta) && !isObject(meta)) throw new AppError("parsing", "[_meta] must be an object");
  return { ...(version !== undefined && { version }), ...(isObject(meta) && { _meta: meta }) };
}

function readStream(value: unknown): NonNullable<ComposableTemplate["data_stream"]> {
  if (!isObject(value)) throw new AppError("parsing", "[data_stream] must be an object");
  checkKeys("data_stream_template", value, STREAM_KEYS);
  const flags = STREAM_KEYS.filter((key) => isGiven(value[key])).map((key) => [key, isTrue(value[key])]);
  return Object.fromEntries(flags) as NonNullable<ComposableTemplate["data_stream"]>;
}

function checkKeys(place: string, body: JsonObject, known: readonly string[]): void {
  const unknown = Object.keys(body).find((key) => !known.includes(key));
  if (unknown === undefined) return;
  throw new AppError("parsing", `[${place}] unknown field [${unknown}]`, {
    data: { type: "x_content_parse_exception" },
  });
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function invalid(name: string, why: string): AppError {
  return new AppError(
    "request_invalid",
    `index_template [${name}] invalid, cause [Validation Failed: 1: ${why};]`,
    {
      data: { type: "invalid_index_template_exception" },
    },
  );
}

/** Returns the names, in order, that match one of `patterns`; without patterns: all. */
export function namesMatching(
  templates: Readonly<Record<string, unknown>>,
  patterns: readonly string[] | undefined,
): string[] {
  const all = Object.keys(templates).sort();
  if (patterns === undefined) return all;
  const tests = patterns.map((pattern) => compileWildcard(pattern));
  return all.filter((name) => tests.some((test) => test.matches(name)));
}

/** Returns the names that match `patterns`. Throws not_found for an unknown name that isn't a pattern. */
export function namesAsked(
  templates: Readonly<Record<string, unknown>>,
  patterns: readonly string[] | undefined,
  what: string,
): string[] {
  const names = namesMatching(templates, patterns);
  const missing = missingOf(names, patterns);
  if (missing === undefined) return names;
  throw new AppError("not_found", `${what} matching [${missing}] not found`);
}

/** Returns the names to delete. Throws not_found for an unknown name, or if nothing matches (except for `*`). */
export function namesToDelete(
  templates: Readonly<Record<string, unknown>>,
  patterns: readonly string[],
  what: string,
): string[] {
  const names = namesMatching(templates, patterns);
  const asked = patterns.join(",");
  const missing = missingOf(names, patterns);
  if (missing === undefined && (names.length > 0 || asked === "*")) return names;
  throw new AppError("not_found", `${what} [${missing ?? asked}] missing`, {
    data: { type: "index_template_missing_exception" },
  });
}

function missingOf(names: readonly string[], patterns: readonly string[] | undefined): string | undefined {
  return patterns?.find((name) => !name.includes("*") && !names.includes(name));
}

/** Throws request_invalid if a template has this name. */
export function requireNew(templates: Readonly<Record<string, unknown>>, name: string, what: string): void {
  if (Object.hasOwn(templates, name))
    throw new AppError("request_invalid", `${what} [${name}] already exists`);
}
