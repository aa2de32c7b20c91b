/** A mapping prepared for one buffer: the target of each name of a document, down to the buffers of its fields. */

import type { Analyzer } from "#hub/engine/analysis/analysis.ts";
import { hashTerm } from "#hub/engine/analysis/tokenizers/ascii-tokenizer.ts";
import type { BufferedField } from "#hub/engine/buffer/buffered-fields.ts";
import type { SegmentBuffer } from "#hub/engine/buffer/segment-buffer.ts";
import { toBytes } from "#hub/engine/bytes/bytes.ts";
import { type Field, flattenedTerms } from "#hub/engine/mapping/field.ts";
import type { Mapping } from "#hub/engine/mapping/mapping.ts";
import { type Dynamic, isObjectNode, type MappingNode, type ObjectNode } from "#hub/engine/mapping/node.ts";

/** A field with its buffer. */
export interface Leaf {
  readonly field: Field;
  /** Undefined where the field is neither indexed nor kept in a column. */
  readonly buffer: BufferedField | undefined;
  /** flattened only: where values follow their keys. */
  readonly keyed: BufferedField | undefined;
  /** Text and token_count only. */
  readonly analyzer: Analyzer | null;
  /** Keyword fields with a normalizer only. */
  readonly normalize: ((text: string) => string) | null;
  readonly multiFields: readonly Leaf[];
  /** Filled once all leaves are there. */
  readonly copies: Leaf[];
}

/** An object, or a path at which there is a field (then `leaf` is set). */
export interface PlanNode {
  readonly path: string;
  readonly dynamic: Dynamic;
  readonly enabled: boolean;
  readonly leaf: Leaf | undefined;
  /** An object of bounds, of which a document has one: not below nested ones, each of which is a document. */
  readonly isRange: boolean;
  /** A geo_shape, which may be written as a text (WKT) too. */
  readonly isShape: boolean;
  readonly children: KeyTable<PlanNode>;
  readonly byName: ReadonlyMap<string, PlanNode>;
}

/** Builds the plan of `mapping` over `buffer`. */
export function makePlan(mapping: Mapping, buffer: SegmentBuffer): PlanNode {
  const parts: PlanParts = { mapping, buffer, leaves: new Map() };
  const root = makeObject(mapping.root, "true", false, parts);
  for (const leaf of parts.leaves.values()) {
    for (const path of leaf.field.copyTo) {
      const target = parts.leaves.get(path);
      if (target !== undefined) leaf.copies.push(target);
    }
  }
  return root;
}

interface PlanParts {
  readonly mapping: Mapping;
  readonly buffer: SegmentBuffer;
  /** By path; filled as the plan is built. */
  readonly leaves: Map<string, Leaf>;
}

function makeNode(node: MappingNode, inherited: Dynamic, isNested: boolean, parts: PlanParts): PlanNode {
  return isObjectNode(node)
    ? makeObject(node, inherited, isNested, parts)
    : leafNode(node.path, makeLeaf(node, parts));
}

function makeObject(node: ObjectNode, inherited: Dynamic, isBelow: boolean, parts: PlanParts): PlanNode {
  const dynamic = node.dynamic ?? inherited;
  const isNested = isBelow || node.kind?.type === "nested";
  const byName = new Map(
    [...node.children].map(([name, child]) => [name, makeNode(child, dynamic, isNested, parts)] as const),
  );
  return {
    path: node.path,
    dynamic,
    enabled: node.enabled,
    leaf: undefined,
    isRange: !isNested && node.kind?.type.endsWith("_range") === true,
    isShape: node.shape !== undefined,
    children: new KeyTable(byName),
    byName,
  };
}

function makeLeaf(field: Field, parts: PlanParts): Leaf {
  const { normalizer } = field;
  const { buffer, leaves } = parts;
  const { analysis } = parts.mapping;
  const isKept = field.index || field.docValues;
  const isFlattened = field.type === "flattened";
  const leaf: Leaf = {
    field,
    buffer: isKept ? buffer.field(isFlattened ? flattenedTerms(field, "values") : field) : undefined,
    keyed: isKept && isFlattened ? buffer.field(flattenedTerms(field, "keyed")) : undefined,
    analyzer:
      field.type === "text" || field.type === "token_count" ? analysis.analyzer(field.analyzer) : null,
    normalize: normalizer === undefined ? null : (text) => analysis.normalize(normalizer, text),
    multiFields: field.multiFields.map((each) => makeLeaf(each, parts)),
    copies: [],
  };
  leaves.set(field.path, leaf);
  return leaf;
}

interface Slot<T> {
  readonly key: Uint8Array;
  readonly value: T;
}

/** Names of an object's fields, looked up by their bytes without making strings: open addressing, built once. */
export class KeyTable<T> {
  readonly #slots: (Slot<T> | undefined)[];
  readonly #mask: number;

  constructor(entries: Iterable<readonly [string, T]>) {
    const list = [...entries];
    let size = 4;
    while (size < 2 * list.length) size *= 2;
    this.#slots = new Array<Slot<T> | undefined>(size);
    this.#mask = size - 1;
    for (const [name, value] of list) {
      const key = toBytes(name);
      let at = hashTerm(key, 0, key.length, 0) & this.#mask;
      while (this.#slots[at] !== undefined) at = (at + 1) & this.#mask;
      this.#slots[at] = { key, value };
    }
  }

  /** Value of the name bytes[from..to), or undefined. */
  get(bytes: Uint8Array, from: number, to: number): T | undefined {
    const length = to - from;
    let at = hashTerm(bytes, from, length, 0) & this.#mask;
    for (let slot = this.#slots[at]; slot !== undefined; slot = this.#slots[at]) {
      if (slot.key.length === length && matches(slot.key, bytes, from)) return slot.value;
      at = (at + 1) & this.#mask;
    }
    return undefined;
  }
}

function matches(key: Uint8Array, bytes: Uint8Array, from: number): boolean {
  for (let index = 0; index < key.length; index++) if (key[index] !== bytes[from + index]) return false;
  return true;
}

const NO_CHILDREN = new KeyTable<PlanNode>([]);
const NO_NAMES = new Map<string, PlanNode>();

function leafNode(path: string, leaf: Leaf): PlanNode {
  return {
    path,
    dynamic: "false",
    enabled: true,
    leaf,
    isRange: false,
    isShape: false,
    children: NO_CHILDREN,
    byName: NO_NAMES,
  };
}

/** A keyword field that no mapping names. */
export function metadataField(path: string): Field {
  return {
    path,
    type: "keyword",
    index: true,
    docValues: true,
    analyzer: "keyword",
    searchAnalyzer: "keyword",
    quoteAnalyzer: "keyword",
    norms: false,
    positions: false,
    offsets: false,
    countsGaps: false,
    positionIncrementGap: 0,
    ignoreAbove: Number.POSITIVE_INFINITY,
    normalizer: undefined,
    format: "",
    nullValue: undefined,
    ignoreMalformed: false,
    coerce: false,
    scalingFactor: 1,
    copyTo: [],
    aliasOf: undefined,
    multiFields: [],
    fielddata: false,
    given: {},
  };
}
