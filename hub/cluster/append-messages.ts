/**
 * New documents that lie behind each other in one run of bytes, as messages of DOC: the operations are written as bytes
 * at once, without an object for each. What a reader sees is the same as of DocBatches.
 */

import { DocBatch } from "#proto/messages.ts";
import { docSubject } from "#proto/subjects.ts";
import { type BatchHeader, MAX_BATCH_BYTES, MAX_OPERATIONS } from "./doc-batches.ts";
import { type DocumentIds, ID_CHARACTERS } from "./document-ids.ts";
import type { IndexMetadata } from "./index-metadata.ts";
import { OPERATION_BYTES, putAppend } from "./operation-bytes.ts";
import { shardOf } from "./routing.ts";

/** New documents for one index, behind each other in `bytes`. They get ids. */
export interface AppendRun {
  /** Name or alias. */
  readonly index: string;
  readonly bytes: Uint8Array;
  /** Where each document begins, and the byte behind it. */
  readonly starts: Int32Array;
  readonly stops: Int32Array;
}

/** A message ready to be published. */
export interface AppendMessage {
  readonly subject: string;
  readonly data: Uint8Array;
  readonly shard: number;
  /** Places of its documents in the run. */
  readonly places: readonly number[];
}

interface OpenMessage {
  places: number[];
  bytes: number;
}

/** Sorts the documents of a run into messages; `ids` receives the id of each. `reply`: where a message is answered. */
export function appendMessages(
  run: AppendRun,
  index: IndexMetadata,
  header: BatchHeader,
  documentIds: DocumentIds,
  ids: string[],
  reply: () => string,
): AppendMessage[] {
  const { numberOfShards } = index.settings;
  const open: OpenMessage[] = Array.from({ length: numberOfShards }, () => ({ places: [], bytes: 0 }));
  const done: AppendMessage[] = [];
  const close = (shard: number): void => {
    const { places } = open[shard]!;
    const head = headerBytes(index, shard, header, reply());
    const data = encodeRun(run, places, ids, head, open[shard]!.bytes);
    done.push({ subject: docSubject(index.uuid, shard), data, shard, places });
    open[shard] = { places: [], bytes: 0 };
  };
  for (let place = 0; place < run.starts.length; place++) {
    const id = documentIds.next();
    ids.push(id);
    const shard = shardOf(id, "", numberOfShards);
    const bytes = run.stops[place]! - run.starts[place]! + ID_CHARACTERS + OPERATION_BYTES;
    const message = open[shard]!;
    const isFull = message.bytes + bytes > MAX_BATCH_BYTES || message.places.length >= MAX_OPERATIONS;
    if (isFull && message.places.length > 0) close(shard);
    open[shard]!.places.push(place);
    open[shard]!.bytes += bytes;
  }
  for (const [shard, { places }] of open.entries()) if (places.length > 0) close(shard);
  return done;
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

/** `roomBytes`: what the operations take at most. */
function encodeRun(
  { bytes, starts, stops }: AppendRun,
  places: readonly number[],
  ids: readonly string[],
  head: Uint8Array,
  roomBytes: number,
): Uint8Array {
  const out = Buffer.allocUnsafeSlow(head.length + roomBytes);
  out.set(head);
  let at = head.length;
  for (const place of places) {
    const [id, from, to] = [ids[place]!, starts[place]!, stops[place]!];
    at = putAppend(out, at, {
      create: false,
      id,
      bytes,
      from,
      to,
      ordinal: place,
      sourceIndex: 0,
      offset: 0,
    });
  }
  return out.subarray(0, at);
}
