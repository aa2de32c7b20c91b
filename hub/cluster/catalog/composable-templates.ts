/**
 * Composable index templates, introduced in 7.8. Only the matching template of the highest priority applies to a new index.
 * It is composed of component templates and overrides legacy templates.
 */

import { AppError } from "#proto/kit/errors.ts";
import { isObject, type JsonObject } from "#proto/kit/json.ts";
import { matchesWildcard } from "#proto/kit/wildcard.ts";
import { type IndexDefinition, overlaySettings } from "./templates.ts";

/**
 * Part of a definition; absent parts are not returned either. Settings are dotted keys without the leading "index.".
 */
export type PartialDefinition = Partial<IndexDefinition>;

/** A building block shared by several templates. */
export interface ComponentTemplate {
  readonly template: PartialDefinition;
  readonly version?: number;
  readonly _meta?: JsonObject;
}

/** Data stream options of a template; none changes what is stored. */
export interface DataStreamOptions {
  readonly hidden?: boolean;
  readonly allow_custom_routing?: boolean;
}

/** A template that is the only one to apply to matching indices. */
export interface ComposableTemplate {
  readonly index_patterns: readonly string[];
  /** The highest priority among matching templates wins; default 0. */
  readonly priority?: number;
  /** Names of component templates; later ones override earlier ones. */
  readonly composed_of: readonly string[];
  /** Overrides the components. */
  readonly template?: PartialDefinition;
  readonly version?: number;
  readonly _meta?: JsonObject;
  /** Present: matching names are data streams. */
  readonly data_stream?: DataStreamOptions;
  /** False: writes don't create the index. */
  readonly allow_auto_create?: boolean;
  /** Components that may be missing. */
  readonly ignore_missing_component_templates?: readonly string[];
}

/** Composable templates and their components, by name. */
export interface TemplateSet {
  readonly templates: Readonly<Record<string, ComposableTemplate>>;
  readonly components: Readonly<Record<string, ComponentTemplate>>;
}

/** A template with its name. */
export interface NamedTemplate {
  readonly name: string;
  readonly template: ComposableTemplate;
}

const EMPTY: IndexDefinition = { settings: {}, mappings: {}, aliases: {} };

/** Nesting levels of a mapping that are merged. */
const MAX_DEPTH = 50;

/** Returns the template that applies to an index of `name`; undefined if none matches. */
export function templateFor(
  name: string,
  templates: Readonly<Record<string, ComposableTemplate>>,
): NamedTemplate | undefined {
  return templatesFor(name, templates)[0];
}

/** Returns all templates that match `name`, in order of precedence. */
export function templatesFor(
  name: string,
  templates: Readonly<Record<string, ComposableTemplate>>,
): NamedTemplate[] {
  return Object.entries(templates)
    .filter(([, { index_patterns: patterns }]) => patterns.some((pattern) => matchesWildcard(pattern, name)))
    .map(([own, template]) => ({ name: own, template }))
    .sort((a, b) => (b.template.priority ?? 0) - (a.template.priority ?? 0) || (a.name < b.name ? -1 : 1));
}

/** Returns the definition of a template: its components in their order, then its own part. */
export function compose(
  { composed_of: names, template }: ComposableTemplate,
  components: TemplateSet["components"],
): IndexDefinition {
  const parts = names.map((name) =>
    Object.hasOwn(components, name) ? components[name]?.template : undefined,
  );
  return [...parts, template].reduce<IndexDefinition>((result, part) => overlay(result, part ?? {}), EMPTY);
}

/** Returns `below` overridden by `above`: settings and aliases by name, fields of the mapping as a whole. */
export function overlay(below: IndexDefinition, above: PartialDefinition): IndexDefinition {
  return {
    settings: overlaySettings(below.settings, above.settings ?? {}),
    mappings: mergeMappings(below.mappings, above.mappings ?? {}),
    aliases: { ...below.aliases, ...above.aliases },
  };
}

/** Returns the names of components that a template needs and that are missing. */
export function missingComponents(
  { composed_of: names, ignore_missing_component_templates: ignored = [] }: ComposableTemplate,
  components: TemplateSet["components"],
): string[] {
  return names.filter((name) => !Object.hasOwn(components, name) && !ignored.includes(name));
}

/** Throws request_invalid if another template of the same priority has overlapping patterns. */
export function checkPriority(
  name: string,
  { index_patterns: patterns, priority = 0 }: ComposableTemplate,
  templates: TemplateSet["templates"],
): void {
  const others = Object.entries(templates).filter(
    ([other, each]) =>
      other !== name && (each.priority ?? 0) === priority && patternsOverlap(patterns, each.index_patterns),
  );
  if (others.length === 0) return;
  throw new AppError(
    "request_invalid",
    `index template [${name}] has index patterns [${patterns.join(", ")}] matching patterns from existing templates ` +
      `[${others.map(([other]) => other).join(",")}] with patterns (${others.map(describePatterns).join(",")}) that have ` +
      `the same priority [${priority}], multiple index templates may not match during index creation, please use a ` +
      "different priority",
  );
}

/** Returns a template as messages show it: "name => [pattern, …]". */
export function describePatterns([name, { index_patterns: patterns }]: readonly [
  string,
  { readonly index_patterns: readonly string[] },
]): string {
  return `${name} => [${patterns.join(", ")}]`;
}

/** Returns true if some name matches one pattern of each list. */
export function patternsOverlap(some: readonly string[], others: readonly string[]): boolean {
  return some.some((a) => others.some((b) => overlaps(a, b)));
}

/**
 * Returns true if some name matches both patterns. Follows, character by character, the pairs of positions that a
 * common prefix can reach.
 */
function overlaps(a: string, b: string): boolean {
  const width = b.length + 1;
  const reached = new Uint8Array((a.length + 1) * width);
  reached[0] = 1;
  for (let i = 0; i <= a.length; i++) {
    for (let j = 0; j <= b.length; j++) {
      if (reached[i * width + j] === 0) continue;
      if (a[i] === "*") {
        reached[(i + 1) * width + j] = 1;
        if (j < b.length) reached[i * width + j + 1] = 1;
      }
      if (b[j] === "*") {
        reached[i * width + j + 1] = 1;
        if (i < a.length) reached[(i + 1) * width + j] = 1;
      }
      if (i < a.length && j < b.length && a[i] === b[j]) reached[(i + 1) * width + j + 1] = 1;
    }
  }
  return reached[a.length * width + b.length] === 1;
}

function mergeMappings(below: JsonObject, above: JsonObject): JsonObject {
  const result: JsonObject = { ...below, ...above };
  if (isObject(below["properties"]) || isObject(above["properties"]))
    result["properties"] = mergeProperties(objectOf(below["properties"]), objectOf(above["properties"]), 0);
  if (isObject(below["_meta"]) && isObject(above["_meta"]))
    result["_meta"] = { ...below["_meta"], ...above["_meta"] };
  const [some, others] = [below["dynamic_templates"], above["dynamic_templates"]];
  if (Array.isArray(some) && Array.isArray(others)) result["dynamic_templates"] = mergeNamed(some, others);
  return result;
}

/**
 * Merges lists of objects of one key each: an entry with a known key is replaced in its position, others are
 * appended.
 */
function mergeNamed(below: readonly unknown[], above: readonly unknown[]): unknown[] {
  const keyOf = (entry: unknown): string => Object.keys(objectOf(entry))[0] ?? "";
  const byName = new Map(below.map((entry) => [keyOf(entry), entry]));
  for (const entry of above) byName.set(keyOf(entry), entry);
  return [...byName.values()];
}

/** Objects merge, fields are replaced. "a.b" is the field b of a. */
function mergeProperties(below: JsonObject, above: JsonObject, depth: number): JsonObject {
  if (depth > MAX_DEPTH) return above;
  const result = withoutDots(below, depth);
  for (const [name, field] of Object.entries(withoutDots(above, depth)))
    result[name] = joined(result[name], field, depth);
  return result;
}

function joined(before: unknown, field: unknown, depth: number): unknown {
  const isJoined =
    isObject(before) && isObject(field) && isObject(before["properties"]) && isObject(field["properties"]);
  if (!isJoined) return field;
  const properties = mergeProperties(
    objectOf(before["properties"]),
    objectOf(field["properties"]),
    depth + 1,
  );
  return { ...before, ...field, properties };
}

/** Returns the properties with dotted names expanded by their first part. */
function withoutDots(properties: JsonObject, depth: number): JsonObject {
  const result: JsonObject = {};
  const objects = new Map<string, JsonObject>();
  for (const [name, field] of Object.entries(properties)) {
    const dot = name.indexOf(".");
    if (dot <= 0 || dot === name.length - 1) result[name] = field;
    else {
      const inner = objects.get(name.slice(0, dot)) ?? {};
      inner[name.slice(dot + 1)] = field;
      objects.set(name.slice(0, dot), inner);
    }
  }
  for (const [name, inner] of objects) result[name] = joined(result[name], { properties: inner }, depth);
  return result;
}

function objectOf(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}
