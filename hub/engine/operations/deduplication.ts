/**
 * Records which parts of the log a shard has applied, so that repeated data is applied once: per RAW partition the
 * message and the ordinal reached, per source (file) the byte ranges whose events are in. Kept in the manifest.
 */

import { type Interval, IntervalSet } from "#proto/kit/interval-set.ts";
import type { tailrace } from "#proto/messages.ts";

/** Sources remembered; the ones that gave nothing for longest are forgotten first. */
const MAX_SOURCES = 20_000;

/** Separate ranges remembered per source. */
const MAX_RANGES = 1_024;

/** A range of a source: key, first byte, byte after the last. */
type SourceRange = [key: string, from: number, to: number];

/** How far a partition of RAW has been taken in. */
interface PartitionProgress {
  readonly incarnation: number;
  readonly partition: number;
  sequence: number;
  /** First ordinal of the message that isn't in yet. */
  nextOrdinal: number;
  /** Offset of the last event of the message that is in; -1 for none. */
  lastOffset: number;
  /** Ranges of this message; they count as taken in once another message follows. */
  ranges: SourceRange[];
}

/** What a manifest keeps of it. */
export interface RepeatsState {
  readonly partitions: readonly PartitionProgress[];
  readonly sources: readonly (readonly [key: string, ranges: readonly Interval[]])[];
}

/** Whether the operation with this position in its RAW message and its source (1-based, 0 for none) isn't in yet. */
type IsNew = (ordinal: number, sourceIndex: number, offset: number) => boolean;

const ALL: IsNew = () => true;
const NONE: IsNew = () => false;

/** Whether an operation is new. */
export class Repeats {
  readonly #partitions = new Map<string, PartitionProgress>();
  readonly #sources = new Map<string, IntervalSet>();
  /** Sources that were forgotten because there were too many. */
  forgottenSources = 0;

  constructor(state: RepeatsState = { partitions: [], sources: [] }) {
    for (const entry of state.partitions) {
      this.#partitions.set(keyOf(entry.incarnation, entry.partition), {
        ...entry,
        ranges: [...entry.ranges],
      });
    }
    for (const [key, ranges] of state.sources) this.#sources.set(key, new IntervalSet(ranges, MAX_RANGES));
  }

  /** Returns a test of the operations of `batch`; `take` follows. */
  filter(batch: tailrace.IDocBatch): IsNew {
    const sequence = batch.rawSequence ?? 0;
    if (sequence === 0) return ALL;
    const incarnation = batch.rawIncarnation ?? 0;
    const partition = batch.rawPartition ?? 0;
    const progress = this.#partitions.get(keyOf(incarnation, partition));
    if (progress === undefined) this.#closeOlder(incarnation, partition);
    if (progress !== undefined && sequence < progress.sequence) return NONE;
    const nextOrdinal = progress?.sequence === sequence ? progress.nextOrdinal : 0;
    // Ranges of earlier messages of the partition are in; those of this very message aren't yet.
    if (progress !== undefined && progress.sequence !== sequence) this.#close(progress);
    const sources = (batch.sources ?? []).map((source) => this.#sources.get(source.key ?? ""));
    return (ordinal, sourceIndex, offset) => {
      if (ordinal < nextOrdinal) return false;
      const source = sources[sourceIndex - 1];
      return source === undefined || !source.has(offset);
    };
  }

  /** Records that `batch` is in, whose last operation has this position; undefined if it has none. */
  take(
    batch: tailrace.IDocBatch,
    last: { readonly ordinal: number; readonly offset: number } | undefined,
  ): void {
    const sequence = batch.rawSequence ?? 0;
    if (sequence === 0) return;
    const incarnation = batch.rawIncarnation ?? 0;
    const partition = batch.rawPartition ?? 0;
    const key = keyOf(incarnation, partition);
    let progress = this.#partitions.get(key);
    if (progress !== undefined && sequence < progress.sequence) return;
    if (progress === undefined) {
      progress = { incarnation, partition, sequence, nextOrdinal: 0, lastOffset: -1, ranges: [] };
      this.#partitions.set(key, progress);
    } else if (progress.sequence !== sequence) {
      this.#close(progress);
      progress.sequence = sequence;
      progress.nextOrdinal = 0;
      progress.lastOffset = -1;
    }
    if (last !== undefined && last.ordinal >= progress.nextOrdinal) {
      progress.nextOrdinal = last.ordinal + 1;
      progress.lastOffset = last.offset;
    }
    for (const source of batch.sources ?? []) {
      progress.ranges.push([source.key ?? "", source.from ?? 0, source.to ?? 0]);
    }
  }

  /** What to keep in the manifest. */
  state(): RepeatsState {
    return {
      partitions: [...this.#partitions.values()].map((entry) => ({ ...entry, ranges: [...entry.ranges] })),
      sources: [...this.#sources].map(([key, ranges]) => [key, ranges.toArray()] as const),
    };
  }

  #close(progress: PartitionProgress): void {
    for (const [key, from, to] of progress.ranges) {
      const known = this.#sources.get(key) ?? new IntervalSet([], MAX_RANGES);
      known.add(from, to);
      // Put after the others: the first in the map is the one unused for longest.
      this.#sources.delete(key);
      this.#sources.set(key, known);
    }
    progress.ranges = [];
    while (this.#sources.size > MAX_SOURCES) {
      this.#sources.delete(this.#sources.keys().next().value!);
      this.forgottenSources++;
    }
  }

  /**
   * A new life of the log: messages of the lives before the previous one don't come any more. The last message of
   * the old life may be in only in part, as the rest was lost with the log: its ranges count up to its last event.
   */
  #closeOlder(incarnation: number, partition: number): void {
    for (const [key, progress] of this.#partitions) {
      if (progress.partition !== partition || progress.incarnation >= incarnation) continue;
      const end = progress.lastOffset + 1;
      progress.ranges = progress.ranges.map(([source, from, to]) => [source, from, Math.min(to, end)]);
      this.#close(progress);
      if (progress.incarnation < incarnation - 1) this.#partitions.delete(key);
    }
  }
}

function keyOf(incarnation: number, partition: number): string {
  return `${incarnation}/${partition}`;
}
