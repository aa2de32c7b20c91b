/** The mapping of an index: which fields there are and how their values are read. Immutable; a change makes another. */

import { AppError } from "#proto/kit/errors.ts";
import { matchesWildcard } from "#proto/kit/wildcard.ts";
import type { Analysis } from "../analysis/analysis.ts";
import { countNested } from "../json/nested-objects.ts";
import { dynamicProperties } from "./dynamic.ts";
import { type DynamicTemplate, parseTemplates } from "./dynamic-templates.ts";
import { type Field, flattenedTerms } from "./field.ts";
import { checkMappingNames } from "./field-names.ts";
import { mergeObject } from "./merge-object.ts";
import { NestedLevels } from "./nested-levels.ts";
import {
  EMPTY_ROOT,
  isObjectNode,
  type MappingNode,
  type ObjectKind,
  type ObjectNode,
  printObject,
} from "./node.ts";
import { asRecord, parseError, printValue } from "./parameters.ts";
import { mergeSourceSettings, type SourceSettings, WHOLE_SOURCE } from "./source-settings.ts";

/** index.mapping.total_fields.limit. */
const TOTAL_FIELDS_LIMIT = 1000;

/** index.mapping.depth.limit. */
const DEPTH_LIMIT = 20;

/** index.mapping.nested_fields.limit. */
const NESTED_FIELDS_LIMIT = 50;

/** index.mapping.nested_objects.limit. */
const NESTED_OBJECTS_LIMIT = 10_000;

/** Formats tried on strings of unknown fields, in this order. */
const DYNAMIC_DATE_FORMATS: readonly string[] = [
  "strict_date_optional_time",
  "yyyy/MM/dd HH:mm:ss Z||yyyy/MM/dd Z||yyyy/MM/dd HH:mm:ss||yyyy/MM/dd",
];

/** Keys of a mapping itself; an object without any of them has a type level. */
export const ROOT_KEYS: readonly string[] = [
  "properties",
  "dynamic",
  "enabled",
  "dynamic_templates",
  "date_detection",
  "numeric_detection",
  "dynamic_date_formats",
  "_source",
  "_routing",
  "_meta",
  "_all",
  "_field_names",
  "_size",
];

export interface MappingOptions {
  /** Name of the index, for messages. */
  readonly index: string;
  readonly analysis: Analysis;
  /** Counts changes, from 1. */
  readonly version?: number;
  /** index.mapping.total_fields.limit. */
  readonly totalFieldsLimit?: number;
  /** index.mapping.depth.limit. */
  readonly depthLimit?: number;
  /** index.mapping.nested_fields.limit. */
  readonly nestedFieldsLimit?: number;
  /** index.mapping.nested_objects.limit. */
  readonly nestedObjectsLimit?: number;
  /** True: the mapping was accepted before, maybe by an earlier version, which took fields with the names of metadata. */
  readonly takesMetadataNames?: boolean;
}

/** Settings at the root of a mapping beside its fields. */
interface RootSettings {
  readonly templates: readonly DynamicTemplate[];
  readonly templatesJson: unknown;
  readonly dateDetection: boolean;
  readonly numericDetection: boolean;
  readonly dynamicDateFormats: readonly string[];
  /** True: writes and reads of a document name its routing. */
  readonly routingRequired: boolean;
  /** Which parts of documents are shown; all are kept. */
  readonly source: SourceSettings;
  /** Further keys as given, for printing. */
  readonly given: Readonly<Record<string, unknown>>;
}

const DEFAULT_SETTINGS: RootSettings = {
  templates: [],
  templatesJson: undefined,
  dateDetection: true,
  numericDetection: false,
  dynamicDateFormats: DYNAMIC_DATE_FORMATS,
  routingRequired: false,
  source: WHOLE_SOURCE,
  given: {},
};

/** Which fields an index has. Safe to share between threads of work; a document never changes it. */
export class Mapping {
  /** Counts changes, from 1. */
  readonly version: number;
  readonly analysis: Analysis;
  readonly root: ObjectNode;
  readonly settings: RootSettings;
  readonly nested: NestedLevels;
  readonly #options: MappingOptions;
  readonly #fields = new Map<string, Field>();
  readonly #objects = new Map<string, ObjectNode>();
  readonly #flattened: Field[] = [];
  /** Paths of fields that a search computes. */
  readonly #computed = new Set<string>();
  /** Fields found by their whole path alone. */
  readonly #unlisted = new Set<string>();
  /** Takes the keys that are resolved; see `keysResolvedBy`. */
  #resolvedKeys: Set<string> | undefined;

  private constructor(root: ObjectNode, settings: RootSettings, version: number, options: MappingOptions) {
    this.root = root;
    this.settings = settings;
    this.version = version;
    this.analysis = options.analysis;
    this.#options = options;
    this.#collect(root, 1);
    this.nested = new NestedLevels(this.#objects);
    this.#checkLimits();
  }

  /** Reads `json` ({"properties": …}, or nothing) with the defaults of 6.5. Throws mapping_parse, mapping_conflict. */
  static parse(json: unknown, options: MappingOptions): Mapping {
    const empty = new Mapping(EMPTY_ROOT, DEFAULT_SETTINGS, (options.version ?? 1) - 1, options);
    const { isStored } = options.analysis;
    if (!isStored && options.takesMetadataNames !== true) checkMappingNames(json);
    const merged = empty.#merged(json, isStored);
    return merged === empty
      ? new Mapping(EMPTY_ROOT, DEFAULT_SETTINGS, options.version ?? 1, options)
      : merged;
  }

  /** This mapping with `json` merged in; itself where nothing changes. Throws mapping_parse, mapping_conflict. */
  merge(json: unknown): Mapping {
    checkMappingNames(json, this.root.children);
    return this.#merged(json, false);
  }

  #merged(json: unknown, isStored: boolean): Mapping {
    const record = asRecord(json ?? {});
    if (record === undefined) throw parseError("Failed to parse mapping: an object is expected");
    const unknown = Object.keys(record).filter((key) => !ROOT_KEYS.includes(key));
    if (unknown.length > 0) {
      const list = unknown.map((key) => `[${key} : ${JSON.stringify(record[key])}]`).join(" ");
      throw parseError(`Root mapping definition has unsupported parameters:  ${list}`);
    }
    const root = mergeObject(this.root, record, this.analysis);
    const settings = mergeSettings(this.settings, record, isStored);
    const merged = new Mapping(root, settings, this.version + 1, this.#options);
    return JSON.stringify(merged) === JSON.stringify(this) ? this : merged;
  }

  /** The same fields under another version, as when the owner of versions gave it one. */
  withVersion(version: number): Mapping {
    return new Mapping(this.root, this.settings, version, this.#options);
  }

  /**
   * The same mapping for searches, with fields in place of those, or objects, that have their paths. Neither patterns nor lists
   * have those that are `unlisted`.
   */
  overlaid(fields: readonly Field[], unlisted: readonly string[] = []): Mapping {
    if (fields.length === 0) return this;
    const result = this.withVersion(this.version);
    for (const field of fields) {
      result.#fields.set(field.path, field);
      result.#objects.delete(field.path);
      result.#computed.add(field.path);
    }
    for (const path of unlisted) result.#unlisted.add(path);
    return result;
  }

  /** True for a path whose field `overlaid` has put in. */
  isComputed(path: string): boolean {
    return this.#computed.has(path);
  }

  /** Field of a path, aliases not followed; multi-fields by their full path. */
  field(path: string): Field | undefined {
    return this.#fields.get(path);
  }

  /**
   * The field that a search means by a path: aliases are followed, and a `flattened` field and each key below it are keyword
   * fields.
   */
  resolve(path: string): Field | undefined {
    const field = this.#fields.get(path);
    if (field === undefined) return this.#flattenedKey(path);
    return searched(field.aliasOf === undefined ? field : this.#fields.get(field.aliasOf));
  }

  /** Runs `work` and returns the paths of keys of `flattened` fields that it resolved: those a search will read. */
  keysResolvedBy(work: () => void): ReadonlySet<string> {
    const [before, keys] = [this.#resolvedKeys, new Set<string>()];
    this.#resolvedKeys = keys;
    try {
      work();
    } finally {
      this.#resolvedKeys = before;
    }
    return keys;
  }

  #flattenedKey(path: string): Field | undefined {
    const root = this.#flattened.find((field) => path.startsWith(`${field.path}.`));
    if (root !== undefined) this.#resolvedKeys?.add(path);
    return root && { ...flattenedTerms(root, "keyed"), path, given: {} };
  }

  /** True where `path` is an object. */
  isObject(path: string): boolean {
    return this.#objects.has(path);
  }

  /** The type of an object that is more than one: nested, or a range. */
  objectKind(path: string): ObjectKind | undefined {
    return this.#objects.get(path)?.kind;
  }

  /** Leaf fields, multi-fields included. */
  fields(): Iterable<Field> {
    const fields = this.#fields.values();
    return this.#unlisted.size === 0 ? fields : fields.filter(({ path }) => !this.#unlisted.has(path));
  }

  /** Leaf fields whose path matches a pattern with `*`, as `resolve` has them; an exact path gives itself. */
  match(pattern: string): Field[] {
    if (!pattern.includes("*")) {
      const field = searched(this.#fields.get(pattern)) ?? this.#flattenedKey(pattern);
      return field === undefined ? [] : [field];
    }
    const matching = [...this.fields()].filter(({ path }) => matchesWildcard(pattern, path));
    return matching.map((field) => searched(field)!);
  }

  /** As GET _mapping prints it below the type: {"properties": …} with what differs from the defaults. */
  toJSON(): Record<string, unknown> {
    const { settings } = this;
    const result: Record<string, unknown> = {};
    const { properties, ...own } = printObject(this.root);
    Object.assign(result, own, settings.given);
    if (settings.templatesJson !== undefined) result["dynamic_templates"] = settings.templatesJson;
    if (!settings.dateDetection) result["date_detection"] = false;
    if (settings.numericDetection) result["numeric_detection"] = true;
    if (settings.dynamicDateFormats !== DYNAMIC_DATE_FORMATS)
      result["dynamic_date_formats"] = settings.dynamicDateFormats;
    if (properties !== undefined) result["properties"] = properties;
    return result;
  }

  /**
   * New properties that dynamic mapping makes for a document (UTF-8 JSON), as JSON for `merge`; null if all fields are
   * known. Throws mapping_strict, mapping_conflict, mapping_parse, and mapping_parse for too many nested objects; with
   * `lenient` what can't be mapped is left out.
   */
  dynamicUpdate(source: Uint8Array, lenient = false): Record<string, unknown> | null {
    if (!this.root.enabled) return null;
    if (this.nested.paths.length > 0 && !lenient) this.#checkNestedObjects(source);
    const remaining =
      (this.#options.totalFieldsLimit ?? TOTAL_FIELDS_LIMIT) - this.#fields.size - this.#objects.size;
    return dynamicProperties(
      this,
      source,
      lenient,
      Math.max(0, remaining),
      this.#options.depthLimit ?? DEPTH_LIMIT,
    );
  }

  #collect(node: ObjectNode, depth: number): void {
    if (depth > (this.#options.depthLimit ?? DEPTH_LIMIT)) {
      const limit = this.#options.depthLimit ?? DEPTH_LIMIT;
      throw new AppError(
        "mapping_conflict",
        `Limit of mapping depth [${limit}] in index [${this.#options.index}] has been exceeded due to object field [${node.path}]`,
      );
    }
    for (const child of node.children.values()) this.#collectNode(child, depth);
  }

  #collectNode(node: MappingNode, depth: number): void {
    if (isObjectNode(node)) {
      this.#objects.set(node.path, node);
      this.#collect(node, depth + 1);
      return;
    }
    this.#fields.set(node.path, node);
    if (node.type === "flattened") this.#flattened.push(node);
    for (const field of node.multiFields) this.#fields.set(field.path, field);
  }

  #checkNestedObjects(source: Uint8Array): void {
    const limit = this.#options.nestedObjectsLimit ?? NESTED_OBJECTS_LIMIT;
    const count = this.nested.paths.reduce((sum, path) => sum + countNested(source, path), 0);
    if (count <= limit) return;
    throw parseError(
      `The number of nested documents has exceeded the allowed limit of [${limit}]. This limit can be set by changing the [index.mapping.nested_objects.limit] index level setting.`,
    );
  }

  /** Values aren't objects. */
  #checkCopy(path: string, target: string): void {
    const into = this.#flattened.find((each) => target === each.path || target.startsWith(`${each.path}.`));
    if (into === undefined) return;
    throw parseError(
      `[copy_to] of field [${path}] leads into [${into.path}], which takes objects (flattened); copy to a keyword field`,
    );
  }

  #checkLimits(): void {
    const limit = this.#options.totalFieldsLimit ?? TOTAL_FIELDS_LIMIT;
    if (this.#fields.size + this.#objects.size > limit) {
      throw new AppError(
        "mapping_conflict",
        `Limit of total fields [${limit}] in index [${this.#options.index}] has been exceeded`,
      );
    }
    const nestedLimit = this.#options.nestedFieldsLimit ?? NESTED_FIELDS_LIMIT;
    if (this.nested.paths.length > nestedLimit) {
      throw new AppError(
        "mapping_conflict",
        `Limit of nested fields [${nestedLimit}] in index [${this.#options.index}] has been exceeded`,
      );
    }
    for (const field of this.#fields.values()) {
      for (const target of field.copyTo) this.#checkCopy(field.path, target);
      if (field.aliasOf === undefined) continue;
      const target = this.#fields.get(field.aliasOf);
      if (target !== undefined && target.aliasOf === undefined) continue;
      throw parseError(
        `Invalid [path] value [${field.aliasOf}] for field alias [${field.path}]: an alias must refer to an existing field in the mappings.`,
      );
    }
  }
}

function mergeSettings(
  old: RootSettings,
  json: Readonly<Record<string, unknown>>,
  isStored: boolean,
): RootSettings {
  const templates = json["dynamic_templates"];
  const formats = json["dynamic_date_formats"];
  const given: Record<string, unknown> = { ...old.given };
  for (const key of ["_source", "_routing", "_meta", "_all", "_field_names", "_size"]) {
    if (json[key] !== undefined) given[key] = json[key];
  }
  const flag = (key: string, fallback: boolean): boolean =>
    json[key] === undefined ? fallback : printValue(json[key]) === "true";
  return {
    templates: templates === undefined ? old.templates : parseTemplates(templates, isStored),
    templatesJson: templates === undefined ? old.templatesJson : templates,
    dateDetection: flag("date_detection", old.dateDetection),
    numericDetection: flag("numeric_detection", old.numericDetection),
    dynamicDateFormats: Array.isArray(formats) ? formats.map(String) : old.dynamicDateFormats,
    source: mergeSourceSettings(old.source, json["_source"], old === DEFAULT_SETTINGS),
    routingRequired: printValue(asRecord(given["_routing"])?.["required"]) === "true",
    given,
  };
}

/** A `flattened` field as searches see it. */
function searched(field: Field | undefined): Field | undefined {
  return field?.type === "flattened" ? flattenedTerms(field, "values") : field;
}
