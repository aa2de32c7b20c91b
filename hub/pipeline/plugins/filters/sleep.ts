/** Filter sleep: holds the pipeline's thread, so that a pipeline can be tried at a slow pace. */

import { defineFilter } from "#hub/pipeline/plugins/filter.ts";
import { compileFormat } from "#proto/format.ts";
import { flag, options } from "#proto/kit/options.ts";
import { Type } from "#proto/kit/schema.ts";

/**
 * Longest wait, ms, for one event, and for all events together that come one after the other without a pause. The thread
 * serves all pipelines, and a batch that takes a minute is taken for one that doesn't end: its messages would be refused.
 */
const MAX_WAIT_MS = 1_000;

const seconds = (description: string) => Type.Union([Type.Number(), Type.String()], { description });

export const sleepFilter = defineFilter({
  name: "sleep",
  description:
    "blocks the thread for a time, at most 1 s in a row, and at most half of the time if events need more",
  options: options({
    time: Type.Optional(
      seconds("time to wait, s, or a format that gives it; with replay: how many times faster"),
    ),
    every: Type.Union([Type.Integer({ minimum: 1 }), Type.String()], {
      description: "the thread waits at every event whose number is a multiple of this",
      default: 1,
    }),
    replay: flag("waits for the difference between the times of two events", false),
  }),
  create({ time, every, replay }, { report }) {
    if (time === undefined && !replay)
      report("error", "time", "sleep needs a time", "write: time => 1, or replay => true");
    const format = compileFormat(String(time ?? 1));
    const period = Math.max(1, Number(every) || 1);
    let count = 0;
    let lastMs: number | undefined;
    return {
      apply(event) {
        const value = Number(format(event)) || 0;
        if (replay) {
          if (lastMs !== undefined) wait((event.timeMs - lastMs) / (value || 1));
          lastMs = event.timeMs;
        } else if (++count >= period) {
          count = 0;
          wait(value * 1000);
        }
        return true;
      },
    };
  },
});

/** What all filters of the thread may still wait, ms, which grows by the time in which none waits. */
let leftMs = MAX_WAIT_MS;
/** The last wait: its begin on the monotonic clock and its length, which is less where the thread was called out of it. */
let begunMs = 0;
let lengthMs = 0;

function wait(ms: number): void {
  if (!(ms > 0)) return;
  const nowMs = performance.now();
  const sinceMs = nowMs - begunMs;
  const waitedMs = Math.min(sinceMs, lengthMs);
  leftMs = Math.min(MAX_WAIT_MS, leftMs - waitedMs + (sinceMs - waitedMs));
  begunMs = nowMs;
  lengthMs = Math.min(ms, Math.max(0, leftMs));
  if (lengthMs > 0) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, lengthMs);
}
