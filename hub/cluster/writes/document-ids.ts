/** Ids of documents that came without one. */

import { randomBytes, randomInt } from "node:crypto";
import { hashPair, mixedPair, shardOfHash } from "./routing.ts";

/** Bytes of an id: 6 of time, 6 of this process, 3 of a counter. */
const ID_BYTES = 15;
const TIME_BYTES = 6;
const COUNTER_BYTES = 3;
const COUNTER_AT = ID_BYTES - COUNTER_BYTES;

/** Characters of an id. */
export const ID_CHARACTERS = 20;

/** Characters before the counter, which has four. */
const HEAD_CHARACTERS = 16;

/** Counters are below this value. */
const COUNTERS = 2 ** (8 * COUNTER_BYTES);

/** RFC 4648, table 2. */
const DIGITS = Buffer.from("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_");

/** Pairs of digits in the form that the hash of an id takes, by their value. */
const PAIRS = Int32Array.from({ length: 64 * 64 }, (_, value) => pairAt(DIGITS, value >>> 6, value & 63));

/**
 * Makes ids that are unique across processes and rise with time: 20 characters base64url. The counter comes last and may
 * skip values, so that an id can be chosen which belongs to a wanted shard.
 */
export class DocumentIds {
  readonly #bytes = Buffer.concat([Buffer.alloc(TIME_BYTES), randomBytes(ID_BYTES - TIME_BYTES)]);
  /** Characters before the counter's, and their hash. */
  readonly #head = Buffer.alloc(HEAD_CHARACTERS);
  #headHash = 0;
  readonly #now: () => number;
  #lastMs = -1;
  #counter: number;

  /** `counter`: the one before the first, 0 to 2^24 - 1. */
  constructor(now: () => number, counter = randomInt(COUNTERS)) {
    this.#now = now;
    this.#counter = counter;
  }

  next(): string {
    return Buffer.from(this.take(1)).toString("latin1");
  }

  /** Returns `count` ids one after another, ID_CHARACTERS of ASCII each, all of shard `shard` of `shards`. */
  take(count: number, shard = 0, shards = 1): Uint8Array {
    const out = Buffer.allocUnsafe(count * ID_CHARACTERS);
    this.#setTime(Math.max(this.#lastMs, this.#now()));
    let headMs = -1;
    for (let at = 0; at < out.length; at += ID_CHARACTERS) {
      this.#count(shard, shards);
      if (headMs !== this.#lastMs) {
        // All following ids get the head; mostly it is set once.
        headMs = this.#lastMs;
        out.set(this.#head, at);
        for (let done = ID_CHARACTERS; at + done < out.length; done *= 2)
          out.copyWithin(at + done, at, at + done);
      }
      putCounter(out, at + HEAD_CHARACTERS, this.#counter);
    }
    return out;
  }

  /** Advances to the next counter that belongs to the shard. If no counters are left, uses the next millisecond in advance. */
  #count(shard: number, shards: number): void {
    for (;;) {
      this.#counter = nextCounter(this.#counter, this.#headHash, shard, shards);
      if (this.#counter > 0) return;
      this.#setTime(this.#lastMs + 1);
    }
  }

  #setTime(timeMs: number): void {
    if (timeMs === this.#lastMs) return;
    this.#lastMs = timeMs;
    this.#bytes.writeUIntBE(timeMs, 0, TIME_BYTES);
    this.#head.write(this.#bytes.toString("base64url", 0, COUNTER_AT), "latin1");
    this.#headHash = 0;
    for (let at = 0; at < HEAD_CHARACTERS; at += 2)
      this.#headHash = hashPair(this.#headHash, pairAt(this.#head, at, at + 1));
  }
}

/** The first counter after `counter` whose id belongs to the shard; 0 for none. `headHash`: of the characters before it. */
function nextCounter(counter: number, headHash: number, shard: number, shards: number): number {
  if (shards === 1) return (counter + 1) % COUNTERS;
  for (let next = counter + 1; next < COUNTERS; next++) {
    const hash = hashPair(hashPair(headHash, PAIRS[next >>> 12]!), PAIRS[next & 0xfff]!);
    if (shardOfHash(hash, ID_CHARACTERS, shards) === shard) return next;
  }
  return 0;
}

function pairAt(characters: Uint8Array, first: number, second: number): number {
  return mixedPair(characters[first]!, characters[second]!);
}

function putCounter(out: Uint8Array, at: number, counter: number): void {
  out[at] = DIGITS[counter >>> 18]!;
  out[at + 1] = DIGITS[(counter >>> 12) & 63]!;
  out[at + 2] = DIGITS[(counter >>> 6) & 63]!;
  out[at + 3] = DIGITS[counter & 63]!;
}
