/** The search interface under the page's own origin. */

import { msg, str } from "@lit/localize";
import { leaveIfSignedOut } from "#ui/services/browser/sign-in.ts";
import type { FieldCapabilities } from "./fields.ts";
import type { Hit } from "./log-document.ts";
import { encodeIndex, fieldsPath, searchPath } from "./search-paths.ts";

/** A failed call, in words for the reader: what failed and what to do. */
export class SearchError extends Error {
  /** HTTP status; 0 where the hub couldn't be reached. */
  readonly status: number;
  /** The interface's own words for it: `query_shard_exception` … */
  readonly type: string;
  /** What to do; "" where nothing is known. */
  readonly hint: string;

  constructor(status: number, type: string, message: string, hint: string, cause?: unknown) {
    super(message, { cause });
    this.name = "SearchError";
    this.status = status;
    this.type = type;
    this.hint = hint;
  }
}

export interface Bucket {
  readonly key: number | string;
  readonly key_as_string?: string;
  readonly doc_count: number;
  readonly levels?: { readonly buckets: readonly Bucket[] };
}

interface ShardFailure {
  readonly index?: string;
  readonly reason?: { readonly type?: string; readonly reason?: string };
}

export interface SearchResponse {
  /** ms */
  readonly took: number;
  readonly timed_out: boolean;
  readonly _shards?: {
    readonly total: number;
    readonly failed: number;
    readonly failures?: readonly ShardFailure[];
  };
  readonly hits: { readonly total: number | { readonly value: number }; readonly hits: readonly Hit[] };
  readonly aggregations?: {
    readonly times?: { readonly buckets: readonly Bucket[] };
    readonly values?: { readonly buckets: readonly Bucket[]; readonly sum_other_doc_count?: number };
    readonly existing?: { readonly doc_count: number };
    readonly newest?: { readonly value: number | null };
  };
}

interface ErrorCause {
  readonly type?: string;
  readonly reason?: string;
  readonly caused_by?: ErrorCause;
  readonly root_cause?: readonly ErrorCause[];
}

const HINTS: Readonly<Record<string, string>> = {
  index_not_found_exception: msg(
    "Choose another index at the left of the query, or wait until its first line is stored.",
  ),
  query_shard_exception: msg(
    "Look at the query's quotes, parentheses and field:value pairs; ? shows the language.",
  ),
  parsing_exception: msg(
    "Look at the query's quotes, parentheses and field:value pairs; ? shows the language.",
  ),
  parse_exception: msg(
    "Look at the query's quotes, parentheses and field:value pairs; ? shows the language.",
  ),
  too_many_buckets_exception: msg("Choose a shorter time range."),
  circuit_breaking_exception: msg(
    "The hub is short of memory: choose a shorter time range or a narrower query.",
  ),
};

const STATUS_HINTS: Readonly<Record<number, string>> = {
  0: msg("Is the hub running? The page tries again as soon as it answers."),
  401: msg("Sign in again."),
  403: msg("Ask an administrator for the right to read this index."),
  429: msg("The hub is busy: try again in a moment."),
  503: msg("The hub isn't ready: try again in a moment."),
  504: msg("The search took too long: choose a shorter time range or a narrower query."),
};

/** What the client needs of an answer. */
export type Answer = Pick<Response, "ok" | "status" | "text">;

/** What the client needs of a browser's fetch. */
export type Fetcher = (address: string, init: RequestInit) => Promise<Answer>;

export class SearchClient {
  readonly #fetch: Fetcher;
  readonly #base: string;

  constructor(fetcher: Fetcher = (...call) => fetch(...call), base = "/es") {
    this.#fetch = fetcher;
    this.#base = base;
  }

  /** Searches an index expression; no index at all is no error but an empty answer. Throws SearchError. */
  search(index: string, body: unknown, signal?: AbortSignal): Promise<SearchResponse> {
    return this.call("POST", searchPath(index), body, signal) as Promise<SearchResponse>;
  }

  fieldCapabilities(index: string, signal?: AbortSignal): Promise<FieldCapabilities> {
    return this.call("GET", fieldsPath(index), undefined, signal) as Promise<FieldCapabilities>;
  }

  /** Returns a document as it is now, searchable yet or not. */
  async document(index: string, id: string, signal?: AbortSignal): Promise<Hit> {
    return (await this.call(
      "GET",
      `/${encodeIndex(index)}/_doc/${encodeURIComponent(id)}`,
      undefined,
      signal,
    )) as Hit;
  }

  /** Returns the names of all open indices, sorted. */
  async indexNames(signal?: AbortSignal): Promise<string[]> {
    const rows = await this.call("GET", "/_cat/indices?format=json&h=index,status", undefined, signal);
    return (rows as { index: string; status?: string }[])
      .filter(({ index, status }) => status !== "close" && !index.startsWith("."))
      .map(({ index }) => index)
      .toSorted();
  }

  /** Sends any request of the search interface and returns its answer as JSON. Throws SearchError. */
  async call(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<unknown> {
    const init: RequestInit = { method, headers: { accept: "application/json" } };
    if (signal !== undefined) init.signal = signal;
    if (body !== undefined) {
      init.body = JSON.stringify(body);
      init.headers = { accept: "application/json", "content-type": "application/json" };
    }
    let response: Answer;
    try {
      response = await this.#fetch(`${this.#base}${path}`, init);
    } catch (cause) {
      if (signal?.aborted) throw cause;
      throw new SearchError(0, "unreachable", msg("The hub can't be reached."), STATUS_HINTS[0]!, cause);
    }
    const text = await response.text();
    // An answer to a request sent by others can't be aborted on its way.
    signal?.throwIfAborted();
    if (!response.ok) {
      leaveIfSignedOut(response.status);
      throw toSearchError(response.status, text);
    }
    return JSON.parse(text) as unknown;
  }
}

/** Returns hits.total, a number or since 7 an object. */
export function totalOf({ hits }: SearchResponse): number {
  return typeof hits.total === "number" ? hits.total : hits.total.value;
}

/** Returns what went wrong on single shards, or undefined. */
export function shardFailureOf({ _shards: shards, timed_out: timedOut }: SearchResponse): string | undefined {
  if (shards !== undefined && shards.failed > 0) {
    const first = shards.failures?.[0];
    const why = first?.reason?.reason ?? msg("no reason given");
    return msg(str`${shards.failed} of ${shards.total} shards failed, lines are missing: ${why}`);
  }
  return timedOut
    ? msg("The search took too long and was cut: lines are missing. Choose a shorter time range.")
    : undefined;
}

function toSearchError(status: number, text: string): SearchError {
  let cause: ErrorCause | undefined;
  try {
    const { error } = JSON.parse(text) as { error?: ErrorCause | string };
    cause = typeof error === "string" ? { reason: error } : error;
  } catch {
    // A proxy's page, say: the status has to do.
  }
  const root = deepestCause(cause?.root_cause?.[0] ?? cause);
  const type = root?.type ?? `status_${status}`;
  const hint = HINTS[type] ?? STATUS_HINTS[status] ?? "";
  return new SearchError(
    status,
    type,
    root?.reason ?? msg(str`The hub answered with status ${status}.`),
    hint,
  );
}

function deepestCause(cause: ErrorCause | undefined): ErrorCause | undefined {
  let deepest = cause;
  while (deepest?.caused_by?.reason !== undefined) deepest = deepest.caused_by;
  return deepest;
}
