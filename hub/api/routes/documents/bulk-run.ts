/**
 * Fast path of `_bulk`, for the requests that most clients send: the same action line before each document, without ids; in
 * large bodies also action lines that differ in their ids only. Only the beginnings of lines are examined.
 */

import { setImmediate } from "node:timers/promises";
import type { LargeBodies } from "#hub/api/ports/documents.ts";
import type { AppendRun, LentBody } from "#hub/cluster/writes/append-run.ts";
import {
  type FirstLine,
  type ScannedKeys,
  type ScannedLines,
  scanLines,
} from "#hub/cluster/writes/body-lines.ts";
import type { ScanResult } from "#hub/cluster/writes/body-work.ts";
import { actionCode, type DocumentBatch, documentStart as startOf } from "#proto/document-batch.ts";
import { freeBytes } from "#proto/kit/large-bytes.ts";
import { MIB } from "#proto/kit/units.ts";
import { idInLine } from "./bulk-line.ts";
import { type BulkDefaults, type BulkItem, firstItem } from "./bulk-parser.ts";

const NOTHING = Buffer.alloc(0);

/** Keys that a write has if its document qualifies. */
const SIMPLE: ReadonlySet<string> = new Set(["index", "kind", "source", "id"]);

/** Documents of a body with what they have in common. */
export interface BulkRun {
  readonly kind: "index" | "create";
  /** The item of the first document. */
  readonly item: BulkItem;
  readonly run: AppendRun;
}

/** Returns the documents of a body that qualifies, else null. Throws what parseBulk throws of the first two lines. */
export function readBulkRun(body: Buffer, defaults: BulkDefaults): BulkRun | null {
  const first = firstOfRun(body, defaults);
  // With ids it would be lent.
  if (first === null || first.line.id !== undefined) return null;
  const lines = scanLines(body, first.line, 0);
  return lines && runOf(first, body, lines);
}

/**
 * Like readBulkRun, for a large body, which may have ids: another thread examines its lines in parts and keeps the body. If
 * the body doesn't qualify, or `accepts` is false for its first item, it is returned. Also throws what LentBody.run throws.
 */
export async function readLargeRun(
  bodies: LargeBodies,
  body: Buffer,
  defaults: BulkDefaults,
  signal: AbortSignal,
  accepts: (item: BulkItem) => boolean,
): Promise<{ readonly run: BulkRun | null; readonly body: Buffer }> {
  const { length } = body;
  const first = firstOfRun(body, defaults);
  if (first === null || !isRepeated(body, first.line) || !accepts(first.item)) return { run: null, body };
  const lent = bodies.lend(body);
  try {
    const parts: ScanResult[] = [];
    for (let from = 0; from < length; from = parts.at(-1)!.next) {
      const found = await lent.run({ kind: "scan", ...first.line, from }, signal);
      if (found === null) return { run: null, body: await lent.reclaim(signal) };
      parts.push(found);
    }
    const samples = new Map(parts.flatMap((part) => [...part.samples]));
    const columns = await joined(parts);
    return { run: runOf(first, NOTHING, { ...columns, lent: { body: lent, samples } }), body: NOTHING };
  } catch (error) {
    lent.free();
    throw error;
  }
}

/** Returns the run after its bytes came back to this thread. Throws what LentBody.reclaim throws. */
export async function reclaimed(
  { lent: _lent, ...run }: AppendRun,
  body: LentBody,
  signal: AbortSignal,
): Promise<AppendRun> {
  return { ...run, bytes: await body.reclaim(signal) };
}

/** Joins the columns of scans and frees theirs. A scan's take some ms: other requests have the thread between them. */
async function joined(parts: readonly ScanResult[]): Promise<Pick<ScanResult, "ends" | "shapes" | "keys">> {
  if (parts.length === 1) return parts[0]!;
  const count = parts.reduce((sum, { ends }) => sum + ends.length, 0);
  const all = { ends: new Uint32Array(count), shapes: new Float64Array(count) };
  let at = 0;
  for (const { ends, shapes } of parts) {
    await setImmediate();
    all.ends.set(ends, at);
    all.shapes.set(shapes, at);
    at += ends.length;
    for (const column of [ends, shapes]) freeBytes(column);
  }
  const keys = parts.flatMap((part) => part.keys ?? []);
  return { ...all, ...(keys.length > 0 && { keys: await joinedKeys(keys, count) }) };
}

async function joinedKeys(parts: readonly ScannedKeys[], count: number): Promise<ScannedKeys> {
  const idBytes = parts.reduce((sum, { ids }) => sum + ids.length, 0);
  const all = {
    starts: new Uint32Array(count),
    ids: new Uint8Array(idBytes),
    idEnds: new Uint32Array(count),
  };
  let [at, idsAt] = [0, 0];
  for (const { starts, ids, idEnds } of parts) {
    await setImmediate();
    all.starts.set(starts, at);
    all.ids.set(ids, idsAt);
    for (const idEnd of idEnds) all.idEnds[at++] = idsAt + idEnd;
    idsAt += ids.length;
    for (const column of [starts, ids, idEnds]) freeBytes(column);
  }
  return all;
}

/** Returns true if the second document has an action line like that of the first. */
function isRepeated(body: Buffer, line: FirstLine): boolean {
  const first = scanLines(body, line, 0, 1);
  return first !== null && scanLines(body, line, first.next, 1) !== null;
}

interface FirstOfRun {
  readonly item: BulkItem;
  readonly line: FirstLine;
}

/** Returns the first item if it is a document to index or create without further options than an id. */
function firstOfRun(body: Buffer, defaults: BulkDefaults): FirstOfRun | null {
  const first = firstItem(body, defaults);
  if (first === undefined) return null;
  const { item, documentStart: lineBytes } = first;
  const { kind, write } = item;
  const isSimple =
    (kind === "index" || kind === "create") && Object.keys(write).every((key) => SIMPLE.has(key));
  if (!isSimple) return null;
  if (item.id === undefined) return { item, line: { lineBytes } };
  const id = idInLine(body.toString("latin1", 0, lineBytes));
  return id === undefined ? null : { item, line: { lineBytes, id } };
}

function runOf(
  { item, line: { lineBytes } }: FirstOfRun,
  bytes: Buffer,
  { ends, keys, shapes, lent }: Pick<ScannedLines, "ends" | "keys"> & Pick<AppendRun, "shapes" | "lent">,
): BulkRun {
  const kind = item.kind === "create" ? "create" : "index";
  const run = {
    bytes,
    start: lineBytes,
    ends,
    gap: 1 + lineBytes,
    ...keys,
    indexNames: [item.index],
    actions: new Uint8Array(ends.length).fill(actionCode(kind)),
    ...(shapes && { shapes }),
    ...(lent && { lent }),
  };
  return { kind, item, run };
}

/** Maximum documents and bytes written at a time: packing them blocks the thread for about 30 ms. */
const PART_DOCUMENTS = 25_000;
const PART_BYTES = 8 * MIB;

/** Returns the end of the documents from `from` on that are written together: at least one document, if any is left. */
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

/** Returns the documents `from` to `to` of a run. */
export function partOf(run: AppendRun, from: number, to: number): AppendRun {
  const actions = run.actions!.subarray(from, to);
  const { shapes } = run;
  return {
    ...run,
    start: startOf(run, from),
    ends: run.ends.subarray(from, to),
    actions,
    ...(shapes && { shapes: shapes.subarray(from, to) }),
    ...keysOf(run, from, to),
  };
}

function keysOf({ starts, ids, idEnds }: AppendRun, from: number, to: number): Partial<ScannedKeys> {
  if (starts === undefined || ids === undefined || idEnds === undefined) return {};
  const idsAt = from === 0 ? 0 : idEnds[from - 1]!;
  return {
    starts: starts.subarray(from, to),
    ids: ids.subarray(idsAt, idEnds[to - 1]),
    idEnds: idEnds.subarray(from, to).map((end) => end - idsAt),
  };
}

/** Yields the documents of a run as single items, for the slow path. */
export function* itemsOf(bulk: BulkRun, run: AppendRun): Iterable<BulkItem> {
  const { kind } = bulk;
  for (let at = 0; at < run.ends.length; at++) {
    const item = itemAt(bulk, run, at);
    const { index, id } = item;
    const source = sourceAt(run, at);
    yield { ...item, write: { kind, index, ...(id !== undefined && { id }), source } };
  }
}

/** Returns the item of the document at `position` of a run. */
export function itemAt({ item }: BulkRun, { ids, idEnds }: AppendRun, position: number): BulkItem {
  if (ids === undefined || idEnds === undefined) return item;
  const from = position === 0 ? 0 : idEnds[position - 1]!;
  return { ...item, id: Buffer.from(ids.subarray(from, idEnds[position])).toString("latin1") };
}

/** Yields the items of a run from that of the document at `position` on, without documents. */
export function* itemsFrom(bulk: BulkRun, run: AppendRun, position: number): Iterable<BulkItem> {
  for (let at = position; at < run.ends.length; at++) yield itemAt(bulk, run, at);
}

/** Returns the documents of a run. */
export function sourcesOf(run: DocumentBatch): Uint8Array[] {
  return Array.from(run.ends, (_end, at) => sourceAt(run, at));
}

function sourceAt(run: DocumentBatch, at: number): Uint8Array {
  return run.bytes.subarray(startOf(run, at), run.ends[at]);
}
