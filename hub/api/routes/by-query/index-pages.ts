/** Pages of documents of this hub's own indices, over one snapshot. */

import type { ApiContext } from "#hub/api/context/api-context.ts";
import { writeJson } from "#hub/api/http/json-writer.ts";
import { optionalText } from "#hub/api/parameters/values.ts";
import { openShards, type SearchTarget, searchLimits } from "#hub/api/routes/search/search-target.ts";
import { RawJson } from "#hub/search/options/raw-json.ts";
import type { SearchCursor } from "#hub/search/phases/contract.ts";
import { parseSearchRequest } from "#hub/search/request/search-request.ts";
import { searchShards } from "#hub/search/search.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import type { DocumentPages, FoundDocument } from "./change-by-query.ts";

/** Documents of a page unless the request sets the size. */
export const DEFAULT_PAGE = 1000;

/** Opens the documents of `body` (query, sort, _source). Throws index_missing, parsing. */
export async function openIndexPages(
  parts: ApiContext,
  target: SearchTarget,
  body: JsonObject,
  pageSize: number,
  signal: AbortSignal,
): Promise<DocumentPages> {
  const limits = searchLimits(parts);
  const sort = body["sort"] ?? ["_doc"];
  const request = parseSearchRequest(
    { ...body, sort, size: pageSize, version: true, seq_no_primary_term: true },
    limits,
  );
  const opened = openShards(parts, target);
  let cursor: SearchCursor | undefined;
  let first: readonly FoundDocument[] | undefined;
  const read = async (stop: AbortSignal): Promise<{ total: number; page: FoundDocument[] }> => {
    const options = { signal: stop, limits, clock: parts.clock, ...(cursor !== undefined && { cursor }) };
    const response = await searchShards(request, opened.shards, options);
    const [failure] = response.shards.failures;
    if (failure !== undefined) throw failure.error;
    cursor = response.cursor ?? cursor;
    return { total: response.total ?? 0, page: response.hits.map(foundDocument) };
  };
  try {
    const { total, page } = await read(signal);
    first = page;
    return {
      total,
      async next(stop) {
        const ready = first;
        first = undefined;
        return ready ?? (await read(stop)).page;
      },
      async close() {
        opened.close();
      },
    };
  } catch (error) {
    opened.close();
    throw error;
  }
}

function foundDocument(hit: JsonObject): FoundDocument {
  const source = hit["_source"];
  return {
    index: String(hit["_index"]),
    type: optionalText(hit["_type"], "_type"),
    id: String(hit["_id"]),
    version: Number(hit["_version"]),
    seqNo: Number(hit["_seq_no"]),
    primaryTerm: Number(hit["_primary_term"]),
    routing: typeof hit["_routing"] === "string" ? hit["_routing"] : undefined,
    // The bytes are the segment's, which may go before they are written.
    source: source instanceof RawJson ? source.bytes.slice() : Buffer.from(writeJson(source ?? {})),
  };
}
