/**
 * The contract of an output.
 *
 * An output must settle each batch exactly once, and only when the receiver has stored it durably; until then it tries
 * indefinitely. It must own the batch's slot from `send` to the settlement. It must keep the order of a channel. It
 * must bound its memory by its slots.
 */

import type { Component } from "#proto/kit/lifecycle.ts";
import type { BlockFields, Body, SourceFields } from "#proto/raw-encoder.ts";
import type { Slot, SlotPool } from "./slot-pool.ts";

/** A part of a source that is ready to be sent; the body is in the slot's buffer. */
export interface Batch {
  readonly slot: Slot;
  readonly body: Body;
  readonly block: BlockFields;
  /** Called once, when the receiver has the batch. */
  readonly settle: () => void;
}

/** The channel of one source (one generation of a file, one stream) to the receiver, in order. */
export interface Channel {
  /** Bytes that an input leaves free before a body, so that nothing is copied. */
  readonly headroom: number;
  /** Bytes that an input leaves free after a body. */
  readonly tailroom: number;
  send(batch: Batch): void;
}

/** State of an output, for status. */
export interface OutputState {
  /** True while batches are delivered. */
  readonly healthy: boolean;
  /** One sentence if it isn't healthy. */
  readonly reason: string;
  /** True if batches wait because the hub's log is full. */
  readonly isLogFull?: boolean;
}

export interface Output extends Component {
  readonly slots: SlotPool;
  /** Longest body a message may carry, bytes. */
  readonly maxBodyBytes: number;
  /** True if the hub reports commits; otherwise acknowledged data counts as committed. */
  readonly confirmsCommits: boolean;
  /** Bytes of log data that the receiver has accepted since the start. */
  readonly ackedBytes: number;
  /** Opens the channel of a source. `fieldsJson`: {"fields": {}, "tags": []} of the input, or empty. */
  channel(source: SourceFields, fieldsJson: Uint8Array): Channel;
  /** Resolves when nothing is in flight any more or `signal` is aborted. */
  drained(signal: AbortSignal): Promise<void>;
  state(): OutputState;
}

/** Resolves when `tasks` is empty, where each ended task is removed and others are added meanwhile, or `signal` is aborted. */
export async function allEnded(tasks: ReadonlySet<Promise<unknown>>, signal: AbortSignal): Promise<void> {
  const aborted = new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
  while (tasks.size > 0 && !signal.aborted) await Promise.race([Promise.all(tasks), aborted]);
}
