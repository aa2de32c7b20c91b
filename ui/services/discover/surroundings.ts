/** Address of the lines around a line: same host and file, a minute each way, no query. */

import { formatRoute } from "#ui/services/browser/router.ts";
import { type DiscoverState, writeState } from "#ui/services/search/discover-state.ts";
import type { LogDocument } from "#ui/services/search/log-document.ts";
import { absoluteRange } from "#ui/services/search/time-range.ts";
import { placeFilters } from "./surrounding-lines.ts";

const MARGIN_MS = 30_000;

/** Returns the address; "" for a line without a time. */
export function surroundingsOf(document: LogDocument, state: DiscoverState): string {
  if (document.timestampMs === 0) return "";
  const filters = placeFilters(document);
  const range = absoluteRange(document.timestampMs - MARGIN_MS, document.timestampMs + MARGIN_MS);
  return formatRoute({ page: "discover", parameters: writeState({ ...state, query: "", filters, range }) });
}
