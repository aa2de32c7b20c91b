/** Requests of tests to the search interface. */

import { ask, request } from "./http.ts";
import { until } from "./until.ts";

export interface Hit {
  readonly _index: string;
  readonly _id: string;
  readonly _source: Readonly<Record<string, unknown>>;
}

interface SearchAnswer {
  readonly _scroll_id?: string;
  readonly _shards: { readonly failed: number };
  readonly hits: { readonly total: number; readonly hits: readonly Hit[] };
}

interface CountAnswer {
  readonly count?: number;
  readonly _shards?: { readonly failed: number };
}

/** The default pipeline's indices. */
export const LOGS = "logs-*";
/** Documents a request may answer. */
const PAGE = 5_000;
/** Time in which a hub without a fault has read the log to its end. */
const WHOLE_MS = 10_000;

/**
 * Returns how many documents a search would find; 0 where there is no index yet. Waits while a copy may lack something, and throws
 * where a shard doesn't answer for long.
 */
export async function count(searchUrl: string, query?: unknown, index = LOGS): Promise<number> {
  const body = query === undefined ? undefined : { query };
  let found = 0;
  await until(
    `a whole _count of ${index}`,
    async () => {
      const answer = await request<CountAnswer>("POST", `${searchUrl}/${index}/_count`, body);
      if (answer.status === 404) return true;
      const isWhole = answer.body._shards?.failed === 0;
      if (answer.status !== 200 || typeof answer.body.count !== "number" || !isWhole)
        throw new Error(`_count answered ${answer.status}: ${JSON.stringify(answer.body).slice(0, 300)}`);
      found = answer.body.count;
      return true;
    },
    { deadlineMs: WHOLE_MS },
  );
  return found;
}

/** Refreshes until every copy has done it: one may lack what was written while the cluster misses a hub. */
export async function refreshed(searchUrl: string, index = LOGS): Promise<void> {
  await until(`a refresh of ${index} at every copy`, async () => {
    const { _shards: shards } = await ask<CountAnswer>("POST", `${searchUrl}/${index}/_refresh`);
    return shards?.failed === 0;
  });
}

/** Returns all documents, in no order that means anything. Throws where a shard didn't answer. */
export async function searchAll(searchUrl: string, index = LOGS): Promise<Hit[]> {
  const hits: Hit[] = [];
  for await (const page of pagesOfAll(searchUrl, index)) hits.push(...page);
  return hits;
}

/**
 * Yields all documents as searchAll does, in pages, for more of them than fit into memory. The next page is on its way while the
 * caller looks at one.
 */
export async function* pagesOfAll(searchUrl: string, index = LOGS): AsyncGenerator<readonly Hit[]> {
  let page = await opened(searchUrl, index);
  const total = page.hits.total;
  const isPartial = (): boolean => page._shards.failed > 0;
  let got = 0;
  while (page.hits.hits.length > 0 && !isPartial()) {
    got += page.hits.hits.length;
    const next = ask<SearchAnswer>("POST", `${searchUrl}/_search/scroll`, {
      scroll: "1m",
      scroll_id: page._scroll_id,
    });
    // Awaited below, unless the caller stops before.
    next.catch(() => undefined);
    yield page.hits.hits;
    page = await next;
  }
  if (isPartial()) throw new Error(`a scroll lacks shards: ${JSON.stringify(page._shards)}`);
  if (got !== total) throw new Error(`a scroll over ${total} documents gave ${got}`);
}

/** Opens a scroll once no shard is missing: a copy may lack what was written while the cluster misses a hub. */
async function opened(searchUrl: string, index: string): Promise<SearchAnswer> {
  const url = `${searchUrl}/${index}/_search?scroll=1m`;
  let page: SearchAnswer | undefined;
  await until(`a scroll of every shard of ${index}`, async () => {
    page = await ask<SearchAnswer>("POST", url, { size: PAGE, sort: ["_doc"] });
    return page._shards.failed === 0;
  });
  return page!;
}

/** Returns the text of each document in which a mark may be. */
export function textsOf(hits: readonly Hit[]): string[] {
  return hits.map(({ _source }) => {
    const { message } = _source;
    return typeof message === "string" && message.includes("crc=") ? message : allStrings(_source).join(" ");
  });
}

/** All strings of a document as they are, without JSON's escapes. */
function allStrings(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return value !== null && typeof value === "object" ? Object.values(value).flatMap(allStrings) : [];
}
