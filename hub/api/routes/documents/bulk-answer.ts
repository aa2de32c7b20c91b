/**
 * The answer of a `_bulk` request, written as bytes: a request may have very many items, and most items of a run differ only
 * in an id and a number.
 */

import { writeBody, writeStatus } from "#hub/api/parameters/write-options.ts";
import type { Indices } from "#hub/api/ports/indices.ts";
import { type AppendResult, type RefreshPolicy, WRITE_OUTCOMES } from "#hub/cluster/writes/writes.ts";
import type { AppError } from "#proto/kit/errors.ts";
import { largeBytes, recycleBytes } from "#proto/kit/large-bytes.ts";
import { TimeSlices } from "#proto/kit/time-slices.ts";

const COMMA = 0x2c;
const END = Buffer.from("]}");
/** Capacity for the head, whose length is known only after the items. */
const HEAD_BYTES = 96;
const FIRST_BYTES = 16 * 1024;

/** The results of a run of documents. */
export interface RunAnswer {
  readonly kind: "index" | "create";
  readonly result: AppendResult;
  readonly indices: Pick<Indices, "get">;
  readonly refresh: RefreshPolicy;
  /** Returns the JSON of an item that failed. `position`: its document's in the run. */
  readonly failure: (error: AppError, position: number) => string;
}

export class BulkAnswer {
  /** True: an item failed. */
  errors = false;
  /** Why the first item that was refused by rights was refused. */
  refusal: AppError | undefined;
  #bytes = Buffer.allocUnsafe(FIRST_BYTES);
  #length = HEAD_BYTES;

  /** True before the first item. */
  get isEmpty(): boolean {
    return this.#length === HEAD_BYTES;
  }

  /** Adds the JSON of an item. */
  add(json: string): void {
    this.#reserve(3 * json.length + 1);
    this.#bytes[this.#length++] = COMMA;
    this.#length += this.#bytes.write(json, this.#length);
  }

  /** Adds the items of a run. */
  async addRun({ kind, result, indices, refresh, failure }: RunAnswer): Promise<void> {
    const { seqNos, failures } = result;
    const slices = new TimeSlices();
    let last = -1;
    let parts: ItemParts | undefined;
    for (let from = 0; from < seqNos.length; ) {
      if (slices.isDue) await slices.pause();
      const failed = failures.get(from);
      if (failed === undefined) {
        if (parts === undefined || !isLike(result, last, from))
          parts = itemParts(kind, result, from, indices, refresh);
        last = from;
        const to = endOfLike(result, from);
        this.#addLike(parts, result, from, to);
        from = to;
      } else this.addFailure(failure(failed, from++));
    }
  }

  /** Adds the JSON of a failed item. */
  addFailure(json: string): void {
    this.errors = true;
    this.add(json);
  }

  /** Returns the whole answer; valid until `release`. `ingestMs`: time in pipelines, if documents passed any. */
  finish(tookMs: number, ingestMs?: number): Uint8Array {
    this.#reserve(END.length);
    this.#bytes.set(END, this.#length);
    // Each item starts with a comma.
    const itemsAt = HEAD_BYTES + (this.isEmpty ? 0 : 1);
    const ingest = ingestMs === undefined ? "" : `"ingest_took":${Math.round(ingestMs)},`;
    const head = Buffer.from(`{"took":${tookMs},${ingest}"errors":${this.errors},"items":[`);
    this.#bytes.set(head, itemsAt - head.length);
    return this.#bytes.subarray(itemsAt - head.length, this.#length + END.length);
  }

  /** Frees the memory of the answer. */
  release(): void {
    recycleBytes(this.#bytes);
  }

  /** Adds items that differ only in id and number: one is written and copied, then each copy gets its own values. */
  #addLike(
    { head, middle, tail }: ItemParts,
    { ids, idEnds, seqNos }: AppendResult,
    from: number,
    to: number,
  ): void {
    const digits = tail === undefined ? 0 : digitsOf(seqNos[from]!);
    let id = from === 0 ? 0 : idEnds[from - 1]!;
    const idBytes = idEnds[from]! - id;
    const itemBytes = head.length + idBytes + middle.length + digits + (tail?.length ?? 0);
    this.#reserve((to - from) * itemBytes);
    const bytes = this.#bytes;
    const start = this.#length;
    const end = start + (to - from) * itemBytes;
    bytes.set(head, start);
    bytes.set(middle, start + head.length + idBytes);
    if (tail !== undefined) bytes.set(tail, start + itemBytes - tail.length);
    for (let done = itemBytes; start + done < end; done *= 2)
      bytes.copyWithin(start + done, start, Math.min(start + done, end - done));
    for (let position = from, at = start; position < to; position++, at += itemBytes) {
      let idAt = at + head.length;
      for (const idEnd = idEnds[position]!; id < idEnd; id++) bytes[idAt++] = ids[id]!;
      putNumber(bytes, idAt + middle.length, digits, seqNos[position]!);
    }
    this.#length = end;
  }

  #reserve(count: number): void {
    if (this.#length + count <= this.#bytes.length) return;
    const needed = this.#length + count + END.length;
    const larger = largeBytes(this.isEmpty ? needed : Math.max(needed, 2 * this.#bytes.length));
    this.#bytes.copy(larger, HEAD_BYTES, HEAD_BYTES, this.#length);
    recycleBytes(this.#bytes);
    this.#bytes = larger;
  }
}

/**
 * Returns the first index after `from` whose document failed, has another outcome, or an id or sequence number of another
 * length.
 */
function endOfLike(result: AppendResult, from: number): number {
  const { seqNos, idEnds, failures } = result;
  const first = seqNos[from]!;
  const limit = 10 ** digitsOf(first);
  const idBytes = idEnds[from]! - (from === 0 ? 0 : idEnds[from - 1]!);
  let to = from + 1;
  while (to < seqNos.length && seqNos[to]! >= first && seqNos[to]! < limit) {
    if (idEnds[to]! - idEnds[to - 1]! !== idBytes || !isLike(result, from, to)) break;
    if (failures.size > 0 && failures.has(to)) break;
    to++;
  }
  return to;
}

/** Returns true if two documents have the same result. */
function isLike({ outcomes, versions }: AppendResult, one: number, other: number): boolean {
  return outcomes[one] === outcomes[other] && versions[one] === versions[other];
}

/** Digits of a whole number from 0 to 2^53. */
function digitsOf(value: number): number {
  let digits = 1;
  for (let limit = 10; value >= limit; limit *= 10) digits++;
  return digits;
}

function putNumber(bytes: Uint8Array, from: number, digits: number, value: number): void {
  let rest = value;
  for (let at = from + digits - 1; at >= from; at--) {
    const tenth = Math.floor(rest / 10);
    bytes[at] = 0x30 + (rest - tenth * 10);
    rest = tenth;
  }
}

/** An item without its id and sequence number: the bytes before, between and after them, with the leading comma. */
interface ItemParts {
  readonly head: Uint8Array;
  readonly middle: Uint8Array;
  /** Undefined if the item has no sequence number: `middle` is the rest. */
  readonly tail: Uint8Array | undefined;
}

function itemParts(
  kind: string,
  { index, copies, outcomes, versions }: AppendResult,
  position: number,
  indices: Pick<Indices, "get">,
  refresh: RefreshPolicy,
): ItemParts {
  const id = "\u0000";
  const seqNo = Number.MIN_SAFE_INTEGER;
  const result = WRITE_OUTCOMES[outcomes[position]!]!;
  const version = versions[position]!;
  const shards = result === "noop" ? { copies: 0, copiesDone: 0 } : { copies, copiesDone: 1 };
  const written = { index, id, result, version, seqNo, primaryTerm: 1, ...shards };
  const body = writeBody(written, indices, refresh);
  const text = JSON.stringify({ [kind]: { ...body, status: writeStatus(written) } });
  const [head = "", rest = ""] = text.split("\\u0000");
  const [middle = "", tail] = rest.split(String(seqNo));
  return {
    head: Buffer.from(`,${head}`),
    middle: Buffer.from(middle),
    tail: tail === undefined ? undefined : Buffer.from(tail),
  };
}
