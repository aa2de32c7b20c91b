/** Batches of documents for tests. */

import { jsonShape } from "#proto/codec/json-shape.ts";
import { actionCode, type DocumentAction, type DocumentBatch } from "#proto/document-batch.ts";

export interface BatchRow {
  readonly index: string;
  readonly id: string;
  readonly source: unknown;
  readonly ordinal?: number;
  readonly offset?: number;
  readonly action?: DocumentAction;
}

/** Returns the batch that a pipeline's worker would make of documents. */
export function batchOf(rows: readonly BatchRow[]): DocumentBatch {
  const sources = rows.map(({ source }) => Buffer.from(JSON.stringify(source)));
  const ids = rows.map(({ id }) => Buffer.from(id));
  const indexNames = [...new Set(rows.map(({ index }) => index))];
  return {
    bytes: Buffer.concat(sources),
    start: 0,
    ends: endsOf(sources),
    gap: 0,
    indexNames,
    indices: Uint32Array.from(rows, ({ index }) => indexNames.indexOf(index)),
    ids: Buffer.concat(ids),
    idEnds: endsOf(ids),
    actions: Uint8Array.from(rows, ({ action }) => actionCode(action ?? "append")),
    ordinals: Uint32Array.from(rows, ({ ordinal }, at) => ordinal ?? at),
    offsets: Float64Array.from(rows, ({ offset }, at) => offset ?? at),
    timesMs: new Float64Array(rows.length),
    shapes: Float64Array.from(sources, (source) => jsonShape(source)),
  };
}

function endsOf(parts: readonly Uint8Array[]): Uint32Array {
  let end = 0;
  return Uint32Array.from(parts, ({ length }) => (end += length));
}
