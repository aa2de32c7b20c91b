/**
 * Fetches hits while hosts collect, before it is known which of them are in the answer; this saves a round trip to each
 * host. Only if it is little work and fetching can't fail.
 */

import { RawJson } from "#hub/search/options/json-writer.ts";
import type { SearchRequest } from "#hub/search/request/search-request.ts";
import type { Collection } from "./collect.ts";
import type { FetchedHits } from "./contract.ts";

/** Hits of a page. Each host fetches as many, though the answer has its share alone. */
const MAX_HITS = 50;
/** Maximum bytes of documents that a host fetches in vain, and hits between two checks of them. */
const MAX_BYTES = 256 * 1024;
const HITS_A_LOOK = 10;

/** Returns whether hosts are to fetch what they collect. Highlights, scripts and the like are made for hits of the answer only. */
export function isSoonFetched({ from, size, fetch }: SearchRequest): boolean {
  const { columns, fields, stored, scripts, highlight, explain, named, innerHits = [] } = fetch;
  const made = [columns, fields, stored, scripts, innerHits];
  const isPlain = highlight === undefined && !explain && named.size === 0;
  return size > 0 && from + size <= MAX_HITS && isPlain && made.every(({ length }) => length === 0);
}

/** Returns the first `count` hits of a collection that was just made; undefined if their documents are too large. Throws cancelled. */
export async function fetchedSoon(
  collection: Collection,
  count = Number.POSITIVE_INFINITY,
): Promise<FetchedHits | undefined> {
  const places = [...collection.partial.hits.keys()].slice(0, count);
  const hits: FetchedHits["hits"][number][] = [];
  let bytes = 0;
  for (let at = 0; at < places.length; at += HITS_A_LOOK) {
    if (bytes > MAX_BYTES) return undefined;
    for (const hit of await collection.fetch(places.slice(at, at + HITS_A_LOOK))) {
      hits.push(hit);
      const source = hit["_source"];
      if (source instanceof RawJson) bytes += source.bytes.length;
    }
  }
  return { hits, timedOut: collection.timedOut };
}
