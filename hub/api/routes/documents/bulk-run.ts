/**
 * Fast path of `_bulk`, for the request that most clients send: the same action line before each document, without ids.
 * Only the beginnings of lines are examined.
 */

import type { LargeBodies } from "#hub/api/ports/documents.ts";
import type { AppendRun, LentBody } from "#hub/cluster/writes/append-run.ts";
import { type ScanResult, scanLines } from "#hub/cluster/writes/body-work.ts";
import { actionCode, type DocumentBatch, documentStart as startOf } from "#proto/document-batch.ts";
import { MIB } from "#proto/kit/units.ts";
import { type BulkDefaults, type BulkItem, firstItem } from "./bulk-parser.ts";

const NOTHING = Buffer.alloc(0);

/** Keys that a write has if its document qualifies. */
const SIMPLE: ReadonlySet<string> = new Set(["index", "kind", "source"]);

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
  const lines = first && scanLines(body, first.documentStart, 0);
  return first && lines && runOf(first, body, lines);
}

/**
 * Like readBulkRun, for a large body: another thread examines its lines in parts and keeps the body. If the body doesn't
 * qualify, it is returned. Also throws what LentBody.run throws.
 */
export async function readLargeRun(
  bodies: LargeBodies,
  body: Buffer,
  defaults: BulkDefaults,
  signal: AbortSignal,
): Promise<{ readonly run: BulkRun | null; readonly body: Buffer }> {
  const { length } = body;
  const first = firstOfRun(body, defaults);
  if (first === null || !isRepeated(body, first.documentStart)) return { run: null, body };
  const lineBytes = first.documentStart;
  const lent = bodies.lend(body);
  try {
    const parts: ScanResult[] = [];
    for (let from = 0; from < length; from = parts.at(-1)!.next) {
      const found = await lent.run({ kind: "scan", lineBytes, from }, signal);
      if (found === null) return { run: null, body: await lent.reclaim(signal) };
      parts.push(found);
    }
    const samples = new Map(parts.flatMap((part) => [...part.samples]));
    return { run: runOf(first, NOTHING, { ...joined(parts), lent: { body: lent, samples } }), body: NOTHING };
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

function joined(parts: readonly ScanResult[]): Pick<ScanResult, "ends" | "shapes"> {
  const count = parts.reduce((sum, { ends }) => sum + ends.length, 0);
  const [ends, shapes] = [new Uint32Array(count), new Float64Array(count)];
  let at = 0;
  for (const part of parts) {
    ends.set(part.ends, at);
    shapes.set(part.shapes, at);
    at += part.ends.length;
  }
  return { ends, shapes };
}

/** Returns true if the second document has the same action line as the first. */
function isRepeated(body: Buffer, lineBytes: number): boolean {
  const first = scanLines(body, lineBytes, 0, 1);
  return first !== null && scanLines(body, lineBytes, first.next, 1) !== null;
}

type FirstItem = NonNullable<ReturnType<typeof firstItem>>;

/** Returns the first item if it is a new document without further options. */
function firstOfRun(body: Buffer, defaults: BulkDefaults): FirstItem | null {
  const first = firstItem(body, defaults);
  if (first === undefined) return null;
  const { kind, write } = first.item;
  const isSimple =
    (kind === "index" || kind === "create") && Object.keys(write).every((key) => SIMPLE.has(key));
  return isSimple ? first : null;
}

function runOf(
  { item, documentStart }: FirstItem,
  bytes: Buffer,
  { ends, shapes, lent }: Pick<AppendRun, "ends" | "shapes" | "lent">,
): BulkRun {
  const kind = item.kind === "create" ? "create" : "index";
  const run = {
    bytes,
    start: documentStart,
    ends,
    gap: 1 + documentStart,
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
  };
}

/** Yields the documents of a run as single items, for the slow path. */
export function itemsOf({ kind, item }: BulkRun, run: DocumentBatch): BulkItem[] {
  return sourcesOf(run).map((source) => ({ ...item, write: { kind, index: item.index, source } }));
}

/** Returns the documents of a run. */
export function sourcesOf(run: DocumentBatch): Uint8Array[] {
  return Array.from(run.ends, (end, at) => run.bytes.subarray(startOf(run, at), end));
}
