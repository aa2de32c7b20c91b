/**
 * Contract of the formats that cut a file's bytes into events. A format must cut the same bytes at the same offsets
 * however often they are read: unacknowledged data is cut again after a restart, and the hub drops repeated events by
 * their offsets. The caller stores cuts that were made after a timeout, and passes them back as `cuts`.
 */

import type { RangeFilter } from "./line-filter.ts";

/** Bytes to be cut; positions count in `buffer`. */
export interface FileView {
  readonly buffer: Buffer;
  /** An event, or the rest of a long one, begins here. */
  readonly start: number;
  readonly end: number;
  /** Offset of `start` in the file. */
  readonly offset: number;
  /** True if `start` is within a line whose beginning is in an earlier event. */
  readonly continued: boolean;
  /** True if a timeout ended the event before `start`. */
  readonly afterCut: boolean;
  /** Offsets, ascending and above `start`, where a timeout ended an event. */
  readonly cuts: readonly number[];
  /** True if an event without its end has waited long enough: its whole lines are an event. */
  readonly expired: boolean;
  /** True if nothing will be added: the rest is an event. */
  readonly final: boolean;
}

/** A part of the view. */
export interface CutEvent {
  readonly start: number;
  /** Exclusive. The next view may begin here if `safe`. */
  readonly end: number;
  /** Text as UTF-8; null: the part needs no event (filtered out, empty). */
  readonly message: Buffer | null;
  /** JSON object; empty for none. */
  readonly fieldsJson: Uint8Array;
  /** ms since 1970-01-01 UTC; 0: unknown. */
  readonly timeMs: number;
  /** False while another event that began before `end` is incomplete. */
  readonly safe: boolean;
  /** True if a timeout ended it. */
  readonly cutByTime: boolean;
}

/** Facts about a format in which every line is an event of its own, unchanged. */
export interface PlainLines {
  /** Longest line with its end, bytes; longer ones are for `cut`. */
  readonly maxBytes: number;
  /** True if a carriage return before the line feed belongs to the line's end. */
  readonly stripsReturn: boolean;
  /** Returns the filter for the lines of `buffer`, which must be checked in ascending order. */
  within(buffer: Buffer): RangeFilter;
}

/** Cuts the bytes of one file into events; its only state is the content left out last, which `reset` clears. */
export interface EventFormat {
  /** Longest span of bytes without a safe offset. */
  readonly maxEventBytes: number;
  /** Time after which the whole lines of an unfinished event are one; 0: they wait indefinitely. */
  readonly timeoutMs: number;
  /** Length of the byte order mark at the start of the file; it gets the file's first bytes before anything is cut. */
  begin(head: Buffer): number;
  /** Returns true if an event may begin at `at`, judged by the bytes before. */
  boundaryBefore(buffer: Buffer, at: number): boolean;
  /** Yields events in the order of their ends. The bytes after the last one wait for more. */
  cut(view: FileView): Generator<CutEvent, void>;
  /** Fast path: how complete lines may be sent without `cut`; null if they may not, at the moment or ever. */
  readonly plainLines: PlainLines | null;
  /** The next view doesn't follow the last one. */
  reset(): void;
}

export const NO_FIELDS = new Uint8Array();

/** Returns the part [start, end) as one without an event of its own. */
export function leftOut(start: number, end: number): CutEvent {
  return { start, end, message: null, fieldsJson: NO_FIELDS, timeMs: 0, safe: true, cutByTime: false };
}

const FLAGS = new Map<string, Uint8Array>();

/** Returns {"log":{"flags":[…]}} as UTF-8, empty for none. */
export function flagFields(flags: readonly string[]): Uint8Array {
  if (flags.length === 0) return NO_FIELDS;
  const key = flags.join();
  const known = FLAGS.get(key) ?? Buffer.from(JSON.stringify({ log: { flags } }));
  FLAGS.set(key, known);
  return known;
}
