/** The front's side of a host that is another thread or node. `SearchService` is the other side. */

import type { Hit } from "#hub/search/execute/fetch/fetch-hit.ts";
import { LateBucket } from "#hub/search/wire/late-bucket.ts";
import { readReply } from "#hub/search/wire/reply.ts";
import { encodeValue } from "#hub/search/wire/value-writer.ts";
import type { FetchedHits, SearchResponse } from "./contract.ts";
import type { OpenCollection, SearchHost } from "./scatter.ts";
import type { PartialResult, SearchCall } from "./search-call.ts";

export type SearchOperation = "search" | "collect" | "fetch" | "close" | "count" | "suggest";

/**
 * Sends a call and returns the reply. Throws what the host threw; unavailable, timeout if there is no reply. It may fail as
 * soon as `signal` is aborted; a reply that comes after that goes to `late`.
 */
export type Exchange = (
  operation: SearchOperation,
  payload: Uint8Array,
  signal: AbortSignal,
  late?: (reply: Uint8Array) => void,
) => Promise<Uint8Array>;

export interface CollectReply {
  /** Undefined if there is nothing to fetch, or no more. */
  readonly id: string | undefined;
  readonly partial: PartialResult;
  /** All of `partial.hits`, if they were fetched at once. */
  readonly fetched?: FetchedHits;
  /** The same in place of `fetched`, if the call has `defersHits`. */
  readonly deferred?: DeferredHits;
}

/** Hits of which the caller decodes only those of the answer: each is what is below a bucket, see LateBucket. */
export interface DeferredHits {
  readonly hits: readonly LateBucket<Hit>[];
  readonly timedOut: boolean;
}

/** Returns hits in the form in which each is decoded when it is read. */
export function deferHits({ hits, timedOut }: FetchedHits): DeferredHits {
  return { hits: hits.map((hit, index) => new LateBucket(index, 1, () => hit)), timedOut };
}

/** Hosts of versions that don't send `closed` keep a collection until it is closed by a request. */
export interface FetchReply extends FetchedHits {
  /** True: the host has closed the collection because the merging hub fetches only once. */
  readonly closed?: boolean;
}

/** Fetches once; without indexes it only closes. */
export interface FetchCall {
  readonly id: string;
  readonly version: number;
  readonly places: readonly number[];
}

/** Returns a call as it is sent to a host. */
export function collectCall(call: SearchCall): SearchCall {
  return { ...call, fetchesIfSoon: true, defersHits: true };
}

/** Returns the call that closes what a host keeps after its reply to `collect`; undefined if it keeps nothing. Throws data_corrupt. */
export function closingCall(reply: Uint8Array, version: number): FetchCall | undefined {
  const { id } = readReply<CollectReply>(reply);
  return id === undefined ? undefined : { id, version, places: [] };
}

/** The front's side of one host. */
export class RemoteSearchHost implements SearchHost {
  readonly #exchange: Exchange;

  constructor(exchange: Exchange) {
    this.#exchange = exchange;
  }

  async search(call: SearchCall, signal: AbortSignal): Promise<SearchResponse> {
    return readReply(await this.#exchange("search", encodeValue(call), signal));
  }

  async collect(call: SearchCall, signal: AbortSignal): Promise<OpenCollection> {
    const { version } = call;
    const collected = await this.#exchange("collect", encodeValue(collectCall(call)), signal, (late) => {
      const close = closingCall(late, version);
      if (close !== undefined) this.#close(close);
    });
    const { id, partial, ...made } = readReply<CollectReply>(collected);
    if (id === undefined) return { partial, fetch: from(made), close: () => undefined };
    let isOpen = true;
    return {
      partial,
      fetch: async (places, fetchSignal) => {
        const fetch: FetchCall = { id, version, places };
        const reply = await this.#exchange("fetch", encodeValue(fetch), fetchSignal);
        const { closed = false, ...hits } = readReply<FetchReply>(reply);
        isOpen = !closed;
        return hits;
      },
      close: () => {
        if (isOpen) this.#close({ id, version, places: [] });
      },
    };
  }

  /** Sends a call that has one reply, the partial result of the host. */
  async partial<T>(operation: "count" | "suggest", call: SearchCall, signal: AbortSignal): Promise<T> {
    return readReply<T>(await this.#exchange(operation, encodeValue(call), signal));
  }

  /** The host closes by itself after a while, so an answer isn't waited for. */
  #close(call: FetchCall): void {
    this.#exchange("close", encodeValue(call), new AbortController().signal).catch(() => undefined);
  }
}

const NOTHING_FETCHED: FetchedHits = { hits: [], timedOut: false };

function from({
  deferred,
  fetched = NOTHING_FETCHED,
}: Pick<CollectReply, "fetched" | "deferred">): OpenCollection["fetch"] {
  const { timedOut } = deferred ?? fetched;
  const at = (index: number): Hit =>
    deferred === undefined ? fetched.hits[index]! : deferred.hits[index]!.below;
  return (places) => Promise.resolve({ hits: places.map(at), timedOut });
}
