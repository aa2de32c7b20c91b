/**
 * Chooses the shard for documents whose ids the hub makes. One shard takes all for a while, so that documents which arrive
 * together make one message, one buffer and one segment, not a small one for each shard. Then the shard that got least has
 * its turn.
 */

import { randomInt } from "node:crypto";

/** A turn ends after this many bytes, as many as are committed at once. */
const TURN_BYTES = 32 * 1024 * 1024;

/** A turn also ends after this time, the interval of commits: a trickle of documents is spread as well. */
const TURN_MS = 5_000;

/** Maximum number of indices whose turns are remembered; beyond it all start again. */
const INDEX_LIMIT = 256;

interface Turns {
  /** Bytes that each shard got. */
  readonly bytes: Float64Array;
  shard: number;
  /** When the turn began, and what its shard has got since. */
  sinceMs: number;
  turnBytes: number;
}

/** See the file's comment. */
export class ShardTurns {
  readonly #now: () => number;
  readonly #indices = new Map<string, Turns>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /** The shard, 0..shards-1, for documents of `sizeBytes` together. */
  take(indexUuid: string, shards: number, sizeBytes: number): number {
    if (shards === 1) return 0;
    const turns = this.#of(indexUuid, shards);
    const nowMs = this.#now();
    if (turns.turnBytes >= TURN_BYTES || Math.abs(nowMs - turns.sinceMs) >= TURN_MS) {
      turns.shard = smallestOf(turns.bytes, turns.shard);
      turns.sinceMs = nowMs;
      turns.turnBytes = 0;
    }
    turns.turnBytes += sizeBytes;
    turns.bytes[turns.shard]! += sizeBytes;
    return turns.shard;
  }

  #of(indexUuid: string, shards: number): Turns {
    const found = this.#indices.get(indexUuid);
    if (found !== undefined) return found;
    if (this.#indices.size >= INDEX_LIMIT) this.#indices.clear();
    const made = {
      bytes: new Float64Array(shards),
      shard: randomInt(shards),
      sinceMs: this.#now(),
      turnBytes: 0,
    };
    this.#indices.set(indexUuid, made);
    return made;
  }
}

/** Index of the smallest number; of several, the first one after `after`. */
function smallestOf(numbers: Float64Array, after: number): number {
  let best = (after + 1) % numbers.length;
  for (let step = 2; step <= numbers.length; step++) {
    const place = (after + step) % numbers.length;
    if (numbers[place]! < numbers[best]!) best = place;
  }
  return best;
}
