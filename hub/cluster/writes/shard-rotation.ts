/**
 * Which shard takes documents whose ids are ours to make. One takes all for a while: what comes together is one message,
 * one buffer, one segment, not as many small ones as there are shards. Then it is the turn of the one that got least.
 */

import { randomInt } from "node:crypto";

/** A turn ends when its shard got so much, as much as is committed at once. */
const TURN_BYTES = 32 * 1024 * 1024;

/** It ends after so long too, as often as commits are due: a trickle of documents is spread as well. */
const TURN_MS = 5_000;

/** Indices of which turns are remembered; beyond it all start again. */
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

/** Place of the smallest number, the first one after `after` where several are. */
function smallestOf(numbers: Float64Array, after: number): number {
  let best = (after + 1) % numbers.length;
  for (let step = 2; step <= numbers.length; step++) {
    const place = (after + step) % numbers.length;
    if (numbers[place]! < numbers[best]!) best = place;
  }
  return best;
}
