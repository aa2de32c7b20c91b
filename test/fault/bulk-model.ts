/**
 * A client of `_bulk` that remembers what was acknowledged, and what may have been done: documents that are written again,
 * deleted, counted up by scripts, and created without ids. Its own documents alone are judged.
 */

import { request } from "#test/harness/http.ts";
import { refreshed, searchAll } from "#test/harness/search.ts";

const KEYS = 40;
const COUNTERS = 5;
const OPERATIONS_MAX = 60;
const PADDING_MAX_BYTES = 2_000;
/** Status of what wasn't sent, as nobody listens. */
const NOT_SENT = 499;
/** Above what the hub waits for its log: a write that takes longer was forgotten. */
const ANSWER_MS = 90_000;

type Kind = "put" | "delete" | "count" | "create";

interface Operation {
  readonly kind: Kind;
  /** Id of the document; without one the hub chooses it. */
  readonly id?: string;
  /** Number of the operation, and what it writes. */
  readonly n: number;
}

/** What may have become of a document with an id. */
interface Fate {
  /** Numbers that it may have; null: deleted or never made. The first is that of the last acknowledged operation. */
  possible: (number | null)[];
  /** Operations that were acknowledged, and those of which nobody knows. */
  acknowledged: number;
  unknown: number;
  /** Number and status of each, for the message. */
  readonly history: string[];
}

type Item = Record<string, { readonly status: number; readonly error?: unknown }>;

/** What is wrong with the documents of a client. */
interface BulkJudgement {
  readonly lost: readonly string[];
  readonly doubled: readonly string[];
}

export class BulkModel {
  readonly #index: string;
  readonly #random: () => number;
  readonly #fates = new Map<string, Fate>();
  readonly #created = new Set<number>();
  readonly #mayBeCreated = new Set<number>();
  #next = 0;
  /** Operations that were acknowledged. */
  acknowledged = 0;
  /** Operations of which nobody knows whether they were done. */
  unknown = 0;
  /** How many operations had each status that isn't an acknowledgement; 0: the hub didn't answer. */
  readonly refusals = new Map<number, number>();
  /** Writes that nobody answered. */
  readonly unanswered: string[] = [];

  constructor(index: string, random: () => number) {
    this.#index = index;
    this.#random = random;
  }

  /** Sends some operations and waits for the answer; returns true if all were acknowledged, else why not. */
  async write(searchUrl: string): Promise<true | string> {
    const operations = Array.from({ length: 1 + this.#under(OPERATIONS_MAX) }, () => this.#operation());
    const startedMs = performance.now();
    let items: readonly Item[] = [];
    let whole = 0;
    let why = "";
    try {
      const response = await fetch(`${searchUrl}/${this.#index}/_doc/_bulk`, {
        method: "POST",
        headers: { "content-type": "application/x-ndjson" },
        body: operations.map((operation) => this.#lines(operation)).join(""),
        signal: AbortSignal.timeout(ANSWER_MS),
      });
      const text = await response.text();
      whole = response.status;
      if (response.ok) ({ items } = JSON.parse(text) as { items: Item[] });
      else why = `${response.status} ${text.slice(0, 300)}`;
    } catch (error) {
      const { code } = ((error as Error).cause ?? {}) as { code?: string };
      if (code === "ECONNREFUSED") whole = NOT_SENT;
      why = String(error);
      if (performance.now() - startedMs > ANSWER_MS - 1_000) this.unanswered.push(why);
    }
    for (const [at, operation] of operations.entries()) {
      const { status = whole, error } = Object.values(items[at] ?? {})[0] ?? {};
      if (this.#settle(operation, status) || why !== "") continue;
      why = `${status} ${JSON.stringify(error)}`;
    }
    return why === "" || why;
  }

  /** Compares what is there with what may be. */
  async judge(searchUrl: string): Promise<BulkJudgement> {
    await refreshed(searchUrl, this.#index);
    const [lost, doubled]: [string[], string[]] = [[], []];
    for (const [id, fate] of this.#fates) {
      type Document = { found: boolean; _version?: number; _source?: { n?: number; count?: number } };
      const { status, body } = await request<Document>("GET", `${searchUrl}/${this.#index}/_doc/${id}`);
      const { n, count } = body._source ?? {};
      if (id.startsWith("count")) checkCounter(id, fate, count ?? 0, lost, doubled);
      else if (!fate.possible.includes(status === 404 ? null : (n ?? Number.NaN)))
        lost.push(
          `${id}: ${n ?? status} instead of ${fate.possible.join(" or ")} (${fate.history.join(" ")})`,
        );
      if (id.startsWith("put") && (body._version ?? 0) > fate.acknowledged + fate.unknown)
        doubled.push(`${id}: version ${body._version} of ${fate.acknowledged}, maybe ${fate.unknown} more`);
    }
    const times = new Map<number, number>();
    for (const { _id, _source } of await searchAll(searchUrl, this.#index))
      if (!this.#fates.has(_id)) times.set(Number(_source["n"]), (times.get(Number(_source["n"])) ?? 0) + 1);
    for (const n of this.#created) if (!times.has(n)) lost.push(`created ${n}`);
    for (const [n, found] of times)
      if (found > 1 || !(this.#created.has(n) || this.#mayBeCreated.has(n)))
        doubled.push(`created ${n}: ${found} times`);
    return { lost, doubled };
  }

  #operation(): Operation {
    const n = this.#next++;
    const die = this.#random();
    if (die < 0.5) return { kind: "put", id: `put-${this.#under(KEYS)}`, n };
    if (die < 0.65) return { kind: "put", id: `both-${this.#under(KEYS)}`, n };
    if (die < 0.75) return { kind: "delete", id: `both-${this.#under(KEYS)}`, n };
    if (die < 0.85) return { kind: "count", id: `count-${this.#under(COUNTERS)}`, n };
    return { kind: "create", n };
  }

  #lines({ kind, id, n }: Operation): string {
    const action = { put: "index", delete: "delete", count: "update", create: "index" }[kind];
    const head = JSON.stringify({ [action]: id === undefined ? {} : { _id: id } });
    if (kind === "delete") return `${head}\n`;
    const text = `${n} `.repeat(this.#under(PADDING_MAX_BYTES) / 6);
    const script = { script: "ctx._source.count += 1", upsert: { count: 1 } };
    return `${head}\n${JSON.stringify(kind === "count" ? script : { n, text })}\n`;
  }

  /** Records what became of an operation; returns true if it was acknowledged. */
  #settle({ kind, id, n }: Operation, status: number): boolean {
    const isDone = (status >= 200 && status < 300) || (kind === "delete" && status === 404);
    if (!isDone) this.refusals.set(status, (this.refusals.get(status) ?? 0) + 1);
    if (!isDone && status >= 400 && status < 500) return false; // refused: nothing may have been done
    if (isDone) this.acknowledged++;
    else this.unknown++;
    if (id === undefined) {
      (isDone ? this.#created : this.#mayBeCreated).add(n);
      return isDone;
    }
    const fate = this.#fates.get(id) ?? { possible: [null], acknowledged: 0, unknown: 0, history: [] };
    this.#fates.set(id, fate);
    fate.history.push(`${n}:${status}`);
    if (isDone) fate.acknowledged++;
    else fate.unknown++;
    const value = kind === "delete" ? null : n;
    fate.possible = isDone ? [value] : [...fate.possible, value];
    return isDone;
  }

  #under(limit: number): number {
    return Math.floor(this.#random() * limit);
  }
}

function checkCounter(id: string, fate: Fate, count: number, lost: string[], doubled: string[]): void {
  const { acknowledged, unknown } = fate;
  if (count < acknowledged) lost.push(`${id}: ${count} of ${acknowledged}`);
  if (count > acknowledged + unknown)
    doubled.push(`${id}: ${count} of ${acknowledged}, maybe ${unknown} more`);
}
