/** Dynamic templates: settings for fields that no mapping names, chosen by name, path and JSON type. */

import { compilePattern, type Pattern } from "#hub/engine/analysis/parts/pattern.ts";
import { matchesWildcard } from "#proto/kit/wildcard.ts";
import { asRecord, parseError, printValue } from "./parameters.ts";

/** Types that JSON values have for `match_mapping_type`. */
export type JsonType = "string" | "long" | "double" | "boolean" | "date" | "object" | "binary";

export interface DynamicTemplate {
  readonly name: string;
  /** True for a field of this name, path and type. */
  matches(name: string, path: string, type: JsonType): boolean;
  /** The mapping with {name} and {dynamic_type} filled in. */
  mapping(name: string, defaultType: string): Record<string, unknown>;
  readonly json: Readonly<Record<string, unknown>>;
}

/**
 * Reads the list of a mapping's `dynamic_templates`. `isStored`: of an index that is there already; it may have patterns that are
 * refused now. Throws mapping_parse.
 */
export function parseTemplates(json: unknown, isStored: boolean): DynamicTemplate[] {
  if (!Array.isArray(json))
    throw parseError("Dynamic template syntax error. An array of named objects is expected.");
  return json.map((entry: unknown) => {
    const named = Object.entries(asRecord(entry) ?? {});
    const body = asRecord(named[0]?.[1]);
    if (named.length !== 1 || body === undefined) {
      throw parseError("A dynamic template must be defined with a name");
    }
    return parseTemplate(named[0]![0], body, isStored);
  });
}

function parseTemplate(
  name: string,
  json: Readonly<Record<string, unknown>>,
  isStored: boolean,
): DynamicTemplate {
  const mapping = asRecord(json["mapping"]);
  if (mapping === undefined) throw parseError(`template [${name}] must have mapping set`);
  const type = json["match_mapping_type"];
  const isRegexp = json["match_pattern"] === "regex";
  const compile = (pattern: unknown): NameTest | null => nameTest(pattern, isRegexp, isStored);
  const rules = {
    match: compile(json["match"]),
    unmatch: compile(json["unmatch"]),
    pathMatch: compile(json["path_match"]),
    pathUnmatch: compile(json["path_unmatch"]),
  };
  if (rules.match === null && rules.pathMatch === null && type === undefined) {
    throw parseError(`template [${name}]: template must have match, path_match or match_mapping_type set`);
  }
  return {
    name,
    json,
    matches(fieldName, path, jsonType) {
      if (type !== undefined && type !== "*" && type !== jsonType) return false;
      if (rules.match !== null && !rules.match.test(fieldName)) return false;
      if (rules.unmatch?.test(fieldName)) return false;
      if (rules.pathMatch !== null && !rules.pathMatch.test(path)) return false;
      return !rules.pathUnmatch?.test(path);
    },
    mapping: (fieldName, defaultType) => {
      const filled = fill(mapping, fieldName, defaultType) as Record<string, unknown>;
      return filled["type"] === undefined ? { type: defaultType, ...filled } : filled;
    },
  };
}

/** Decides whether a name or a path is meant. */
interface NameTest {
  test(name: string): boolean;
}

/** Throws mapping_parse for a regular expression whose time could grow faster than the names. */
function nameTest(pattern: unknown, isRegexp: boolean, isStored: boolean): NameTest | null {
  if (pattern === undefined) return null;
  const source = printValue(pattern);
  if (!isRegexp) return { test: (name) => matchesWildcard(source, name) };
  const whole = compiled(source);
  if (whole.fault !== undefined && !isStored)
    throw parseError(`Pattern [${source}] can't run in time linear in the name: ${whole.fault}`);
  return { test: (name) => whole.matches(name)[Symbol.iterator]().next().done !== true };
}

function compiled(source: string): Pattern {
  try {
    return compilePattern(`^(?:${source})$`);
  } catch {
    throw parseError(`Pattern [${source}] of type [regex] is invalid. Cannot create dynamic template.`);
  }
}

function fill(value: unknown, name: string, type: string): unknown {
  if (typeof value === "string") return value.replaceAll("{name}", name).replaceAll("{dynamic_type}", type);
  if (Array.isArray(value)) return value.map((entry) => fill(entry, name, type));
  const record = asRecord(value);
  if (record === undefined) return value;
  return Object.fromEntries(
    Object.entries(record).map(([key, inner]) => [fill(key, name, type), fill(inner, name, type)]),
  );
}

/** Paths that the values of a field that a template made are copied to. */
export function copiesOf(made: Readonly<Record<string, unknown>> | undefined): readonly string[] {
  const given = made?.["copy_to"];
  const list: readonly unknown[] = Array.isArray(given) ? given : [given];
  return list.filter((path) => typeof path === "string");
}
