/** The lines of the same host and file before and after a line, whatever the query of the page was. */

import { formatRoute } from "#ui/services/browser/router.ts";
import {
  DEFAULT_STATE,
  type DiscoverState,
  type FieldFilter,
  writeState,
} from "#ui/services/search/discover-state.ts";
import { LogDocument } from "#ui/services/search/log-document.ts";
import type { SearchClient } from "#ui/services/search/search-client.ts";
import { buildQuery, OFFSET_FIELD, timeOrder } from "#ui/services/search/search-request.ts";
import { absoluteRange } from "#ui/services/search/time-range.ts";

/** Fields that identify the source of a line. */
const PLACE_FIELDS = ["host.name", "log.file.path"];
/** Lines per request, on either side. */
export const SURROUNDING_LINES = 10;
/** Nobody reads further than this in a side panel. */
const MAX_LINES = 500;

/** Returns the filters of a line's host and file; none if it names neither. */
export function placeFilters(document: LogDocument): FieldFilter[] {
  return PLACE_FIELDS.flatMap((field): FieldFilter[] => {
    const value = document.fields.get(field);
    return typeof value === "string" ? [{ field, value, exclude: false, disabled: false }] : [];
  });
}

export class SurroundingLines {
  readonly line: LogDocument;
  /** Both in the order they were written. */
  before: readonly LogDocument[] = [];
  after: readonly LogDocument[] = [];
  hasMoreBefore = true;
  hasMoreAfter = true;
  readonly #client: SearchClient;
  readonly #index: string;

  /** `index`: where lines of the same file may be, more than the line's own as indices end with a day. */
  constructor(line: LogDocument, client: SearchClient, index: string) {
    this.line = line;
    this.#client = client;
    this.#index = index;
  }

  /** Loads some more lines on one side. Throws HubError. */
  async load(side: "before" | "after", signal: AbortSignal): Promise<void> {
    const known = side === "before" ? this.before : this.after;
    const size = known.length + SURROUNDING_LINES;
    const { hits } = await this.#client.search(this.#index, this.#request(side, size), signal);
    const found = hits.hits.map((hit) => new LogDocument(hit)).filter(({ key }) => key !== this.line.key);
    const hasMore = found.length >= size && size < MAX_LINES;
    const lines = found.slice(0, size);
    if (side === "before") [this.before, this.hasMoreBefore] = [lines.toReversed(), hasMore];
    else [this.after, this.hasMoreAfter] = [lines, hasMore];
  }

  /** The nearest lines first. One more than wanted: where nothing else orders lines, the line itself is among them. */
  #request(side: "before" | "after", size: number): Readonly<Record<string, unknown>> {
    const order = side === "before" ? "desc" : "asc";
    const sort = timeOrder(order);
    const query = buildQuery({ query: "", filters: placeFilters(this.line) }, undefined);
    const offset = this.line.fields.get(OFFSET_FIELD);
    // Without an offset the line's own millisecond is begun again: other lines may share it.
    const after =
      typeof offset === "number"
        ? [this.line.timestampMs, offset]
        : [this.line.timestampMs + (side === "before" ? 1 : -1), 0];
    return { size: size + 1, query, sort, search_after: after };
  }
}

const MARGIN_MS = 30_000;

/** Returns the address that shows a line alone. */
export function lineAddress({ index, id, timestampMs }: LogDocument): string {
  const range = absoluteRange(timestampMs - MARGIN_MS, timestampMs + MARGIN_MS);
  const filters = [{ field: "_id", value: id, exclude: false, disabled: false }];
  return formatRoute({
    page: "discover",
    parameters: writeState({ ...DEFAULT_STATE, index, filters, range }),
  });
}

/** Returns the address; "" for a line without a time. */
export function surroundingsOf(document: LogDocument, state: DiscoverState): string {
  if (document.timestampMs === 0) return "";
  const filters = placeFilters(document);
  const range = absoluteRange(document.timestampMs - MARGIN_MS, document.timestampMs + MARGIN_MS);
  return formatRoute({ page: "discover", parameters: writeState({ ...state, query: "", filters, range }) });
}
