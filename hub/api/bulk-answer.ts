/**
 * The answer of a `_bulk` request, written as bytes: a request may have very many items, and those of new documents
 * differ in an id and a number only.
 */

import type { AppError } from "#proto/kit/errors.ts";
import type { AppendResult, Indices, RefreshPolicy } from "./ports.ts";
import { writeBody } from "./write-answer.ts";

const COMMA = 0x2c;
const FIRST_BYTES = 16 * 1024;
/** Digits of the largest sequence number. */
const NUMBER_BYTES = 16;

/** What the documents of a run are answered with. */
export interface RunAnswer {
  readonly kind: "index" | "create";
  readonly result: AppendResult;
  readonly indices: Pick<Indices, "get">;
  readonly refresh: RefreshPolicy;
  /** JSON of an item that isn't in. */
  readonly failure: (error: AppError) => string;
}

export class BulkAnswer {
  /** An item failed. */
  errors = false;
  #bytes = Buffer.allocUnsafe(FIRST_BYTES);
  #length = 0;

  /** Adds the JSON of an item. */
  add(json: string): void {
    this.#reserve(3 * json.length + 1);
    this.#separate();
    this.#length += this.#bytes.write(json, this.#length);
  }

  /** Adds the items of a run. */
  addRun({ kind, result, indices, refresh, failure }: RunAnswer): void {
    const { ids, idBytes, seqNos, failures } = result;
    const [head, middle, tail] = itemParts(kind, result, indices, refresh);
    const itemBytes = 1 + head.length + idBytes + middle.length + NUMBER_BYTES + tail.length;
    this.#reserve(seqNos.length * itemBytes);
    for (let place = 0; place < seqNos.length; place++) {
      const failed = failures.size === 0 ? undefined : failures.get(place);
      if (failed === undefined) {
        this.#separate();
        this.#put(head);
        for (let at = place * idBytes; at < (place + 1) * idBytes; at++)
          this.#bytes[this.#length++] = ids[at]!;
        this.#put(middle);
        this.#number(seqNos[place]!);
        this.#put(tail);
        continue;
      }
      this.errors = true;
      this.add(failure(failed));
      this.#reserve((seqNos.length - place) * itemBytes);
    }
  }

  /** The whole answer. */
  finish(tookMs: number): Uint8Array {
    const head = Buffer.from(`{"took":${tookMs},"errors":${this.errors},"items":[`);
    return Buffer.concat([head, this.#bytes.subarray(0, this.#length), Buffer.from("]}")]);
  }

  #separate(): void {
    if (this.#length > 0) this.#bytes[this.#length++] = COMMA;
  }

  /** A piece of a few bytes: a loop is faster than the call of a copy. */
  #put(piece: Uint8Array): void {
    const bytes = this.#bytes;
    let at = this.#length;
    for (let place = 0; place < piece.length; place++) bytes[at++] = piece[place]!;
    this.#length = at;
  }

  /** A whole number from 0 to 2^53. */
  #number(value: number): void {
    let digits = 1;
    for (let limit = 10; value >= limit; limit *= 10) digits++;
    let rest = value;
    for (let at = this.#length + digits - 1; at >= this.#length; at--) {
      const tenth = Math.floor(rest / 10);
      this.#bytes[at] = 0x30 + (rest - tenth * 10);
      rest = tenth;
    }
    this.#length += digits;
  }

  #reserve(count: number): void {
    if (this.#length + count <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(this.#length + count, 2 * this.#bytes.length));
    this.#bytes.copy(larger, 0, 0, this.#length);
    this.#bytes = larger;
  }
}

/** The item of a document without its id and its sequence number: before, between and behind them. */
function itemParts(
  kind: string,
  { index, copies }: AppendResult,
  indices: Pick<Indices, "get">,
  refresh: RefreshPolicy,
): readonly [Uint8Array, Uint8Array, Uint8Array] {
  const created = { result: "created", version: 1, primaryTerm: 1, copies, copiesDone: 1 } as const;
  const id = "\u0000";
  const seqNo = Number.MIN_SAFE_INTEGER;
  const body = writeBody({ ...created, index, id, seqNo }, indices, refresh);
  const text = JSON.stringify({ [kind]: { ...body, status: 201 } });
  const [head = "", rest = ""] = text.split("\\u0000");
  const [middle = "", tail = ""] = rest.split(String(seqNo));
  return [Buffer.from(head), Buffer.from(middle), Buffer.from(tail)];
}
