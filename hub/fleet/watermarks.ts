/**
 * Tracks how much of each agent's files is in committed segments. The pipeline's cursors record the DOC position of each
 * range of a file; once the shards have committed that position, the agent may release the range.
 */

import type { Metrics } from "#proto/kit/metrics.ts";
import { comparePositions, type Position } from "#proto/position.ts";

/** What a partition has processed since its last cursor: for each source its first contiguous range. */
export interface ProcessedSources {
  readonly partition: number;
  /** Last DOC message written for these sources. */
  readonly docPosition: Position;
  /** Incarnation of DOC that the cursor was compared with. */
  readonly docIncarnation: number;
  readonly sources: readonly ProcessedSource[];
}

export interface ProcessedSource {
  /** `<agent id>/<file key>/<generation>`. */
  readonly key: string;
  readonly from: number;
  /** Exclusive. */
  readonly to: number;
}

export interface CommittedRange {
  readonly fileKey: string;
  readonly generation: number;
  readonly from: number;
  readonly offset: number;
}

/**
 * Maximum sources kept; the least recently updated are dropped first. Their agents get no update until the source advances
 * again.
 */
const SOURCE_LIMIT = 200_000;

export class Watermarks {
  readonly #waiting: ProcessedSources[] = [];
  readonly #committed = new Map<string, ProcessedSource>();
  readonly #moved = new Map<string, Set<string>>();
  readonly #survives: (cursor: ProcessedSources) => boolean;
  #position: Position | undefined;

  /** `survives`: false where DOC has lost documents of a cursor's sources, which agents must then keep. */
  constructor(metrics: Metrics, survives: (cursor: ProcessedSources) => boolean = () => true) {
    this.#survives = survives;
    metrics.gauge("tailrace_cluster_watermark_sources", "files whose committed offset is kept", [], (gauge) =>
      gauge.set(this.#committed.size),
    );
  }

  /** Processes an updated cursor of the pipeline. */
  processed(cursor: ProcessedSources): void {
    if (cursor.sources.length === 0) return;
    if (this.#position !== undefined && comparePositions(cursor.docPosition, this.#position) <= 0)
      this.#commit(cursor);
    else this.#waiting.push(cursor);
  }

  /** Records the position up to which every shard has committed. */
  committed(position: Position): void {
    this.#position = position;
    let kept = 0;
    for (const cursor of this.#waiting) {
      if (comparePositions(cursor.docPosition, position) <= 0) this.#commit(cursor);
      else this.#waiting[kept++] = cursor;
    }
    this.#waiting.length = kept;
  }

  /** Returns the changes since the last call, by agent. */
  takeMoved(): Map<string, CommittedRange[]> {
    const result = new Map<string, CommittedRange[]>();
    for (const [agentId, keys] of this.#moved) result.set(agentId, this.of(agentId, keys));
    this.#moved.clear();
    return result;
  }

  /**
   * Returns the committed ranges of the sources in `keys` (`<agent id>/<file key>/<generation>`), without unknown
   * ones.
   */
  of(agentId: string, keys: Iterable<string>): CommittedRange[] {
    const ranges: CommittedRange[] = [];
    for (const key of keys) {
      const source = this.#committed.get(key);
      if (source === undefined) continue;
      const rest = key.slice(agentId.length + 1);
      const slash = rest.lastIndexOf("/");
      ranges.push({
        fileKey: rest.slice(0, slash),
        generation: Number(rest.slice(slash + 1)),
        from: source.from,
        offset: source.to,
      });
    }
    return ranges;
  }

  /** Checked here, as the shards' commits of a new incarnation come after the loss that began it. */
  #commit(cursor: ProcessedSources): void {
    if (!this.#survives(cursor)) return;
    for (const source of cursor.sources) {
      this.#committed.delete(source.key);
      this.#committed.set(source.key, source);
      const agentId = source.key.slice(0, source.key.indexOf("/"));
      const moved = this.#moved.get(agentId);
      if (moved === undefined) this.#moved.set(agentId, new Set([source.key]));
      else moved.add(source.key);
    }
    for (const key of this.#committed.keys()) {
      if (this.#committed.size <= SOURCE_LIMIT) break;
      this.#committed.delete(key);
    }
  }
}
