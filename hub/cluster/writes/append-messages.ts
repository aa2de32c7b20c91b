/** New documents as messages of DOC: sorted by shard, bounded, written as columns without an object for each. */

import type { IndexMetadata } from "#hub/cluster/catalog/index-metadata.ts";
import { DocBatch } from "#proto/messages.ts";
import { docSubject } from "#proto/subjects.ts";
import { type DocumentColumns, encodeAppends } from "./append-encoder.ts";
import { type BatchHeader, MAX_BATCH_BYTES, MAX_OPERATIONS, OPERATION_BYTES } from "./doc-batches.ts";
import { shardOfAscii } from "./routing.ts";

/** New documents of one index, one entry each, in order. */
export interface NewDocuments {
  readonly bytes: Uint8Array;
  /** Where the first one begins in `bytes`. */
  readonly start: number;
  /** Where each one ends. */
  readonly ends: Uint32Array;
  /** Bytes between two that belong to neither. */
  readonly gap: number;
  /** ASCII, behind each other, `idBytes` each. */
  readonly ids: Uint8Array;
  readonly idBytes: number;
  /** Where the ids of all belong; without it each id says where. */
  readonly shard?: number;
  /** See DocumentColumns. */
  readonly ordinals?: Uint32Array;
  readonly sourceIndices?: Uint32Array;
  readonly offsets?: Float64Array;
}

/** A message ready to be published. */
export interface AppendMessage {
  readonly subject: string;
  readonly data: Uint8Array;
  readonly shard: number;
  /** Number of this message among those of the same write and shard, from 0. */
  readonly part: number;
  /** Places of its documents among all. */
  readonly places: Uint32Array;
}

/** Sorts documents into messages. `reply`: where a message is answered; empty for nowhere. */
export function appendMessages(
  documents: NewDocuments,
  index: IndexMetadata,
  header: BatchHeader,
  reply: () => string,
): AppendMessage[] {
  const messages: AppendMessage[] = [];
  for (const [shard, places] of placesByShard(documents, index.settings.numberOfShards)) {
    for (const [part, some] of partsOf(documents, places).entries()) {
      const head = headerBytes(index, shard, header, reply());
      const isAll = some.length > 0 && some.at(-1)! - some[0]! === some.length - 1;
      const columns = isAll ? neighbours(documents, some) : gathered(documents, some);
      const data = encodeAppends(head, columns);
      messages.push({ subject: docSubject(index.uuid, shard), data, shard, part, places: some });
    }
  }
  return messages;
}

/** Shards with the places of their documents, ascending in each. */
function placesByShard(documents: NewDocuments, shards: number): [shard: number, places: Uint32Array][] {
  const { ids, idBytes, ends, shard: ofAll = shards === 1 ? 0 : undefined } = documents;
  if (ofAll !== undefined) return [[ofAll, ends.map((_, place) => place)]];
  const shardOf = new Uint32Array(ends.length);
  const counts = new Uint32Array(shards);
  for (let place = 0; place < ends.length; place++) {
    const shard = shardOfAscii(ids, place * idBytes, (place + 1) * idBytes, shards);
    shardOf[place] = shard;
    counts[shard]!++;
  }
  const result = Array.from(counts, (count, shard): [number, Uint32Array] => [shard, new Uint32Array(count)]);
  counts.fill(0);
  for (let place = 0; place < ends.length; place++) {
    const shard = shardOf[place]!;
    result[shard]![1][counts[shard]!++] = place;
  }
  return result;
}

/** Parts of the places that a message has room for: cut where DocBatches cuts, as a redo may go the other way. */
function partsOf(documents: NewDocuments, places: Uint32Array): Uint32Array[] {
  const parts: Uint32Array[] = [];
  let first = 0;
  let bytes = 0;
  for (let nth = 0; nth < places.length; nth++) {
    const place = places[nth]!;
    const more = documents.ends[place]! - startOf(documents, place) + OPERATION_BYTES;
    if (nth > first && (bytes + more > MAX_BATCH_BYTES || nth - first >= MAX_OPERATIONS)) {
      parts.push(places.subarray(first, nth));
      first = nth;
      bytes = 0;
    }
    bytes += more;
  }
  if (places.length > first) parts.push(places.subarray(first));
  return parts;
}

/** Documents that lie behind each other: their bytes are copied in one go. */
function neighbours(documents: NewDocuments, places: Uint32Array): DocumentColumns {
  const { bytes, ends, gap, ids, idBytes } = documents;
  const first = places[0]!;
  const last = first + places.length;
  const start = startOf(documents, first);
  return {
    documentBytes: ends[last - 1]! - start,
    put: (out, at) => out.set(bytes.subarray(start, ends[last - 1]), at),
    ends: ends.subarray(first, last).map((end) => end - start),
    gap,
    ids: ids.subarray(first * idBytes, last * idBytes),
    ...(documents.ordinals && { ordinals: documents.ordinals.slice(first, last) }),
    ...(documents.sourceIndices && { sourceIndices: documents.sourceIndices.slice(first, last) }),
    ...(documents.offsets && { offsets: documents.offsets.slice(first, last) }),
  };
}

/** Documents with others between them. */
function gathered(documents: NewDocuments, places: Uint32Array): DocumentColumns {
  const { bytes, ids, idBytes, ordinals, sourceIndices, offsets } = documents;
  const ends = new Uint32Array(places.length);
  const someIds = new Uint8Array(places.length * idBytes);
  let documentBytes = 0;
  for (let nth = 0; nth < places.length; nth++) {
    const place = places[nth]!;
    documentBytes += documents.ends[place]! - startOf(documents, place);
    ends[nth] = documentBytes;
    const from = place * idBytes;
    for (let at = 0; at < idBytes; at++) someIds[nth * idBytes + at] = ids[from + at]!;
  }
  const put = (out: Uint8Array, at: number): void => {
    const source = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    let to = at;
    for (const place of places) to += source.copy(out, to, startOf(documents, place), documents.ends[place]);
  };
  return {
    documentBytes,
    put,
    ends,
    gap: 0,
    ids: someIds,
    ...(ordinals && { ordinals: places.map((place) => ordinals[place]!) }),
    ...(sourceIndices && { sourceIndices: places.map((place) => sourceIndices[place]!) }),
    ...(offsets && { offsets: Float64Array.from(places, (place) => offsets[place]!) }),
  };
}

/** Where document `place` begins. */
function startOf({ start, ends, gap }: NewDocuments, place: number): number {
  return place === 0 ? start : ends[place - 1]! + gap;
}

function headerBytes(index: IndexMetadata, shard: number, header: BatchHeader, reply: string): Uint8Array {
  return DocBatch.encode({
    ...header,
    sources: [...header.sources],
    index: index.name,
    indexUuid: index.uuid,
    shard,
    mappingVersion: index.mapping.version,
    reply,
  }).finish();
}
