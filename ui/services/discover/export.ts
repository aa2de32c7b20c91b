/** Writes all lines of a search into files, from one snapshot of the index, page by page. */

import type { DiscoverState } from "#ui/services/search/discover-state.ts";
import { type Hit, LogDocument, valueText } from "#ui/services/search/log-document.ts";
import { type SearchClient, type SearchResponse, totalOf } from "#ui/services/search/search-client.ts";
import { buildQuery, encodeIndex, TIME_FIELD, timeOrder } from "#ui/services/search/search-request.ts";
import type { ResolvedRange } from "#ui/services/search/time-range.ts";
import { csvLine } from "#ui/services/text/csv.ts";

export type ExportFormat = "csv" | "ndjson";

export interface ExportOptions {
  readonly client: SearchClient;
  readonly state: DiscoverState;
  readonly range: ResolvedRange;
  readonly format: ExportFormat;
  /** Called with each page: the number of lines written, and of all lines. */
  readonly onProgress: (written: number, total: number) => void;
  /** Takes a file: its parts, its number from 1, and true if it is the last one. */
  readonly onFile: (parts: readonly string[], number: number, isLast: boolean) => void;
  readonly signal: AbortSignal;
}

/** The result. */
export interface Exported {
  readonly lines: number;
  readonly files: number;
}

interface ScrollAnswer extends SearchResponse {
  readonly _scroll_id?: string;
}

/** Lines per request. */
const PAGE_LINES = 5_000;
/** A browser holds a file until it is saved: more lines are written into further files. */
const MAX_CHARACTERS = 200_000_000;
const SNAPSHOT = "2m";

/** Writes the files. Throws HubError, and the reason of `signal`. */
export async function exportLines(options: ExportOptions, maxCharacters = MAX_CHARACTERS): Promise<Exported> {
  const { client, state, range, signal } = options;
  const body = {
    size: PAGE_LINES,
    query: buildQuery(state, range),
    sort: timeOrder("desc"),
  };
  const path = `/${encodeIndex(state.index)}/_search?scroll=${SNAPSHOT}&ignore_unavailable=true`;
  let answer = (await client.call("POST", path, body, signal)) as ScrollAnswer;
  const file = new ExportFiles(options, totalOf(answer), maxCharacters);
  try {
    while (file.add(answer.hits.hits) && answer._scroll_id !== undefined) {
      const next = { scroll: SNAPSHOT, scroll_id: answer._scroll_id };
      answer = (await client.call("POST", "/_search/scroll", next, signal)) as ScrollAnswer;
    }
  } finally {
    forget(client, answer._scroll_id);
  }
  return file.end();
}

/** The hub would forget the snapshot by itself, later. */
function forget(client: SearchClient, scrollId: string | undefined): void {
  if (scrollId !== undefined)
    client.call("DELETE", "/_search/scroll", { scroll_id: [scrollId] }).catch(() => undefined);
}

class ExportFiles {
  readonly #options: ExportOptions;
  readonly #total: number;
  readonly #columns: readonly string[];
  readonly #maxCharacters: number;
  #parts: string[] = [];
  #characters = 0;
  #lines = 0;
  #files = 0;

  constructor(options: ExportOptions, total: number, maxCharacters: number) {
    this.#options = options;
    this.#total = total;
    this.#maxCharacters = maxCharacters;
    const { columns } = options.state;
    this.#columns = [TIME_FIELD, ...(columns.length > 0 ? columns : ["log.level", "host.name", "message"])];
    this.#begin();
  }

  /** Returns true if another page should be requested. */
  add(hits: readonly Hit[]): boolean {
    if (hits.length === 0) return false;
    const page = hits.map((hit) => this.#line(hit)).join("");
    this.#parts.push(page);
    this.#characters += page.length;
    this.#lines += hits.length;
    this.#options.onProgress(this.#lines, this.#total);
    if (this.#lines >= this.#total) return false;
    if (this.#characters >= this.#maxCharacters) {
      this.#save(false);
      this.#begin();
    }
    return true;
  }

  /** Saves the remaining lines. */
  end(): Exported {
    this.#save(true);
    return { lines: this.#lines, files: this.#files };
  }

  #begin(): void {
    this.#characters = 0;
    this.#parts = this.#options.format === "csv" ? [csvLine(this.#columns)] : [];
  }

  #save(isLast: boolean): void {
    this.#files += 1;
    this.#options.onFile(this.#parts, this.#files, isLast);
  }

  #line(hit: Hit): string {
    if (this.#options.format === "ndjson") return `${JSON.stringify(hit._source ?? {})}\n`;
    const document = new LogDocument(hit);
    return csvLine(
      this.#columns.map((name) =>
        name === "message" ? document.message : valueText(document.fields.get(name)),
      ),
    );
  }
}
