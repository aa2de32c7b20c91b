/** The search interface under the page's own origin. */

import { msg, str } from "@lit/localize";
import { hubFetch } from "#ui/services/hub/hub-connection.ts";
import { type CallInit, callJson, type Fetcher, type Hints } from "#ui/services/hub/json-call.ts";
import type { FieldCapabilities } from "./fields.ts";
import type { Hit } from "./log-document.ts";
import { encodeIndex, fieldsPath, searchPath } from "./search-request.ts";

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

/** A search's answer so far, over some of its indices. */
export interface SearchPart {
  readonly response: SearchResponse;
  readonly done: number;
  readonly of: number;
}

const CHECK_QUERY = msg(
  "Look at the query's quotes, parentheses and field:value pairs; ? shows the language.",
);
const HINTS: Hints = {
  types: {
    index_not_found_exception: msg(
      "Choose another index at the left of the query, or wait until its first line is stored.",
    ),
    query_shard_exception: CHECK_QUERY,
    parsing_exception: CHECK_QUERY,
    parse_exception: CHECK_QUERY,
    too_many_buckets_exception: msg("Choose a shorter time range."),
    circuit_breaking_exception: msg(
      "The hub is short of memory: choose a shorter time range or a narrower query.",
    ),
  },
  statuses: {
    0: msg("Is the hub running? The page tries again as soon as it answers."),
    401: msg("Sign in again."),
    403: msg("Ask an administrator for the right to read this index."),
    429: msg("The hub is busy: try again in a moment."),
    503: msg("The hub isn't ready: try again in a moment."),
    504: msg("The search took too long: choose a shorter time range or a narrower query."),
  },
};

export class SearchClient {
  readonly #fetch: Fetcher;
  readonly #base: string;

  constructor(fetcher: Fetcher = hubFetch, base = "/es") {
    this.#fetch = fetcher;
    this.#base = base;
  }

  /**
   * Searches an index expression; no index at all isn't an error but an empty answer. `onPart` gets the answer so far, where
   * the hub sends it. Throws HubError.
   */
  search(
    index: string,
    body: unknown,
    signal?: AbortSignal,
    onPart?: (part: SearchPart) => void,
  ): Promise<SearchResponse> {
    const call = { method: "POST", address: `${this.#base}${searchPath(index)}`, body, signal };
    const parts: Pick<CallInit, "onPart"> =
      onPart === undefined
        ? {}
        : { onPart: (text, done, of) => onPart({ response: JSON.parse(text) as SearchResponse, done, of }) };
    return callJson(this.#fetch, { ...call, ...parts }, HINTS) as Promise<SearchResponse>;
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

  /** Sends any request of the search interface and returns its answer as JSON. Throws HubError. */
  call(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<unknown> {
    return callJson(this.#fetch, { method, address: `${this.#base}${path}`, body, signal }, HINTS);
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
