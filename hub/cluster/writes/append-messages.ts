/** Documents as messages of DOC: sorted by shard, bounded, written as columns without an object per document. */

import type { IndexMetadata } from "#hub/cluster/catalog/index-metadata.ts";
import { type DocumentBatch, documentStart, idEndsOf } from "#proto/document-batch.ts";
import { DocBatch } from "#proto/messages.ts";
import { docSubject } from "#proto/subjects.ts";
import { encodeAppends } from "./append-encoder.ts";
import {
  type BatchHeader,
  type EncodedBatch,
  MAX_BATCH_BYTES,
  MAX_OPERATIONS,
  OPERATION_BYTES,
} from "./doc-batches.ts";
import { shardOfAscii } from "./routing.ts";

/** The destination of a batch's documents. */
export interface AppendTarget {
  readonly index: IndexMetadata;
  readonly header: BatchHeader;
  /** The shard of all ids; without it each id determines its shard. */
  readonly shard?: number;
  /** Returns the reply subject of a message; without it there are no replies. */
  readonly reply?: () => string;
}

/** A message before its documents are packed; `head`: encoded, without them. */
export type PlannedBatch = Omit<EncodedBatch, "data"> & { readonly head: Uint8Array };

/** Sorts new documents into messages. Their ids are ASCII of one length. */
export function appendMessages(documents: DocumentBatch, target: AppendTarget): EncodedBatch[] {
  return planMessages(documents, target).map((planned) => encodeMessage(documents, planned));
}

/** Sorts documents into messages that `encodeMessage` packs, or encodeOperations if clients chose their ids. Ids are ASCII. */
export function planMessages(documents: DocumentBatch, target: AppendTarget): PlannedBatch[] {
  const { index, header } = target;
  const shards = index.settings.numberOfShards;
  const messages: PlannedBatch[] = [];
  for (const [shard, places] of placesByShard(documents, shards, target.shard)) {
    for (const [part, some] of partsOf(documents, places).entries()) {
      const head = headerBytes(index, shard, header, target.reply?.() ?? "");
      messages.push({ subject: docSubject(index.uuid, shard), head, index, shard, part, places: some });
    }
  }
  return messages;
}

export function encodeMessage(documents: DocumentBatch, planned: PlannedBatch): EncodedBatch {
  return { ...planned, data: encodeAppends(planned.head, documents, planned.places) };
}

/** Shards with the indices of their documents, ascending in each. */
function placesByShard(
  documents: DocumentBatch,
  shards: number,
  ofAll = shards === 1 ? 0 : undefined,
): [shard: number, places: Uint32Array][] {
  const { ids = new Uint8Array(0), ends } = documents;
  if (ofAll !== undefined) return [[ofAll, ends.map((_, place) => place)]];
  const idEnds = idEndsOf(documents);
  const shardOf = new Uint32Array(ends.length);
  const counts = new Uint32Array(shards);
  for (let place = 0, from = 0; place < ends.length; from = idEnds[place++]!) {
    const shard = shardOfAscii(ids, from, idEnds[place]!, shards);
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

/**
 * The indexes, split into parts that fit into one message each: split exactly as in DocBatches, because a retry may use
 * that path.
 */
function partsOf(documents: DocumentBatch, places: Uint32Array): Uint32Array[] {
  const parts: Uint32Array[] = [];
  let first = 0;
  let bytes = 0;
  for (let nth = 0; nth < places.length; nth++) {
    const place = places[nth]!;
    const more = documents.ends[place]! - documentStart(documents, place) + OPERATION_BYTES;
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
