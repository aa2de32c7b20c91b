/** Live's data: one tail, its lines, the skipped ones, and whether it is paused. */

import { msg, str } from "@lit/localize";
import type { LiveError, TailGap, TailStats } from "#proto/live.ts";
import { hubConnection } from "#ui/services/hub/hub-connection.ts";
import { tailsOver } from "#ui/services/live/tail-channel.ts";
import { TailClient, type TailLine, type TailState } from "#ui/services/live/tail-client.ts";
import { RING_ENTRIES, TailLog } from "#ui/services/live/tail-log.ts";
import { type FieldCatalogue, readFields, type TopValue } from "#ui/services/search/fields.ts";
import { LogDocument, valueText } from "#ui/services/search/log-document.ts";
import type { SearchClient } from "#ui/services/search/search-client.ts";
import { rowsRequest, topValuesRequest } from "#ui/services/search/search-request.ts";
import { formatCount } from "#ui/services/text/format.ts";
import { stateText } from "./live-views.ts";

/** Minimum time between two announcements of the counts to screen readers. */
const ANNOUNCE_INTERVAL_MS = 10_000;
/** Maximum age of the stored lines that are shown first. */
const PREFILL_MS = 24 * 3_600_000;

/** Maximum of live lines that wait for stored ones: a search that hangs delays no more. */
const MAX_HELD_LINES = 5_000;

export interface LiveRequest {
  readonly query: string;
  readonly index: string;
  /** Maximum lines a second; undefined: the hub's default. */
  readonly maxRate: number | undefined;
}

export interface LiveListener {
  /** Lines have arrived: the window must be drawn. */
  onLines(): void;
  /** Something else has changed. */
  onChange(): void;
}

export class LiveModel {
  readonly log = new TailLog();
  state: TailState = { name: "connecting" };
  /** Why the hub refuses the filter. */
  refused: LiveError | undefined;
  isPaused = false;
  isFollowing = true;
  /** The counts, as announced to screen readers from time to time. */
  announcement = "";
  readonly #search: SearchClient;
  readonly #listener: LiveListener;
  readonly #client: TailClient;
  #abort = new AbortController();
  #announcedMs = 0;
  /**
   * Live lines that arrived during the search for stored ones, or that were in flight when the user paused; else
   * undefined.
   */
  #held: TailLine[] | undefined;
  #isPrefilling = false;

  constructor(search: SearchClient, listener: LiveListener) {
    this.#search = search;
    this.#listener = listener;
    this.#client = new TailClient(
      {
        onLines: (lines) => this.#onLines(lines),
        onGap: (gap) => this.#onGap(gap),
        onStats: (stats) => this.#onStats(stats),
        onState: (state) => {
          this.state = state;
          listener.onChange();
        },
        onRefused: (error) => {
          this.refused = error;
          listener.onChange();
        },
      },
      tailsOver(hubConnection().socket),
    );
  }

  /** Begins, or starts again with another filter. */
  start(request: LiveRequest): void {
    this.#abort.abort();
    this.#abort = new AbortController();
    this.log.reset(Date.now());
    this.refused = undefined;
    this.isPaused = false;
    const { query, index, maxRate } = request;
    this.#client.start({ query, index: index.split(","), maxRate });
    this.#held = [];
    this.#isPrefilling = true;
    void this.#prefill(request, this.#abort.signal);
  }

  stop(): void {
    this.#abort.abort();
    this.#client.stop();
  }

  /** Freezes the lines: those in flight are held. */
  pause(): void {
    this.isPaused = true;
    this.#held ??= [];
    this.#client.pause();
    this.#listener.onChange();
  }

  /** Continues with the newest line. */
  resume(): void {
    this.isPaused = false;
    this.log.unseen = 0;
    if (!this.#isPrefilling) this.#release();
    this.#client.resume();
    this.#listener.onChange();
  }

  /** Records whether the user follows the newest line or stays at a position. */
  follow(isFollowing: boolean): void {
    this.isFollowing = isFollowing;
    if (isFollowing) {
      this.log.unseen = 0;
      if (!this.isPaused) this.#client.resume();
    }
    this.#listener.onChange();
  }

  retryNow(): void {
    this.#client.retryNow();
  }

  clear(): void {
    this.log.clear();
    this.#listener.onLines();
    this.#listener.onChange();
  }

  /** Starts with the newest stored lines; live ones wait for them. */
  async #prefill({ query, index }: LiveRequest, signal: AbortSignal): Promise<void> {
    const nowMs = Date.now();
    const body = rowsRequest({ query, filters: [] }, { fromMs: nowMs - PREFILL_MS, toMs: nowMs + 60_000 });
    try {
      const { hits } = await this.#search.search(index, body, signal);
      if (signal.aborted || this.#held === undefined) return;
      const documents = hits.hits.map((hit) => new LogDocument(hit)).toReversed();
      this.#show(this.#client.remember(documents.map(toLine)));
    } catch {
      // Live lines arrive independently; the hub refuses an invalid filter there and names the offset.
    }
    if (signal.aborted) return;
    this.#isPrefilling = false;
    if (!this.isPaused) this.#release();
  }

  #release(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    if (held.length > 0) this.#show(held);
  }

  #onLines(lines: readonly TailLine[]): void {
    this.log.countRates(lines, Date.now());
    if (this.#held === undefined) this.#show(lines);
    else if (this.#held.push(...lines) > MAX_HELD_LINES) this.#release();
  }

  #show(lines: readonly TailLine[]): void {
    const wasEmpty = this.log.ring.size === 0;
    this.log.addLines(lines, this.isFollowing);
    this.#listener.onLines();
    if (wasEmpty || !this.isFollowing) this.#listener.onChange();
    // The lines that the user is reading must not be overwritten: the hub holds the others, counted.
    if (!this.isFollowing && this.log.unseen > RING_ENTRIES / 2) this.#client.pause();
  }

  #onGap(gap: TailGap): void {
    this.log.addGap(gap);
    this.#listener.onLines();
    this.#listener.onChange();
  }

  #onStats(stats: TailStats): void {
    const nowMs = Date.now();
    this.log.addStats(stats, nowMs);
    if (nowMs - this.#announcedMs >= ANNOUNCE_INTERVAL_MS) {
      this.#announcedMs = nowMs;
      const { matchedRate, skipped } = this.log;
      const lines = (rate: number): string => formatCount(Math.round(rate));
      this.announcement =
        matchedRate > 0 && matchedRate < 1
          ? msg(
              str`${stateText(this)}, ${lines(60 * matchedRate)} lines per minute, ${formatCount(skipped)} skipped`,
            )
          : msg(
              str`${stateText(this)}, ${lines(matchedRate)} lines per second, ${formatCount(skipped)} skipped`,
            );
    }
    this.#listener.onChange();
  }
}

function toLine(document: LogDocument): TailLine {
  const text = (field: string): string => valueText(document.fields.get(field));
  return {
    row: [document.id, document.timestampMs, document.level, 0, document.message, null, 0],
    source: [document.index, text("host.name"), text("log.file.path")],
  };
}

/** Returns a document of what the line itself holds. */
export function toDocument({ row, source }: TailLine): LogDocument {
  const [id, atMs, , , message] = row;
  const [index, host, path] = source;
  const time = new Date(atMs).toISOString();
  const known = { message, host: { name: host }, log: { file: { path } }, "@timestamp": time };
  return new LogDocument({ _index: index, _id: id, _source: known, sort: [atMs, 0] });
}

/** Period of the counted values. */
const VALUES_OF_MS = 3_600_000;

export class FieldSource {
  readonly #client: SearchClient;
  #index: string | undefined;
  #fields: FieldCatalogue | undefined;

  constructor(client: SearchClient) {
    this.#client = client;
  }

  /** Undefined until they are loaded. */
  get fields(): FieldCatalogue | undefined {
    return this.#fields;
  }

  /** Loads the fields of an index expression; without them nothing is suggested. */
  async load(index: string): Promise<void> {
    if (index === this.#index) return;
    this.#index = index;
    try {
      const fields = readFields(await this.#client.fieldCapabilities(index));
      if (this.#index === index) this.#fields = fields;
    } catch {
      // A filter can be typed without suggestions.
      this.#index = undefined;
    }
  }

  /** Returns the most frequent values of a field; none if they can't be counted. */
  async valuesOf(name: string): Promise<readonly TopValue[]> {
    const countable = this.#fields?.get(name)?.aggregatableName;
    if (countable === undefined || this.#index === undefined) return [];
    const toMs = Date.now();
    const body = topValuesRequest(
      { query: "", filters: [] },
      { fromMs: toMs - VALUES_OF_MS, toMs },
      countable,
    );
    try {
      const { aggregations } = await this.#client.search(this.#index, body);
      return (aggregations?.values?.buckets ?? []).map((bucket) => ({
        value: bucket.key_as_string ?? String(bucket.key),
        count: bucket.doc_count,
      }));
    } catch {
      return [];
    }
  }
}
