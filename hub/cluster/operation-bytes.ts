/**
 * Operations that only add a document, as bytes of a DocBatch (proto/log.proto) without an object's way through the
 * encoder. The reader is the engine's DocBatchView.
 */

import { DocOperation, type tailrace } from "#proto/messages.ts";

/** Tags: number << 3 | wire type. */
const OPERATION = 0x5a;
const KIND = 0x08;
const ID = 0x12;
const SOURCE = 0x1a;
const ORDINAL = 0x28;
const SOURCE_INDEX = 0x30;
const OFFSET = 0x38;
const APPEND_ONLY = [0x80, 0x01, 0x01] as const;

/** What an operation takes at most beside its id and its document: tags, lengths, numbers. */
export const OPERATION_BYTES = 64;

/** A new document that lies in bytes[from..to). */
export interface Append {
  readonly create: boolean;
  readonly id: string;
  readonly bytes: Uint8Array;
  readonly from: number;
  readonly to: number;
  readonly ordinal: number;
  readonly sourceIndex: number;
  readonly offset: number;
}

/** Returns an operation as what it adds; null where it says more. */
export function appendOf(operation: tailrace.DocOperation.$Properties): Append | null {
  const { appendOnly, kind, routing, upsert, id, source, ordinal, sourceIndex, offset } = operation;
  const saysMore =
    appendOnly !== true ||
    (kind ?? 0) > DocOperation.Kind.CREATE ||
    Boolean(routing) ||
    (upsert?.length ?? 0) > 0 ||
    operation.hasVersion === true ||
    (operation.ifPrimaryTerm ?? 0) > 0;
  if (saysMore || !id || !source) return null;
  return {
    create: kind === DocOperation.Kind.CREATE,
    id,
    bytes: source,
    from: 0,
    to: source.length,
    ordinal: ordinal ?? 0,
    sourceIndex: sourceIndex ?? 0,
    offset: offset ?? 0,
  };
}

/** Bytes that `putAppend` takes at most. */
export function appendBytes({ id, from, to }: Append): number {
  return 3 * id.length + (to - from) + OPERATION_BYTES;
}

/** Writes an operation to `out`, which has room, at `at`; returns the place behind it. */
export function putAppend(out: Buffer, at: number, append: Append): number {
  const { create, id, bytes, from, to, ordinal, sourceIndex, offset } = append;
  const idBytes = Buffer.byteLength(id);
  const length = to - from;
  const numbers = numberBytes(ordinal) + numberBytes(sourceIndex) + numberBytes(offset);
  const texts = 2 + varintBytes(idBytes) + idBytes + varintBytes(length) + length;
  out[at] = OPERATION;
  let next = putVarint(out, at + 1, (create ? 2 : 0) + texts + numbers + APPEND_ONLY.length);
  if (create) {
    out[next++] = KIND;
    out[next++] = DocOperation.Kind.CREATE;
  }
  out[next++] = ID;
  next = putVarint(out, next, idBytes);
  next += out.write(id, next);
  out[next++] = SOURCE;
  next = putVarint(out, next, length);
  out.set(from === 0 && to === bytes.length ? bytes : bytes.subarray(from, to), next);
  next = putNumber(out, next + length, ORDINAL, ordinal);
  next = putNumber(out, next, SOURCE_INDEX, sourceIndex);
  next = putNumber(out, next, OFFSET, offset);
  for (const byte of APPEND_ONLY) out[next++] = byte;
  return next;
}

/** Bytes of a field with a number, which is left out where it is 0. */
function numberBytes(value: number): number {
  return value === 0 ? 0 : 1 + varintBytes(value);
}

function putNumber(out: Uint8Array, at: number, tag: number, value: number): number {
  if (value === 0) return at;
  out[at] = tag;
  return putVarint(out, at + 1, value);
}

function varintBytes(value: number): number {
  let bytes = 1;
  for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes++;
  return bytes;
}

/** `value`: whole, below 2^53. */
function putVarint(out: Uint8Array, from: number, value: number): number {
  let at = from;
  let rest = value;
  while (rest >= 0x80) {
    out[at++] = (rest % 0x80) | 0x80;
    rest = Math.floor(rest / 0x80);
  }
  out[at++] = rest;
  return at;
}
