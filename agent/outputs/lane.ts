/** The batches of one source, in order, until the log has acknowledged them. */

import type { Slot } from "#agent/contract/slot-pool.ts";
import { Backoff } from "#proto/kit/retry.ts";

/** Waits of an output between its attempts: short at first, since most failures are a restart that takes no second. */
export const OUTPUT_RETRY = { firstMs: 50, capMs: 5_000 };
/** Waits of a lane are shorter: one batch is all that it sends, and each wait adds to the pause that a new leader of the log ends. */
const LANE_RETRY = { firstMs: 50, capMs: 2_000 };

export class Lane {
  readonly subject: string;
  readonly pending: Pending[] = [];
  readonly backoff = new Backoff(LANE_RETRY);
  /** True after a failure, until everything pending is acknowledged: one message at a time then. */
  recovering = false;
  /** True where a batch was refused since, and not only late. */
  refused = false;
  retryAtMs = Number.POSITIVE_INFINITY;

  constructor(subject: string) {
    this.subject = subject;
  }
}

/** A batch given to the publisher. */
export interface Sendable {
  readonly slot: Slot;
  /** Bytes of log data in it. */
  readonly bodyBytes: number;
  /** Returns the message for an epoch and a number; may be called again with others. */
  readonly encode: (epoch: number, number: number) => Buffer;
  /** Called once, when the batch is acknowledged. */
  readonly settle: () => void;
}

/** A batch in flight. */
export interface Pending {
  readonly sendable: Sendable;
  readonly lane: Lane;
  number: number;
  messageId: string;
  message: Buffer;
  attempts: number;
  sentAtMs: number;
  /** Highest sequence known before the first attempt: the batch's own must be higher. */
  floor: number;
}
