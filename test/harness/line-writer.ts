/** Writes sequence-numbered lines into a file the way applications do: in bursts, sometimes half a line at a time. */

import { closeSync, openSync, writeSync } from "node:fs";
import { systemClock } from "#proto/kit/clock.ts";
import type { SequenceLog } from "./sequence-log.ts";

export interface BurstOptions {
  readonly log: SequenceLog;
  readonly path: string;
  /** Lines in all. */
  readonly lines: number;
  readonly random: () => number;
  /** Lines per second, roughly. */
  readonly rate: number;
  /** While it pends, the last tenth of the lines is held back, so that the writing outlasts it. */
  readonly until?: Promise<unknown>;
}

/** Time between two bursts, ms. */
const TICK_MS = 25;
/** One burst of so many ends in the middle of a line, which the next one completes. */
const TORN_EVERY = 4;

/** Appends lines until all are written. */
export async function writeInBursts({ log, path, lines, random, rate, until }: BurstOptions): Promise<void> {
  let outlasted = until === undefined;
  until?.finally(() => (outlasted = true)).catch(() => undefined);
  const mean = Math.max(1, (rate * TICK_MS) / 1000);
  const fd = openSync(path, "a");
  const start = log.count;
  let rest = "";
  try {
    while (log.count - start < lines || rest !== "") {
      const left = (outlasted ? lines : Math.floor(lines * 0.9)) - (log.count - start);
      const burst = Math.min(Math.max(left, 0), Math.ceil(random() * 2 * mean));
      const text = rest + log.lines(burst);
      const cut = burst > 0 && random() * TORN_EVERY < 1 ? text.length - 9 : text.length;
      writeSync(fd, text.slice(0, cut));
      rest = text.slice(cut);
      await systemClock.sleep(TICK_MS);
    }
  } finally {
    closeSync(fd);
  }
}
