/**
 * Documents to be written to the log DOC, as columns: a pipeline's worker makes one batch from each RAW message,
 * `_bulk` one from each request. The same columns go through the writer into a message of DOC, without an object for
 * each document.
 */

/** The action on a document. "append": its id is new by construction, so no earlier version is looked up. */
export const DOCUMENT_ACTIONS = ["append", "index", "create", "update", "upsert", "delete"] as const;

export type DocumentAction = (typeof DOCUMENT_ACTIONS)[number];

/** Index of an action in DOCUMENT_ACTIONS. */
export function actionCode(action: DocumentAction): number {
  return DOCUMENT_ACTIONS.indexOf(action);
}

/** Columns run in parallel, one entry a document. */
export interface DocumentBatch {
  /** JSON objects, UTF-8. Document i is bytes[(i === 0 ? start : ends[i - 1] + gap)..ends[i]). */
  readonly bytes: Uint8Array;
  /** Offset of the first document in `bytes`. */
  readonly start: number;
  /** Offset of each document's end. */
  readonly ends: Uint32Array;
  /** Bytes between two documents that belong to neither. */
  readonly gap: number;
  /** Offset of each document's start in `bytes`; without it, `start` and `gap` give it. */
  readonly starts?: Uint32Array;
  /** Names, aliases or data streams that the documents go to. */
  readonly indexNames: readonly string[];
  /** Each document's position in `indexNames`; without it all go to the first. */
  readonly indices?: Uint32Array;
  /** Ids, UTF-8, concatenated; without them the writer makes them. */
  readonly ids?: Uint8Array;
  /** Offset of each id's end in `ids`; without it all have one length. */
  readonly idEnds?: Uint32Array;
  /** Each action's index in DOCUMENT_ACTIONS; without it all are appends. */
  readonly actions?: Uint8Array;
  /** Ascending within a message, the same in each redo; without them 0, 1, 2 … */
  readonly ordinals?: Uint32Array;
  /** 1-based index into the message's sources, 0 for none; without them 0 each. */
  readonly sourceIndices?: Uint32Array;
  /** Offset of each document's event in its source; without them 0 each. */
  readonly offsets?: Float64Array;
  /** `@timestamp` of each, ms since 1970-01-01 UTC. */
  readonly timesMs?: Float64Array;
  /** Shape of each, of a pipeline's documents as jsonShape (codec/json-shape.ts) gives it. */
  readonly shapes?: Float64Array;
}

/** The RAW message that documents come from. */
export interface DocumentOrigin {
  readonly rawIncarnation: number;
  readonly partition: number;
  /** 0: the documents come from no message. */
  readonly rawSequence: number;
}

/** A range of a source that a message brought and that hadn't been processed before. */
export interface SourceRange {
  /** `<agent id>/<file key>/<generation>`. */
  readonly key: string;
  readonly from: number;
  /** Exclusive. */
  readonly to: number;
}

/** One document of a batch, see its columns. */
export interface BatchDocument {
  readonly index: string;
  readonly id: string;
  readonly source: Uint8Array;
  readonly ordinal: number;
  readonly sourceIndex: number;
  readonly offset: number;
  readonly timestampMs: number;
  /** Undefined where it isn't known. */
  readonly shape: number | undefined;
  readonly action: DocumentAction;
}

/** Returns the offset in `bytes` at which document `at` begins. */
export function documentStart(
  { start, starts, ends, gap }: Pick<DocumentBatch, "start" | "starts" | "ends" | "gap">,
  at: number,
): number {
  if (starts !== undefined) return starts[at]!;
  return at === 0 ? start : ends[at - 1]! + gap;
}

/** Returns the documents of a batch with ids as objects over its bytes. `sources`: where its events come from, ascending. */
export function documentsOf(batch: DocumentBatch, sources: readonly SourceRange[]): BatchDocument[] {
  const { bytes, ends, indexNames, indices, actions, ordinals, offsets, timesMs, shapes } = batch;
  const sourceIndices = batch.sourceIndices ?? sourceIndicesOf(batch, sources);
  const ids = idsOf(batch);
  return Array.from(ends, (end, at) => ({
    index: indexNames[indices?.[at] ?? 0]!,
    id: ids[at]!,
    source: bytes.subarray(documentStart(batch, at), end),
    ordinal: ordinals?.[at] ?? at,
    sourceIndex: sourceIndices[at]!,
    offset: offsets?.[at] ?? 0,
    timestampMs: timesMs?.[at] ?? 0,
    shape: shapes?.[at],
    action: DOCUMENT_ACTIONS[actions?.[at] ?? 0]!,
  }));
}

/** Returns for each document which of `sources` (ascending ranges of one source) holds its offset: 1-based, 0 without sources. */
export function sourceIndicesOf(
  { ends, offsets }: DocumentBatch,
  sources: readonly SourceRange[],
): Uint32Array {
  const result = new Uint32Array(ends.length);
  if (sources.length <= 1 || offsets === undefined) return result.fill(Math.min(sources.length, 1));
  let range = 0;
  for (let at = 0; at < result.length; at++) {
    while (range < sources.length - 1 && offsets[at]! >= sources[range]!.to) range++;
    result[at] = range + 1;
  }
  return result;
}

/** Returns the documents at `places` as a new batch. */
export function selectDocuments(batch: DocumentBatch, places: Uint32Array): DocumentBatch {
  const { bytes, indexNames, indices, ids, actions, ordinals, offsets, timesMs, shapes } = batch;
  const idStops = idEndsOf(batch);
  const documents = places.reduce((sum, at) => sum + batch.ends[at]! - documentStart(batch, at), 0);
  const selected = new Uint8Array(documents);
  const selectedIds: Uint8Array[] = [];
  const ends = new Uint32Array(places.length);
  let end = 0;
  for (const [nth, at] of places.entries()) {
    const source = bytes.subarray(documentStart(batch, at), batch.ends[at]);
    selected.set(source, end);
    end += source.length;
    ends[nth] = end;
    if (ids !== undefined) selectedIds.push(ids.subarray(at === 0 ? 0 : idStops[at - 1], idStops[at]));
  }
  let idEnd = 0;
  return {
    bytes: selected,
    start: 0,
    ends,
    gap: 0,
    indexNames,
    ...(indices && { indices: places.map((at) => indices[at]!) }),
    ...(ids && {
      ids: Buffer.concat(selectedIds),
      idEnds: Uint32Array.from(selectedIds, ({ length }) => (idEnd += length)),
    }),
    ...(actions && { actions: Uint8Array.from(places, (at) => actions[at]!) }),
    ordinals: ordinals === undefined ? places.slice() : places.map((at) => ordinals[at]!),
    ...(offsets && { offsets: Float64Array.from(places, (at) => offsets[at]!) }),
    ...(timesMs && { timesMs: Float64Array.from(places, (at) => timesMs[at]!) }),
    ...(shapes && { shapes: Float64Array.from(places, (at) => shapes[at]!) }),
  };
}

/** Returns the ids of a batch that has some. */
export function idsOf(batch: Pick<DocumentBatch, "ids" | "idEnds" | "ends">): string[] {
  const bytes = batch.ids ?? new Uint8Array(0);
  const ids = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  let start = 0;
  return Array.from(idEndsOf(batch), (end) => {
    const id = ids.toString("utf8", start, end);
    start = end;
    return id;
  });
}

/** Returns the offset of each id's end. */
export function idEndsOf({ ids, idEnds, ends }: Pick<DocumentBatch, "ids" | "idEnds" | "ends">): Uint32Array {
  if (idEnds !== undefined) return idEnds;
  const idBytes = (ids?.length ?? 0) / Math.max(1, ends.length);
  const stops = new Uint32Array(ends.length);
  for (let at = 0, end = 0; at < stops.length; at++) stops[at] = end += idBytes;
  return stops;
}
