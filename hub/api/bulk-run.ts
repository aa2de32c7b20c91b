/**
 * The `_bulk` request that most clients send: the same action line before each document, which gets an id of its own.
 * Only where lines begin is looked at, and answers are made from one.
 */

import type { AppError } from "#proto/kit/errors.ts";
import { type BulkDefaults, type BulkItem, firstItem } from "./bulk-parser.ts";
import type { AppendResult, AppendRun, Indices, WriteOptions } from "./ports.ts";
import { writeBody } from "./write-answer.ts";

const NEWLINE = 0x0a;

/** What a write of such a document says. */
const SIMPLE: ReadonlySet<string> = new Set(["index", "kind", "source"]);

/** Documents of a body with what they have in common. */
export interface BulkRun {
  readonly kind: "index" | "create";
  /** Of the first document. */
  readonly item: BulkItem;
  readonly run: AppendRun;
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
  const starts: number[] = [];
  const stops: number[] = [];
  for (let at = 0; at < body.length; ) {
    if (!startsWith(body, at, action)) return null;
    const start = at + action.length;
    const stop = body.indexOf(NEWLINE, start);
    if (stop < 0) return null;
    starts.push(start);
    stops.push(stop);
    at = stop + 1;
  }
  const { index } = item;
  return {
    kind,
    item,
    run: { index, bytes: body, starts: Int32Array.from(starts), stops: Int32Array.from(stops) },
  };
}

/** Documents `from` to `to` of a run. */
export function partOf({ index, bytes, starts, stops }: AppendRun, from: number, to: number): AppendRun {
  return { index, bytes, starts: starts.subarray(from, to), stops: stops.subarray(from, to) };
}

/** The documents of a run one by one, for the way that others go. */
export function itemsOf({ kind, item }: BulkRun, { bytes, starts, stops }: AppendRun): BulkItem[] {
  return Array.from(starts, (start, place) => ({
    ...item,
    write: { kind, index: item.index, source: bytes.subarray(start, stops[place]) },
  }));
}

/** Returns the JSON of each item's answer; `failure`: that of one that isn't in. */
export function appendAnswers(
  kind: string,
  result: AppendResult,
  indices: Indices,
  refresh: WriteOptions["refresh"],
  failure: (error: AppError) => string,
): string[] {
  const [head, middle, tail] = answerParts(kind, result, indices, refresh);
  return result.outcomes.map((outcome, place) =>
    typeof outcome === "number" ? head + result.ids[place]! + middle + outcome + tail : failure(outcome),
  );
}

/** The answer of a document without its id and its sequence number: before, between and behind them. */
function answerParts(
  kind: string,
  { index, copies }: AppendResult,
  indices: Indices,
  refresh: WriteOptions["refresh"],
): readonly [string, string, string] {
  const created = { result: "created", version: 1, primaryTerm: 1, copies, copiesDone: 1 } as const;
  const id = "\u0000";
  const seqNo = Number.MIN_SAFE_INTEGER;
  const body = writeBody({ ...created, index, id, seqNo }, indices, refresh);
  const text = JSON.stringify({ [kind]: { ...body, status: 201 } });
  const [head = "", rest = ""] = text.split("\\u0000");
  const [middle = "", tail = ""] = rest.split(String(seqNo));
  return [head, middle, tail];
}

function startsWith(body: Buffer, at: number, action: Buffer): boolean {
  if (at + action.length > body.length) return false;
  for (let index = 0; index < action.length; index++) if (body[at + index] !== action[index]) return false;
  return true;
}
