/**
 * Fast path of `_bulk`, for the request that most clients send: the same action line before each document, without ids.
 * Only the beginnings of lines are examined.
 */

import { actionCode, type DocumentBatch, documentStart as startOf } from "#proto/document-batch.ts";
import { MIB } from "#proto/kit/units.ts";
import { type BulkDefaults, type BulkItem, firstItem } from "./bulk-parser.ts";

const NEWLINE = 0x0a;

/** Keys of the write of such a document. */
const SIMPLE: ReadonlySet<string> = new Set(["index", "kind", "source"]);

/** Documents of a body with what they have in common. */
export interface BulkRun {
  readonly kind: "index" | "create";
  /** Of the first document. */
  readonly item: BulkItem;
  readonly run: DocumentBatch;
}

/** Returns the documents of a body that is as simple, else null. Throws what parseBulk throws of the first two lines. */
export function readBulkRun(body: Buffer, defaults: BulkDefaults): BulkRun | null {
  const first = firstItem(body, defaults);
  if (first === undefined) return null;
  const { item, documentStart } = first;
  const { kind, write } = item;
  if ((kind !== "index" && kind !== "create") || !Object.keys(write).every((key) => SIMPLE.has(key)))
    return null;
  const action = body.subarray(0, documentStart);
  const ends: number[] = [];
  for (let at = 0; at < body.length; ) {
    if (!startsWith(body, at, action)) return null;
    const end = body.indexOf(NEWLINE, at + action.length);
    if (end < 0) return null;
    ends.push(end);
    at = end + 1;
  }
  const { index } = item;
  const gap = 1 + action.length;
  const run = {
    bytes: body,
    start: documentStart,
    ends: Uint32Array.from(ends),
    gap,
    indexNames: [index],
    actions: new Uint8Array(ends.length).fill(actionCode(kind)),
  };
  return { kind, item, run };
}

/** Most documents and bytes that are written at a time: packing them keeps the thread from others for some 30 ms. */
const PART_DOCUMENTS = 25_000;
const PART_BYTES = 8 * MIB;

/** Returns the end of the documents from `from` on that are written together: at least one, if there are any. */
export function partEnd(run: DocumentBatch, from: number): number {
  const limit = startOf(run, from) + PART_BYTES;
  let [low, high] = [from + 1, Math.min(from + PART_DOCUMENTS, run.ends.length)];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (run.ends[middle - 1]! <= limit) low = middle;
    else high = middle - 1;
  }
  return high;
}

/** Documents `from` to `to` of a run. */
export function partOf(run: DocumentBatch, from: number, to: number): DocumentBatch {
  const actions = run.actions!.subarray(from, to);
  return { ...run, start: startOf(run, from), ends: run.ends.subarray(from, to), actions };
}

/** The documents of a run one by one, for the way that others go. */
export function itemsOf({ kind, item }: BulkRun, run: DocumentBatch): BulkItem[] {
  return sourcesOf(run).map((source) => ({ ...item, write: { kind, index: item.index, source } }));
}

/** The documents of a run. */
export function sourcesOf(run: DocumentBatch): Uint8Array[] {
  return Array.from(run.ends, (end, at) => run.bytes.subarray(startOf(run, at), end));
}

function startsWith(body: Buffer, at: number, action: Buffer): boolean {
  if (at + action.length > body.length) return false;
  for (let index = 0; index < action.length; index++) if (body[at + index] !== action[index]) return false;
  return true;
}
