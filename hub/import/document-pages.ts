/**
 * Documents of an index, in pages. If the source numbers its operations, a shard is read in windows of sequence
 * numbers: a window is the same whenever it is read, so an import can resume at any window. Documents written after the
 * import began have higher numbers. Other sources are read by scroll, from the start each time.
 */

import { AppError } from "#proto/kit/errors.ts";
import { isObject, type JsonObject } from "#proto/kit/json.ts";
import { type ClusterClient, objectsIn, segmentOf } from "./cluster-client.ts";

/** A document of the source. */
export interface SourceDocument {
  readonly id: string;
  readonly version: number | undefined;
  readonly routing: string | undefined;
  readonly source: JsonObject;
}

export interface Page {
  readonly documents: readonly SourceDocument[];
  /** Sequence number from which the next page is read; undefined with a scroll. */
  readonly next: number | undefined;
}

/** The range of sequence numbers of a shard that an import reads. */
export interface ShardRange {
  readonly index: string;
  readonly shard: number;
  readonly from: number;
  /** Exclusive. */
  readonly to: number;
}

/** Documents of the first page, and of each page of a scroll. */
const FIRST_PAGE = 500;
/** Largest page: search's window. */
const MAX_PAGE = 10_000;
/** Target size of a page's documents. */
const PAGE_BYTES = 4 * 1024 * 1024;
/** Time that the source keeps a scroll between two pages. */
const KEEP_ALIVE = "10m";
/** Maximum number of restarts of a scroll: if the source ends each scroll, another one doesn't help. */
const MAX_SCROLL_RESTARTS = 8;

/**
 * Returns the end of the sequence numbers of each shard. Returns undefined if the index can't be read by them: the source
 * has none, or the index has documents of a version before 6. Throws as `ClusterClient.ask`.
 */
export async function sequenceEnds(
  client: ClusterClient,
  index: string,
): Promise<ReadonlyMap<number, number> | undefined> {
  const name = segmentOf(index);
  const stats = await client.find(`/${name}/_stats?level=shards&filter_path=indices.*.shards.*.seq_no`);
  const ends = new Map<number, number>();
  for (const { shards } of objectsIn(Object.values(objectAt(stats, "indices"))))
    for (const [shard, copies] of Object.entries(isObject(shards) ? shards : {})) {
      // Each started copy has all operations up to any copy's global checkpoint, which may lag behind the shard's. A copy
      // that is still being made has an older one, or none.
      const end = objectsIn(copies).reduce(
        (most, copy) => Math.max(most, Number(objectAt(copy, "seq_no")["global_checkpoint"] ?? -1) + 1),
        0,
      );
      if (!Number.isSafeInteger(end) || !/^\d{1,4}$/.test(shard))
        throw malformed(`shard ${shard} of ${index} ends at operation ${end}`);
      ends.set(Number(shard), end);
    }
  // From now on every copy of the shard shows all operations with a number below the end.
  await client.send("POST", `/${name}/_refresh`);
  const countOf = async (query: JsonObject): Promise<number> =>
    Number((await client.ask("POST", `/${name}/_count`, { query }))["count"]);
  const numbered = await countOf({ range: { _seq_no: { gte: 0 } } });
  return ends.size > 0 && numbered >= (await countOf({ match_all: {} })) ? ends : undefined;
}

/**
 * Yields the documents of a range, in the order of their last changes. A window is wider than a page if the one before
 * had no documents: in an index with many updates most numbers belong to no document. Throws as `ClusterClient.ask`.
 */
export async function* shardPages(client: ClusterClient, range: ShardRange): AsyncGenerator<Page> {
  let size = FIRST_PAGE;
  for (let from = range.from; from < range.to; ) {
    const next = Math.min(from + size, range.to);
    const path = `/${segmentOf(range.index)}/_search?preference=_shards:${range.shard}`;
    const query = { range: { _seq_no: { gte: from, lt: next } } };
    const most = Math.min(next - from, MAX_PAGE);
    const documents = documentsOf(
      await client.ask("POST", path, { size: most, query, version: true, sort: ["_doc"] }),
      most,
    );
    if (documents.length === most && next - from > most) {
      size = MAX_PAGE;
      continue;
    }
    yield { documents, next };
    size = nextSize(size, documents);
    from = next;
  }
}

/**
 * Yields the documents of an index by scroll, some of them twice if a page was lost. `mayRepeat`: whether documents may
 * be repeated; if not, a lost page throws. Throws as `ClusterClient.ask`.
 */
export async function* scrollPages(
  client: ClusterClient,
  index: string,
  mayRepeat: boolean,
): AsyncGenerator<Page> {
  for (let restarts = 0; ; restarts++) {
    const failure = yield* oneScroll(client, index);
    if (failure === undefined) return;
    if (!mayRepeat || restarts === MAX_SCROLL_RESTARTS) throw failure;
  }
}

/** Yields the documents of one scroll. Returns the failure if a page was lost. */
async function* oneScroll(client: ClusterClient, index: string): AsyncGenerator<Page, AppError | undefined> {
  const path = `/${segmentOf(index)}/_search?scroll=${KEEP_ALIVE}`;
  let answer = await client.ask("POST", path, { size: FIRST_PAGE, version: true, sort: ["_doc"] });
  let scroll = answer["_scroll_id"];
  // A scroll doesn't see documents that are written later.
  let left = totalOf(answer, index);
  try {
    for (;;) {
      const documents = documentsOf(answer, left);
      if (documents.length === 0) return undefined;
      left -= documents.length;
      yield { documents, next: undefined };
      // The source may have moved past the page that it couldn't deliver: the next request would get the page after it.
      const next = await nextOfScroll(client, scroll);
      if (next instanceof AppError) return next;
      answer = next;
      scroll = answer["_scroll_id"] ?? scroll;
    }
  } finally {
    // A scroll that can't be closed expires by itself.
    await client.send("DELETE", "/_search/scroll", { scroll_id: [scroll] }).catch(() => undefined);
  }
}

/** Returns the next page's answer, or the failure that lost it. */
async function nextOfScroll(client: ClusterClient, scroll: unknown): Promise<JsonObject | AppError> {
  try {
    return await client.askOnce("POST", "/_search/scroll", { scroll: KEEP_ALIVE, scroll_id: scroll });
  } catch (error) {
    if (error instanceof AppError && error.code === "unavailable") return error;
    throw error;
  }
}

/** Returns how many documents a scroll has. */
function totalOf(answer: JsonObject, index: string): number {
  const { total } = objectAt(answer, "hits");
  const count = isObject(total) && total["relation"] === "eq" ? total["value"] : total;
  if (typeof count !== "number") throw malformed(`the scroll over ${index} doesn't say how many it has`);
  return count;
}

function malformed(what: string): AppError {
  return new AppError("request_invalid", `the source's answer isn't that of a search cluster: ${what}`);
}

/**
 * Throws unavailable if a shard didn't answer: its documents would be missing. Throws request_invalid for hits that
 * aren't documents, or for more than `most`.
 */
function documentsOf(answer: JsonObject, most: number): SourceDocument[] {
  const failed = Number(objectAt(answer, "_shards")["failed"] ?? 0);
  if (failed > 0 || answer["timed_out"] === true)
    throw new AppError(
      "unavailable",
      "a shard of the source doesn't answer; start the import again when it does",
    );
  const { hits } = objectAt(answer, "hits");
  if (!Array.isArray(hits)) throw malformed("no list of hits");
  if (hits.length > most) throw malformed(`${hits.length} hits where at most ${most} are left`);
  return hits.map(documentOf);
}

function documentOf(hit: unknown): SourceDocument {
  if (!isObject(hit) || typeof hit["_id"] !== "string") throw malformed("a hit without an _id");
  return {
    id: hit["_id"],
    version: typeof hit["_version"] === "number" ? hit["_version"] : undefined,
    routing: typeof hit["_routing"] === "string" ? hit["_routing"] : undefined,
    source: isObject(hit["_source"]) ? hit["_source"] : {},
  };
}

/**
 * Returns the size with which the next page has about `PAGE_BYTES`, at most four times the last size and `MAX_PAGE`.
 * After a page without documents: four times the last size.
 */
function nextSize(size: number, documents: readonly SourceDocument[]): number {
  const sample = documents.slice(0, 20);
  if (sample.length === 0) return size * 4;
  const bytes = sample.reduce((sum, { source }) => sum + roughBytes(source), 0) / sample.length;
  return Math.max(1, Math.min(Math.floor(PAGE_BYTES / bytes), size * 4, MAX_PAGE));
}

function roughBytes(value: unknown): number {
  if (typeof value === "string") return value.length + 2;
  if (typeof value !== "object" || value === null) return 8;
  return Object.entries(value).reduce((sum, [key, inner]) => sum + key.length + 4 + roughBytes(inner), 2);
}

function objectAt(value: JsonObject | undefined, key: string): JsonObject {
  const inner = value?.[key];
  return isObject(inner) ? inner : {};
}
