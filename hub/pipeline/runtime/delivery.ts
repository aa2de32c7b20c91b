/** From a worker's packed documents to the sink and to those who watch. */

import { DOCUMENT_ACTIONS, type PackedDocuments } from "#hub/pipeline/batch/packed-documents.ts";
import { AppError } from "#proto/kit/errors.ts";
import { freeBytes } from "#proto/kit/free-bytes.ts";
import { comparePositions, type Position } from "#proto/position.ts";
import { newDocuments } from "./new-documents.ts";
import type { DocumentOrigin, EventListener, NewDocuments, ProcessedDocument, SourceRange } from "./ports.ts";

export interface Delivery {
  readonly documents: PackedDocuments;
  readonly origin: DocumentOrigin;
  /** The ranges of the message's source that were processed, ascending. */
  readonly ranges: readonly SourceRange[];
  /** Writes; throws what can't pass. */
  readonly write: (
    sources: readonly SourceRange[],
    documents: readonly ProcessedDocument[],
  ) => Promise<Position>;
  /** Writes new documents the quick way; null where that can't be. Throws what can't pass. */
  readonly append: (sources: readonly SourceRange[], documents: NewDocuments) => Promise<Position | null>;
  /** Takes a document that the sink refuses for good. */
  readonly reject: (document: ProcessedDocument, reason: string) => Promise<void>;
  readonly listener: EventListener | undefined;
}

/**
 * Writes the documents of one message; returns the position of the last DOC message, or undefined without one.
 * Where the sink refuses them together, each index is tried by itself, and what is refused then is rejected.
 */
export async function deliverDocuments(delivery: Delivery): Promise<Position | undefined> {
  const { ranges, listener } = delivery;
  if (delivery.documents.ends.length === 0) return undefined;
  const appended = await append(delivery);
  if (appended !== null && listener?.listening !== true) {
    // The log has a copy, and nobody else looks at them.
    freeBytes(delivery.documents.bytes);
    return appended;
  }
  const documents = unpack(delivery.documents, ranges);
  const position = appended ?? (await write(delivery, documents));
  if (listener?.listening) listener.offer(documents);
  return position;
}

/** Fast path. */
async function append({ documents, ranges, append: writeColumns }: Delivery): Promise<Position | null> {
  const columns = newDocuments(documents, ranges);
  if (columns === null) return null;
  try {
    return await writeColumns(ranges, columns);
  } catch (error) {
    if (!isRefusal(error)) throw error;
    return null;
  }
}

async function write(
  delivery: Delivery,
  documents: readonly ProcessedDocument[],
): Promise<Position | undefined> {
  try {
    return await delivery.write(delivery.ranges, documents);
  } catch (error) {
    if (!isRefusal(error)) throw error;
    return writeByIndex(delivery, documents);
  }
}

async function writeByIndex(
  { ranges, write, reject }: Delivery,
  documents: readonly ProcessedDocument[],
): Promise<Position | undefined> {
  let last: Position | undefined;
  for (const group of Map.groupBy(documents, ({ index }) => index).values()) {
    try {
      const position = await write(ranges, group);
      if (last === undefined || comparePositions(position, last) > 0) last = position;
    } catch (error) {
      if (!isRefusal(error)) throw error;
      for (const document of group) await reject(document, error.message);
    }
  }
  return last;
}

function isRefusal(error: unknown): error is AppError {
  return (
    error instanceof AppError && !error.retryable && error.code !== "cancelled" && error.code !== "internal"
  );
}

/** Returns the documents as objects over the packed bytes. */
export function unpack(packed: PackedDocuments, ranges: readonly SourceRange[]): ProcessedDocument[] {
  const documents: ProcessedDocument[] = [];
  const { bytes, ends, ids, idEnds, indexNames, indices, ordinals, offsets, timesMs, actions, shapes } =
    packed;
  let start = 0;
  let idStart = 0;
  let range = 0;
  for (let at = 0; at < ends.length; at++) {
    const end = ends[at]!;
    const idEnd = idEnds[at]!;
    const offset = offsets[at]!;
    while (range < ranges.length - 1 && offset >= ranges[range]!.to) range++;
    documents.push({
      index: indexNames[indices[at]!]!,
      id: ids.slice(idStart, idEnd),
      source: bytes.subarray(start, end),
      ordinal: ordinals[at]!,
      sourceIndex: ranges.length === 0 ? 0 : range + 1,
      offset,
      timestampMs: timesMs[at]!,
      shape: shapes[at]!,
      action: DOCUMENT_ACTIONS[actions[at]!]!,
    });
    start = end;
    idStart = idEnd;
  }
  return documents;
}
