/** Dynamic mapping by the rules of 6.5: finds the fields of a document that the mapping lacks. */

import type { Analysis } from "#hub/engine/analysis/analysis.ts";
import { AppError } from "#proto/kit/errors.ts";
import * as json from "../json/scanner.ts";
import { dateFormat } from "./date-format.ts";
import type { DynamicTemplate, JsonType } from "./dynamic-templates.ts";
import type { Field } from "./field.ts";
import { type Dynamic, isObjectNode, type MappingNode, type ObjectNode } from "./node.ts";
import { parseField } from "./parse-field.ts";

/** What decides about new fields: a Mapping. */
interface DynamicRules {
  readonly root: ObjectNode;
  readonly analysis: Analysis;
  readonly settings: {
    readonly templates: readonly DynamicTemplate[];
    readonly dateDetection: boolean;
    readonly numericDetection: boolean;
    readonly dynamicDateFormats: readonly string[];
  };
}

type Properties = Record<string, Record<string, unknown>>;

/** Strings that Java reads as a number skip date detection. */
const JAVA_NUMBER =
  /^\s*[+-]?(?:NaN|Infinity|(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?[fd]?|0x[\da-f.]+p[+-]?\d+[fd]?)\s*$/i;

const MAX_LONG = 2n ** 63n - 1n;
const MIN_LONG = -(2n ** 63n);

/** One scanner is enough: a walk never waits. */
const scanner = new json.JsonScanner();

/** See Mapping.dynamicUpdate. `remaining`: fields and objects that the limit still allows; `depthLimit`: nested objects. */
export function dynamicProperties(
  mapping: DynamicRules,
  source: Uint8Array,
  lenient: boolean,
  remaining: number,
  depthLimit: number,
): Record<string, unknown> | null {
  const walk = new DynamicWalk(mapping, lenient, remaining, depthLimit);
  scanner.reset(source);
  try {
    if (scanner.value() !== json.OBJECT) return null;
    walk.object(mapping.root, "", mapping.root.dynamic ?? "true", walk.found, 1);
  } catch (error) {
    // A broken document brings no fields; the shard reports what is wrong with it.
    if (error instanceof AppError && error.code === "mapping_parse" && lenient) return null;
    throw error;
  }
  return Object.keys(walk.found).length === 0 ? null : { properties: walk.found };
}

class DynamicWalk {
  readonly found: Properties = {};
  readonly #mapping: DynamicRules;
  readonly #lenient: boolean;
  readonly #depthLimit: number;
  #remaining: number;

  constructor(mapping: DynamicRules, lenient: boolean, remaining: number, depthLimit: number) {
    this.#mapping = mapping;
    this.#lenient = lenient;
    this.#remaining = remaining;
    this.#depthLimit = depthLimit;
  }

  /** Walks an object whose mapping is `node` (undefined: new) and adds to `found` what is new in it. */
  object(
    node: ObjectNode | undefined,
    path: string,
    dynamic: Dynamic,
    found: Properties,
    depth: number,
  ): void {
    for (let first = true; scanner.key(first); first = false) {
      const name = scanner.text();
      this.#member(node, path, dynamic, found, depth, name, scanner.value());
    }
  }

  #member(
    node: ObjectNode | undefined,
    path: string,
    dynamic: Dynamic,
    found: Properties,
    depth: number,
    name: string,
    kind: number,
  ): void {
    const dot = name.indexOf(".");
    const head = dot > 0 ? name.slice(0, dot) : name;
    const childPath = path === "" ? head : `${path}.${head}`;
    const child = node?.children.get(head);
    if (child === undefined ? !this.#mayAdd(name, head, path, dynamic, kind) : !isEnabledObject(child)) {
      if (child === undefined || isObjectNode(child) || child.copyTo.length === 0) scanner.skip(kind);
      else this.#copied(child, kind);
      return;
    }
    const object = child as ObjectNode | undefined;
    if (dot < 0) {
      this.#value(object, childPath, head, object?.dynamic ?? dynamic, found, depth, kind);
      return;
    }
    const inner = this.#enter(childPath, head, child !== undefined, found, depth);
    if (inner === null) scanner.skip(kind);
    else {
      const rest = name.slice(dot + 1);
      this.#member(object, childPath, object?.dynamic ?? dynamic, inner, depth + 1, rest, kind);
      this.#leave(found, head, inner, child !== undefined);
    }
  }

  /** Adds the fields that a value is copied to and that no mapping names yet: each is of the value's type. */
  #copied(field: Field, kind: number): void {
    if (kind === json.ARRAY) {
      for (let first = true; scanner.element(first); first = false) this.#copied(field, scanner.value());
    } else if (kind === json.OBJECT || kind === json.NULL) scanner.skip(kind);
    else for (const target of field.copyTo) if (!this.#isMapped(target)) this.#target(target, kind);
  }

  #isMapped(path: string): boolean {
    let node: MappingNode | undefined = this.#mapping.root;
    for (const name of path.split(".")) node = isObjectNode(node) ? node.children.get(name) : undefined;
    return node !== undefined;
  }

  #target(path: string, kind: number): void {
    let node: MappingNode | undefined = this.#mapping.root;
    let dynamic: Dynamic = "true";
    let found = this.found;
    const parts = path.split(".");
    for (const [depth, name] of parts.entries()) {
      if (node !== undefined && !isObjectNode(node)) return;
      dynamic = node?.dynamic ?? dynamic;
      const parent = parts.slice(0, depth).join(".");
      const child: MappingNode | undefined = node?.children.get(name);
      if (child === undefined && !this.#mayAdd(name, name, parent, dynamic, kind)) return;
      if (depth === parts.length - 1) {
        if (child === undefined && !Object.hasOwn(found, name)) this.#leaf(path, name, found, kind);
        return;
      }
      const inner = this.#enter(
        parts.slice(0, depth + 1).join("."),
        name,
        child !== undefined,
        found,
        depth + 1,
      );
      if (inner === null) return;
      found[name] = { properties: inner };
      found = inner;
      node = child;
    }
  }

  /** False for unknown names that the object leaves out. Throws mapping_strict if it refuses them. */
  #mayAdd(name: string, head: string, path: string, dynamic: Dynamic, kind: number): boolean {
    if (dynamic === "false" || name === "" || name.startsWith(".")) return false;
    if (dynamic === "true" || kind === json.NULL) return true;
    if (this.#lenient) return false;
    throw new AppError(
      "mapping_strict",
      `mapping set to strict, dynamic introduction of [${head}] within [${path === "" ? "_doc" : path}] is not allowed`,
    );
  }

  #value(
    child: ObjectNode | undefined,
    path: string,
    name: string,
    dynamic: Dynamic,
    found: Properties,
    depth: number,
    kind: number,
  ): void {
    if (kind === json.ARRAY) {
      for (let first = true; scanner.element(first); first = false) {
        this.#value(child, path, name, dynamic, found, depth, scanner.value());
      }
    } else if (kind === json.OBJECT && child === undefined && this.#isLeafObject(path, name, found)) {
      scanner.skip(kind);
    } else if (kind === json.OBJECT) {
      const inner = this.#enter(path, name, child !== undefined, found, depth);
      if (inner === null) {
        scanner.skip(kind);
        return;
      }
      this.object(child, path, dynamic, inner, depth + 1);
      this.#leave(found, name, inner, child !== undefined);
    } else if (child === undefined && kind !== json.NULL && !Object.hasOwn(found, name)) {
      this.#leaf(path, name, found, kind);
    }
  }

  /** Adds a new object that a template makes one field of, as a point is; false if none does. */
  #isLeafObject(path: string, name: string, found: Properties): boolean {
    if (Object.hasOwn(found, name)) return isLeaf(found[name]!);
    const { templates } = this.#mapping.settings;
    const template = templates.find(
      (each) => each.json["match_mapping_type"] === "object" && each.matches(name, path, "object"),
    );
    const made = template?.mapping(name, "object");
    if (made === undefined || !isLeaf(made) || (this.#lenient && this.#remaining < 1)) return false;
    this.#remaining--;
    found[name] = made;
    return true;
  }

  /** Collects what is new below an object; null if it can't be entered. */
  #enter(path: string, name: string, known: boolean, found: Properties, depth: number): Properties | null {
    const existing = Object.hasOwn(found, name) ? found[name] : undefined;
    if (existing !== undefined) {
      // The same document used the name for a value before.
      if (existing["type"] !== undefined && existing["type"] !== "object") return null;
      return (existing["properties"] as Properties | undefined) ?? {};
    }
    if (known) return {};
    if (this.#remaining > 0 && depth < this.#depthLimit) {
      this.#remaining--;
      return {};
    }
    // The merge reports which limit is reached, unless documents are accepted leniently.
    return this.#lenient ? null : path === "" ? null : {};
  }

  #leave(found: Properties, name: string, inner: Properties, known: boolean): void {
    if (Object.keys(inner).length === 0) {
      if (!known && !Object.hasOwn(found, name)) found[name] = { type: "object" };
      return;
    }
    found[name] = { properties: inner };
  }

  #leaf(path: string, name: string, found: Properties, kind: number): void {
    const field = this.#fieldOf(name, path, kind);
    if (field === null) return;
    const fieldCount = 1 + Object.keys((field["fields"] as object | undefined) ?? {}).length;
    if (this.#lenient && this.#remaining < fieldCount) return;
    this.#remaining -= fieldCount;
    found[name] = field;
  }

  #fieldOf(name: string, path: string, kind: number): Record<string, unknown> | null {
    const [jsonType, standard] = this.#resolve(name, kind);
    for (const template of this.#mapping.settings.templates) {
      if (!template.matches(name, path, jsonType)) continue;
      const made = template.mapping(name, jsonType === "string" ? "text" : jsonType);
      if (!this.#lenient) return made;
      try {
        parseField(path, name, made, this.#mapping.analysis);
        return made;
      } catch {
        return null;
      }
    }
    return standard;
  }

  /** The JSON type for templates and the mapping where no template matches. */
  #resolve(name: string, kind: number): [JsonType, Record<string, unknown> | null] {
    if (kind === json.TRUE || kind === json.FALSE) return ["boolean", { type: "boolean" }];
    if (kind === json.NUMBER) {
      if (!scanner.integer) return ["double", { type: "float" }];
      if (fitsLong(scanner.text())) return ["long", { type: "long" }];
      if (this.#lenient) return ["long", null];
      throw new AppError(
        "mapping_parse",
        `No matching token for number_type [BIG_INTEGER] of field [${name}]`,
      );
    }
    return this.#resolveString(scanner.text());
  }

  #resolveString(text: string): [JsonType, Record<string, unknown>] {
    const { numericDetection, dateDetection, dynamicDateFormats } = this.#mapping.settings;
    const isNumber = JAVA_NUMBER.test(text);
    if (numericDetection && isNumber) {
      if (/^[+-]?\d+$/.test(text) && fitsLong(text)) return ["long", { type: "long" }];
      return ["double", { type: "float" }];
    }
    if (dateDetection && !isNumber && text !== "" && text.length <= LONGEST_DATE) {
      for (const format of dynamicDateFormats) {
        if (Number.isNaN(dateFormat(format).parse(text))) continue;
        if (format === "strict_date_optional_time") return ["date", { type: "date" }];
        const isSlashed = format.startsWith("yyyy/MM/dd HH:mm:ss Z");
        return ["date", { type: "date", format: isSlashed ? SLASHED_DATE_FORMAT : format }];
      }
    }
    return ["string", { type: "text", fields: { keyword: { type: "keyword", ignore_above: 256 } } }];
  }
}

function isLeaf({ type }: Readonly<Record<string, unknown>>): boolean {
  return type !== undefined && type !== "object" && type !== "nested";
}

function isEnabledObject(node: MappingNode): boolean {
  return isObjectNode(node) && node.enabled;
}

/** Longer texts aren't tried as dates. */
const LONGEST_DATE = 64;

/** What a field gets whose first value is a date with slashes. */
const SLASHED_DATE_FORMAT = "yyyy/MM/dd HH:mm:ss||yyyy/MM/dd||epoch_millis";

function fitsLong(text: string): boolean {
  if (text.length < 16) return true;
  const value = BigInt(text.replace(/^\+/, ""));
  return value >= MIN_LONG && value <= MAX_LONG;
}
