/** Discover's data: one search at a time, rows and histogram separately, so that the rows don't wait for it. */

import { nextFrame } from "#ui/components/controls/next-frame.ts";
import type { TopValues } from "#ui/components/table/field-list.ts";
import { completeRows, inReadingOrder } from "#ui/services/discover/trace-order.ts";
import { HubError, toHubError } from "#ui/services/hub/json-call.ts";
import { DataViews } from "#ui/services/search/data-view.ts";
import { type DiscoverState, NEWEST_FIRST } from "#ui/services/search/discover-state.ts";
import { countValues, type Field, type FieldCatalogue, readFields } from "#ui/services/search/fields.ts";
import { type Histogram, readHistogram } from "#ui/services/search/histogram.ts";
import { chooseInterval } from "#ui/services/search/interval.ts";
import { filterValues, LogDocument } from "#ui/services/search/log-document.ts";
import { type QueryFault, refusedIn } from "#ui/services/search/query-check.ts";
import { rangeFault } from "#ui/services/search/range-labels.ts";
import {
  type SearchClient,
  type SearchPart,
  type SearchResponse,
  shardFailureOf,
  totalOf,
} from "#ui/services/search/search-client.ts";
import {
  histogramRequest,
  levelFieldOf,
  newestRequest,
  PAGE_ROWS,
  rowsRequest,
  TIME_FIELD,
  topValuesRequest,
} from "#ui/services/search/search-request.ts";
import { type ResolvedRange, resolveRange } from "#ui/services/search/time-range.ts";
import type { FieldFormats } from "#ui/services/text/field-format.ts";
import type { SearchCost } from "./search-cost.ts";

/** Maximum number of loaded rows: more than can be read, fewer than a browser can hold. */
const MAX_ROWS = 100_000;
const MAX_BUCKETS = 120;
/** New lines may bring new fields. */
const FIELDS_FRESH_MS = 60_000;
const TOP_VALUES = 10;

export class DiscoverModel {
  rows: readonly LogDocument[] = [];
  total = 0;
  tookMs = 0;
  /** Undefined until the first answer. */
  range: ResolvedRange | undefined;
  histogram: Histogram | undefined;
  fields: FieldCatalogue | undefined;
  indexNames: readonly string[] = [];
  /**
   * Why the search failed, shown in the box above the rows (discover-results.ts). A refused query is shown twice: there, and
   * as `queryFault`.
   */
  fault: HubError | undefined;
  /** Of the index pattern, as it is saved. */
  formats: FieldFormats = new Map();
  /**
   * The same where it names a position in the query, also of single shards: shown below the query bar
   * (components/controls/query-bar.ts), which marks the position. That bar finds most faults itself, before a search.
   */
  queryFault: QueryFault | undefined;
  warning: string | undefined;
  /** Where the range is empty: ms of the newest line that matches outside of it. */
  newestMs: number | undefined;
  /** Progress of a search whose first rows are shown. */
  progress: Pick<SearchPart, "done" | "of"> | undefined;
  /** When the rows were found, ms since 1970. */
  loadedMs = 0;
  /** Order of the rows that are shown first. */
  cost: SearchCost | undefined;
  isLoading = false;
  isLoadingMore = false;
  hasMore = false;

  readonly #client: SearchClient;
  readonly #onChange: () => void;
  #abort = new AbortController();
  #state: DiscoverState | undefined;
  #fieldsIndex: string | undefined;
  #fieldsAtMs = 0;
  #formatsIndex: string | undefined;
  #keys = new Set<string>();
  /** True if the rows are the running search's, or the last one's: more of them can be loaded. */
  #hasRows = false;
  /** Rows as the hub sorted them; the ones shown are these, their traces in reading order. */
  #sorted: LogDocument[] = [];
  /** Settles when the running search's first rows are there: a field can be opened before them. */
  #firstRows: Promise<void> = Promise.resolve();

  constructor(client: SearchClient, onChange: () => void) {
    this.#client = client;
    this.#onChange = onChange;
  }

  /** Searches; cancels a running search. */
  async run(state: DiscoverState, nowMs = Date.now()): Promise<void> {
    this.stop();
    this.#abort = new AbortController();
    const { signal } = this.#abort;
    const range = resolveRange(state.range, nowMs);
    this.#state = state;
    this.#hasRows = false;
    this.fault = undefined;
    this.queryFault = undefined;
    if (range === undefined) {
      this.fault = new HubError(400, "range", rangeFault(state.range, nowMs) ?? "", "");
      this.#onChange();
      return;
    }
    this.isLoading = true;
    this.#onChange();
    const fields = this.#loadFields(state.index, signal);
    this.#firstRows = this.#settle(this.#loadRows(state, range, signal), signal);
    await Promise.all([
      this.#firstRows,
      this.#settle(this.#loadHistogram(state, range, fields, signal), signal),
    ]);
    if (signal.aborted) return;
    this.isLoading = false;
    this.#onChange();
  }

  /** Loads the next rows, if there are any and none are loading. The histogram may still be loading. */
  async more(): Promise<void> {
    if (!this.hasMore || this.isLoadingMore || !this.#hasRows || this.#state === undefined) return;
    const last = this.#sorted.at(-1);
    if (last === undefined || this.range === undefined) return;
    const { signal } = this.#abort;
    this.isLoadingMore = true;
    this.#onChange();
    const body = rowsRequest(this.#state, this.range, { after: last.sort, rowsAtLast: this.#rowsLike(last) });
    await this.#settle(
      this.#client.search(this.#state.index, body, signal).then((response) => this.#append(response)),
      signal,
    );
    if (signal.aborted) return;
    this.isLoadingMore = false;
    this.#onChange();
  }

  /** Counts the last rows that were sorted by the same values. */
  #rowsLike(last: LogDocument): number {
    const key = JSON.stringify(last.sort);
    let count = 0;
    for (let at = this.#sorted.length - 1; at >= 0 && JSON.stringify(this.#sorted[at]!.sort) === key; at--)
      count += 1;
    return count;
  }

  /** Counts a field's values in all matching lines, or in the loaded ones if the index can't. */
  async topValues(field: Field): Promise<TopValues | undefined> {
    await this.#firstRows;
    if (this.#state === undefined || this.range === undefined) return undefined;
    const name = field.aggregatableName;
    if (name === undefined) {
      const texts = this.rows.map((row) => filterValues(row.fields.get(field.name)));
      return { values: countValues(texts, TOP_VALUES), total: this.rows.length, isSample: true };
    }
    try {
      const body = topValuesRequest(this.#state, this.range, name);
      const { aggregations } = await this.#client.search(this.#state.index, body, this.#abort.signal);
      const values = (aggregations?.values?.buckets ?? []).map((bucket) => ({
        value: bucket.key_as_string ?? String(bucket.key),
        count: bucket.doc_count,
      }));
      return { values, total: aggregations?.existing?.doc_count ?? this.total, isSample: false };
    } catch {
      return undefined;
    }
  }

  /** Returns the most frequent values of a field, for suggestions. */
  async valuesOf(name: string): Promise<TopValues["values"]> {
    const field = this.fields?.get(name);
    return field === undefined ? [] : ((await this.topValues(field))?.values ?? []);
  }

  /** Loads the names of indices to choose from, after the first lines. */
  async loadIndexNames(): Promise<void> {
    await nextFrame();
    try {
      this.indexNames = await this.#client.indexNames();
      this.#onChange();
    } catch {
      // There are no choices then; patterns can be typed nevertheless.
    }
  }

  /** Shows the fields in other formats. */
  setFormats(formats: FieldFormats): void {
    if (formats.size === 0 && this.formats.size === 0) return;
    this.formats = formats;
    const renewed = new Map(this.#sorted.map((line) => [line.key, line.withFormats(formats)]));
    this.#sorted = [...renewed.values()];
    this.rows = this.rows.map((line) => renewed.get(line.key) ?? line.withFormats(formats));
    this.#onChange();
  }

  /** Loads the formats of an index pattern, after the first lines. */
  async #loadFormats(index: string, signal: AbortSignal): Promise<void> {
    if (this.#formatsIndex === index) return;
    try {
      const { formats } = await new DataViews().load(index, signal);
      if (signal.aborted) return;
      this.#formatsIndex = index;
      this.setFormats(formats);
    } catch {
      // The default formats by the fields' names are good enough; tried again with the next search.
    }
  }

  /** Cancels the running requests. */
  stop(): void {
    this.#abort.abort();
    this.progress = undefined;
    this.isLoading = false;
    this.isLoadingMore = false;
  }

  async #loadRows(state: DiscoverState, range: ResolvedRange, signal: AbortSignal): Promise<void> {
    const body = rowsRequest(state, range);
    const askedMs = performance.now();
    const response = await this.#client.search(state.index, body, signal, (part) => {
      this.#takeRows(part.response, state, range);
      this.progress = part;
      this.#onChange();
    });
    const totalMs = performance.now() - askedMs;
    this.#takeRows(response, state, range);
    this.progress = undefined;
    this.loadedMs = Date.now();
    this.#hasRows = true;
    this.cost = undefined;
    this.#onChange();
    await nextFrame();
    signal.throwIfAborted();
    const { index } = state;
    const [shards, hubMs] = [response._shards?.total ?? 0, response.took];
    this.cost = {
      hubMs,
      totalMs,
      drawnMs: performance.now() - askedMs,
      shards,
      total: this.total,
      body,
      index,
    };
    this.#onChange();
    void this.#loadFormats(state.index, signal);
    // Shards that failed may hold matching lines: then the newest line isn't reported.
    if (this.total > 0 || this.warning !== undefined) return;
    const newest = await this.#client.search(state.index, newestRequest(state), signal);
    const value = newest.aggregations?.newest?.value;
    this.newestMs = typeof value === "number" && totalOf(newest) > 0 ? value : undefined;
    this.#onChange();
  }

  /** Shows the found rows instead of the previous ones. */
  #takeRows(response: SearchResponse, state: DiscoverState, range: ResolvedRange): void {
    this.range = range;
    this.rows = [];
    this.#sorted = [];
    this.#keys = new Set();
    this.total = totalOf(response);
    this.tookMs = response.took;
    this.warning = shardFailureOf(response);
    this.queryFault = refusedIn(state.query, response._shards?.failures?.[0]?.reason?.reason ?? "", "");
    this.newestMs = undefined;
    this.#append(response);
  }

  async #loadHistogram(
    state: DiscoverState,
    range: ResolvedRange,
    fields: Promise<void>,
    signal: AbortSignal,
  ): Promise<void> {
    await fields;
    const interval = chooseInterval(range, MAX_BUCKETS, state.step);
    const zone = state.isUtc ? "UTC" : Intl.DateTimeFormat().resolvedOptions().timeZone;
    const body = histogramRequest(state, range, interval, levelFieldOf(this.fields), zone);
    const show = (response: SearchResponse): void => {
      this.histogram = readHistogram(response, range, interval);
      this.#onChange();
    };
    show(await this.#client.search(state.index, body, signal, (part) => show(part.response)));
  }

  async #loadFields(index: string, signal: AbortSignal): Promise<void> {
    const isFresh = Date.now() - this.#fieldsAtMs < FIELDS_FRESH_MS;
    if (this.#fieldsIndex === index && isFresh && (this.fields?.size ?? 0) > 0) return;
    try {
      this.fields = readFields(await this.#client.fieldCapabilities(index, signal));
      this.#fieldsIndex = index;
      this.#fieldsAtMs = Date.now();
      this.#onChange();
    } catch {
      // Rows and histogram show the error; without fields there is only no split by level.
    }
  }

  #append(response: SearchResponse): void {
    const added = response.hits.hits
      .map((hit) => new LogDocument(hit, this.formats))
      .filter(({ key }) => !this.#keys.has(key) && this.#keys.add(key));
    this.#sorted.push(...added);
    this.hasMore =
      response.hits.hits.length >= PAGE_ROWS && added.length > 0 && this.#sorted.length < MAX_ROWS;
    this.rows = [...this.rows, ...this.#shownNext()];
  }

  /** Returns the rows to show after those that are, which stay as they are. */
  #shownNext(): LogDocument[] {
    const next = this.#sorted.slice(this.rows.length);
    const { field, isDescending } = this.#state?.sort ?? NEWEST_FIRST;
    if (field !== TIME_FIELD || !isDescending) return next;
    return inReadingOrder(this.hasMore ? next.slice(0, completeRows(next)) : next);
  }

  /** Records a failure of this search, unless it was cancelled. */
  async #settle(work: Promise<void>, signal: AbortSignal): Promise<void> {
    try {
      await work;
    } catch (error) {
      if (signal.aborted) return;
      this.fault ??= toHubError(error);
      this.queryFault ??= refusedIn(this.#state?.query ?? "", this.fault.message, this.fault.hint);
    }
  }
}
