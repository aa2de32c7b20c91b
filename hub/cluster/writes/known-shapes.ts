/** Remembers the shapes of documents that needed no new field, so that most documents are not inspected. */

import { checkStreamDocument } from "#hub/cluster/catalog/data-streams.ts";
import type { Mapping } from "#hub/engine/mapping/mapping.ts";
import { jsonShape } from "#proto/codec/json-shape.ts";

/** Maximum number of indices whose documents' shapes are remembered. */
const INDEX_LIMIT = 256;
/** Maximum shapes remembered of one mapping; beyond it all are forgotten. */
const SHAPE_LIMIT = 10_000;

/** The known shapes of an index's documents. */
interface ShapedIndex {
  readonly uuid: string;
  readonly mapping: Mapping;
  readonly dataStream?: string;
}

interface IndexShapes {
  readonly mapping: Mapping;
  readonly known: Set<number>;
}

export class KnownShapes {
  readonly #indices = new Map<string, IndexShapes>();

  /**
   * Returns the properties that an index lacks for a document, or null. `shape`: what jsonShape returns for `source`, if
   * known. Throws what Mapping.dynamicUpdate throws, and what checkStreamDocument throws unless `lenient`.
   */
  missing(
    { uuid, mapping, dataStream }: ShapedIndex,
    source: Uint8Array,
    lenient: boolean,
    shape = jsonShape(source),
  ): Record<string, unknown> | null {
    const { known } = this.#of(uuid, mapping);
    // The number of nested objects isn't part of a shape.
    if (mapping.nested.paths.length === 0 && known.has(shape)) return null;
    if (dataStream !== undefined && !lenient) checkStreamDocument(source);
    const fields = mapping.dynamicUpdate(source, lenient);
    if (fields === null) {
      if (known.size >= SHAPE_LIMIT) known.clear();
      known.add(shape);
    }
    return fields;
  }

  /** Whether `missing` is null for documents of this shape without looking at one. */
  has({ uuid, mapping }: ShapedIndex, shape: number): boolean {
    const shapes = this.#indices.get(uuid);
    return mapping.nested.paths.length === 0 && shapes?.mapping === mapping && shapes.known.has(shape);
  }

  #of(uuid: string, mapping: Mapping): IndexShapes {
    const found = this.#indices.get(uuid);
    if (found?.mapping === mapping) return found;
    if (this.#indices.size >= INDEX_LIMIT) this.#indices.clear();
    const made = { mapping, known: new Set<number>() };
    this.#indices.set(uuid, made);
    return made;
  }
}
