/**
 * Encodes documents with chosen ids as the operations of a DocBatch (DocOperation in proto/log.proto), written straight into
 * the message: no object is made for a document.
 */

import { actionCode, type DocumentBatch, documentStart } from "#proto/document-batch.ts";
import { DocOperation } from "#proto/messages.ts";
import { fieldBytes, numberBytes, putNumber, putTag, putVarint } from "./append-encoder.ts";

/** Tags: number << 3 | wire type. */
const OPERATION = 0x5a;
const KIND = 0x08;
const ID = 0x12;
const SOURCE = 0x1a;
const ORDINAL = 0x28;

const CREATE = actionCode("create");

/** A batch of operations [index] and [create]. */
export type KeyedBatch = Required<Pick<DocumentBatch, "starts" | "ids" | "idEnds" | "actions">> &
  DocumentBatch;

/** Returns a DocBatch of `head`, an encoded one without operations, and the documents at `places` as operations. */
export function encodeOperations(head: Uint8Array, documents: KeyedBatch, places: Uint32Array): Buffer {
  let size = head.length;
  for (const place of places) size += fieldBytes(operationBytes(documents, place));
  const out = Buffer.allocUnsafeSlow(size);
  out.set(head);
  let at = head.length;
  for (const place of places) at = putOperation(out, at, documents, place);
  return out;
}

function operationBytes(documents: KeyedBatch, place: number): number {
  const { ends, idEnds } = documents;
  const idBytes = idEnds[place]! - idStart(documents, place);
  const sourceBytes = ends[place]! - documentStart(documents, place);
  const kind = numberBytes(kindOf(documents, place));
  return kind + fieldBytes(idBytes) + fieldBytes(sourceBytes) + numberBytes(place);
}

function putOperation(out: Buffer, from: number, documents: KeyedBatch, place: number): number {
  const { bytes, ends, ids, idEnds } = documents;
  let at = putVarint(out, putTag(out, from, OPERATION), operationBytes(documents, place));
  at = putNumber(out, at, KIND, kindOf(documents, place));
  at = putBytes(out, at, ID, ids.subarray(idStart(documents, place), idEnds[place]));
  at = putBytes(out, at, SOURCE, bytes.subarray(documentStart(documents, place), ends[place]));
  return putNumber(out, at, ORDINAL, place);
}

function putBytes(out: Buffer, from: number, tag: number, bytes: Uint8Array): number {
  if (bytes.length === 0) return from;
  const at = putVarint(out, putTag(out, from, tag), bytes.length);
  out.set(bytes, at);
  return at + bytes.length;
}

function idStart({ idEnds }: KeyedBatch, place: number): number {
  return place === 0 ? 0 : idEnds[place - 1]!;
}

function kindOf({ actions }: KeyedBatch, place: number): number {
  return actions[place] === CREATE ? DocOperation.Kind.CREATE : DocOperation.Kind.INDEX;
}
