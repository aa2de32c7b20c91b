/**
 * Stores at which offset of which channel each chunk was sent, across restarts, so that a repeated chunk is recognised.
 */

import { createHash } from "node:crypto";
import type { InputState } from "#hub/pipeline/plugins/input.ts";
import { isHash } from "#proto/event.ts";

/** Chunks that are remembered. A sender repeats what it sent within seconds; at 100 chunks a second these are the last 100 s. */
export const CHUNKS_KEPT = 10_000;

/** Where the events of a chunk begin: the log drops offsets of a channel that it has already. */
export interface ChunkPosition {
  /** Key of the channel's source. */
  readonly key: string;
  readonly offset: number;
}

interface StoredPosition extends ChunkPosition {
  readonly number: number;
  readonly id: string;
}

/**
 * Stores a position before the chunk is sent. After a crash in between, the repeated chunk is sent at the same
 * position, where the log either has its events and drops them, or takes them.
 */
export class ChunkPositions {
  readonly #state: InputState;
  readonly #kept: number;
  /** By id, in the order of their numbers. */
  readonly #earlier = new Map<string, ChunkPosition>();
  #next = 0;

  constructor(state: InputState, kept = CHUNKS_KEPT) {
    this.#state = state;
    this.#kept = kept;
  }

  /** Reads the positions that were stored before this start; to be called once, before the others. */
  async load(): Promise<void> {
    const stored: StoredPosition[] = [];
    for await (const [key, value] of this.#state.entries())
      if (key.startsWith(SLOT) && isStoredPosition(value)) stored.push(value);
    stored.sort((a, b) => a.number - b.number);
    for (const { id, key, offset } of stored.slice(-this.#kept)) this.#earlier.set(id, { key, offset });
    this.#next = (stored.at(-1)?.number ?? -1) + 1;
  }

  /**
   * Returns the position of a chunk that was sent before this start; undefined: it is none of the chunks remembered.
   */
  earlier(id: string): ChunkPosition | undefined {
    return this.#earlier.get(id);
  }

  /** Resolves when the position of a new chunk is on disk. The oldest chunk is forgotten for it beyond the limit. */
  async store(id: string, { key, offset }: ChunkPosition): Promise<void> {
    const number = this.#next++;
    const stored: StoredPosition = { number, id, key, offset };
    const [oldest] = this.#earlier.keys();
    if (oldest !== undefined && number >= this.#kept) this.#earlier.delete(oldest);
    await this.#state.put(`${SLOT}${number % this.#kept}`, stored);
  }
}

const SLOT = "chunk/";

function isStoredPosition(value: unknown): value is StoredPosition {
  if (!isHash(value)) return false;
  const { number, id, key, offset } = value;
  return (
    Number.isSafeInteger(number) &&
    typeof id === "string" &&
    typeof key === "string" &&
    Number.isSafeInteger(offset)
  );
}

/** Returns the id under which a chunk is remembered. Fluent Bit's chunk ids are sums of the entries alone, so the tag is part of it. */
export function chunkId(tag: string, chunk: string): string {
  return createHash("sha256")
    .update(JSON.stringify([tag, chunk]))
    .digest("base64url");
}
