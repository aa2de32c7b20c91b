/** Dynamic mapping by the rules of 6.5: finds the fields of a document that the mapping lacks. */

import type { Analysis } from "#hub/engine/analysis/analysis.ts";
import { AppError } from "#proto/kit/errors.ts";
import * as json from "../json/scanner.ts";
import { copiesOf, type DynamicTemplate } from "./dynamic-templates.ts";
import { type ResolvedType, resolveType, type TypeRules } from "./dynamic-types.ts";
import type { Field } from "./field.ts";
import { checkFieldName, METADATA_NAMES, metadataFieldError } from "./field-names.ts";
import { type Dynamic, isObjectNode, type MappingNode, type ObjectNode } from "./node.ts";
import { parseField } from "./parse-field.ts";

/** What decides about new fields: a Mapping. */
interface DynamicRules {
  readonly root: ObjectNode;
  readonly analysis: Analysis;
  readonly settings: TypeRules & { readonly templates: readonly DynamicTemplate[] };
}

type Properties = Record<string, Record<string, unknown>>;

/** A field that a value is copied to. */
interface CopyTarget {
  readonly kind: number;
  readonly resolved: ResolvedType;
}

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
    walk.addTargets();
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
  /** By path. */
  readonly #targets = new Map<string, CopyTarget>();

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
      if (!this.#lenient && (name === "" || name.includes("."))) checkFieldName(name);
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
      if (child === undefined || isObjectNode(child) || dot >= 0) scanner.skip(kind);
      else this.#known(child, kind);
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

  /**
   * Reads the value of a field that has a mapping. Values for aliases are refused here, before they are in the log: what the
   * log has from before must stay there.
   */
  #known(field: Field, kind: number): void {
    if (field.aliasOf !== undefined && !this.#lenient) throw aliasError(field.path);
    if (field.copyTo.length === 0) scanner.skip(kind);
    else this.#copied(field.copyTo, kind);
  }

  /** Records the fields that a value is copied to and that no mapping names yet: each is of the first value's type. */
  #copied(paths: readonly string[], kind: number): void {
    if (kind === json.ARRAY) {
      for (let first = true; scanner.element(first); first = false) this.#copied(paths, scanner.value());
    } else if (kind === json.OBJECT || kind === json.NULL) scanner.skip(kind);
    else this.#noteTargets(paths, kind);
  }

  #noteTargets(paths: readonly string[], kind: number): void {
    for (const path of paths) {
      if (this.#targets.has(path) || this.#isMapped(path)) continue;
      this.#targets.set(path, { kind, resolved: this.#typeOf(path, kind) });
    }
  }

  #isMapped(path: string): boolean {
    let node: MappingNode | undefined = this.#mapping.root;
    for (const name of path.split(".")) node = isObjectNode(node) ? node.children.get(name) : undefined;
    return node !== undefined;
  }

  /** Adds the fields that values are copied to; to be called after the document is read, whose own fields come first. */
  addTargets(): void {
    for (const [path, { kind, resolved }] of this.#targets)
      this.#target({ path, kind, resolved }, path.split("."), this.#mapping.root, "true", this.found, 1);
  }

  /** Adds what is left of a target's path, `names`, to the object `node`. */
  #target(
    target: CopyTarget & { readonly path: string },
    names: readonly string[],
    node: MappingNode | undefined,
    outer: Dynamic,
    found: Properties,
    depth: number,
  ): void {
    if (node !== undefined && !isEnabledObject(node)) return;
    const dynamic = (node as ObjectNode | undefined)?.dynamic ?? outer;
    const [name = "", ...rest] = names;
    const child = (node as ObjectNode | undefined)?.children.get(name);
    const parents = target.path.split(".").slice(0, depth);
    const parent = parents.slice(0, -1).join(".");
    if (child === undefined && !this.#mayAdd(name, name, parent, dynamic, target.kind)) return;
    if (rest.length === 0) {
      if (!Object.hasOwn(found, name)) this.#leaf(target.path, name, found, target.resolved);
      return;
    }
    const inner = this.#enter(parents.join("."), name, child !== undefined, found, depth);
    if (inner === null) return;
    this.#target(target, rest, child, dynamic, inner, depth + 1);
    if (Object.keys(inner).length > 0) found[name] = { properties: inner };
  }

  /** False for unknown names that the object leaves out. Throws mapping_strict if it refuses them. */
  #mayAdd(name: string, head: string, path: string, dynamic: Dynamic, kind: number): boolean {
    if (path === "" && METADATA_NAMES.has(head)) {
      if (this.#lenient) return false;
      throw metadataFieldError(head);
    }
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
      this.#leaf(path, name, found, this.#typeOf(name, kind));
      // A template may say where the values of its fields are copied to.
      this.#noteTargets(copiesOf(found[name]), kind);
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

  #leaf(path: string, name: string, found: Properties, resolved: ResolvedType): void {
    const field = this.#fieldOf(name, path, resolved);
    if (field === null) return;
    const fieldCount = 1 + Object.keys((field["fields"] as object | undefined) ?? {}).length;
    if (this.#lenient && this.#remaining < fieldCount) return;
    this.#remaining -= fieldCount;
    found[name] = field;
  }

  #typeOf(name: string, kind: number): ResolvedType {
    return resolveType(scanner, kind, name, this.#mapping.settings, this.#lenient);
  }

  #fieldOf(name: string, path: string, [jsonType, standard]: ResolvedType): Record<string, unknown> | null {
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
}

function aliasError(path: string): AppError {
  const reason = `Cannot write to a field alias [${path}].`;
  return new AppError("mapping_parse", "failed to parse", {
    data: { caused_by: { type: "illegal_argument_exception", reason } },
  });
}

function isLeaf({ type }: Readonly<Record<string, unknown>>): boolean {
  return type !== undefined && type !== "object" && type !== "nested";
}

function isEnabledObject(node: MappingNode): boolean {
  return isObjectNode(node) && node.enabled;
}
