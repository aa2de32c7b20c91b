/** The ranges of each source that a partition has accepted and finished. */

import { type Interval, IntervalSet } from "#proto/kit/interval-set.ts";

/** Sources of a partition; the one untouched longest goes first. Its data, if sent again, is dropped by the shards. */
const SOURCE_LIMIT = 4096;

/** A source untouched for this long is forgotten. */
const MAX_AGE_MS = 7 * 86_400_000;

/** Separate ranges of one source. A file read in order has one. */
const INTERVAL_LIMIT = 1024;

/** A source as a cursor stores it: key, last touch (ms since 1970), then from, to, from, to … */
export type StoredSource = readonly [key: string, touchedMs: number, ...bounds: number[]];

interface SourceState {
  /** Handed to a worker or finished. */
  readonly planned: IntervalSet;
  /** Finished: what a cursor may cover. */
  readonly done: IntervalSet;
  touchedMs: number;
  /** Ranges planned and not finished. */
  inFlight: number;
}

/** Keeps the sources in the order of their last touch. */
export class SourceRanges {
  readonly #sources = new Map<string, SourceState>();
  #forgotten = 0;

  constructor(stored: readonly StoredSource[]) {
    for (const [key, touchedMs, ...bounds] of stored) {
      const intervals: Interval[] = [];
      for (let at = 0; at + 1 < bounds.length; at += 2) intervals.push([bounds[at]!, bounds[at + 1]!]);
      this.#sources.set(key, {
        planned: new IntervalSet(intervals, INTERVAL_LIMIT),
        done: new IntervalSet(intervals, INTERVAL_LIMIT),
        touchedMs,
        inFlight: 0,
      });
    }
  }

  get size(): number {
    return this.#sources.size;
  }

  /** Sources forgotten because of the limit, since the start. */
  get forgotten(): number {
    return this.#forgotten;
  }

  /** Gaps between ranges taken for processed because a source had too many of them: what comes late in one is dropped. */
  get closedGaps(): number {
    let gaps = 0;
    for (const { planned } of this.#sources.values()) gaps += planned.closedGaps;
    return gaps;
  }

  /** Returns the parts of [from, to) that weren't taken up yet, and takes them up. */
  plan(key: string, from: number, to: number, nowMs: number): Interval[] {
    const source = this.#touch(key, nowMs);
    const missing = source.planned.missing(from, to);
    source.planned.add(from, to);
    if (missing.length > 0) source.inFlight++;
    return missing;
  }

  /** Notes that `ranges`, planned together before, are finished; returns the unbroken range that now holds the last of them. */
  finish(key: string, ranges: readonly Interval[]): Interval {
    const last = ranges.at(-1) ?? [0, 0];
    const source = this.#sources.get(key);
    if (source === undefined) return last;
    source.inFlight--;
    for (const [from, to] of ranges) source.done.add(from, to);
    return source.done.toArray().findLast(([from, to]) => from <= last[0] && last[1] <= to) ?? last;
  }

  /** Returns all finished ranges as a cursor stores them, least recently touched first; forgets old sources. */
  store(nowMs: number): StoredSource[] {
    const stored: StoredSource[] = [];
    for (const [key, source] of this.#sources) {
      if (source.inFlight === 0 && source.touchedMs < nowMs - MAX_AGE_MS) {
        this.#sources.delete(key);
      } else if (source.done.size > 0) {
        stored.push([key, source.touchedMs, ...source.done.toArray().flat()]);
      }
    }
    return stored;
  }

  #touch(key: string, nowMs: number): SourceState {
    const known = this.#sources.get(key);
    if (known !== undefined) {
      known.touchedMs = nowMs;
      this.#sources.delete(key);
      this.#sources.set(key, known);
      return known;
    }
    this.#makeRoom();
    const source: SourceState = {
      planned: new IntervalSet([], INTERVAL_LIMIT),
      done: new IntervalSet([], INTERVAL_LIMIT),
      touchedMs: nowMs,
      inFlight: 0,
    };
    this.#sources.set(key, source);
    return source;
  }

  #makeRoom(): void {
    if (this.#sources.size < SOURCE_LIMIT) return;
    for (const [key, source] of this.#sources) {
      if (source.inFlight > 0) continue;
      this.#sources.delete(key);
      this.#forgotten++;
      return;
    }
  }
}
