/** Input dead_letter_queue: events that no output accepted, with the reason. */

import type { Static } from "typebox";
import {
  defineInput,
  type InputContext,
  type InputDeadLetter,
  TaskInput,
} from "#hub/pipeline/plugins/input.ts";
import { parseEventObject } from "#proto/codec/json.ts";
import { decodeText } from "#proto/codec/plain.ts";
import { Event, Timestamp } from "#proto/event.ts";
import { fieldReference } from "#proto/field-reference.ts";
import { flag, optional, options, text, withoutEffect } from "#proto/kit/options.ts";
import { Type } from "#proto/kit/schema.ts";

const POSITION = "sequence";
const REASON = fieldReference("[@metadata][dead_letter_queue]");

/** How often the position is stored, in letters: what is read once more is dropped by its offset. */
const STORE_EVERY = 100;

const OPTIONS = options({
  path: withoutEffect("dead letters are in the log"),
  pipeline_id: withoutEffect("dead letters of all pipelines are read"),
  sincedb_path: withoutEffect("the hub keeps the position in its state"),
  commit_offsets: flag(
    "continues after the last dead letter after a restart; false: starts from the beginning",
    true,
  ),
  clean_consumed: withoutEffect(
    "dead letters are removed by the log's limits",
    Type.Boolean({ default: false }),
  ),
  start_timestamp: optional(text("skips dead letters from before this time, ISO 8601")),
});

export const deadLetterQueueInput = defineInput({
  name: "dead_letter_queue",
  description: "reads events that no output accepted, with the reason under [@metadata][dead_letter_queue]",
  isShared: true,
  options: OPTIONS,
  create(values, { report }) {
    const fromMs =
      values.start_timestamp === undefined ? Number.NEGATIVE_INFINITY : Date.parse(values.start_timestamp);
    if (Number.isNaN(fromMs))
      report(
        "error",
        "start_timestamp",
        `"${values.start_timestamp}" isn't a time`,
        "write it as 2026-01-31T12:00:00Z",
      );
    return (context) => {
      const letters = new DeadLetterReader(context, values, fromMs);
      return new TaskInput(context, (signal) => letters.run(signal));
    };
  },
});

class DeadLetterReader {
  readonly #context: InputContext;
  readonly #values: Static<typeof OPTIONS>;
  readonly #fromMs: number;

  constructor(context: InputContext, values: Static<typeof OPTIONS>, fromMs: number) {
    this.#context = context;
    this.#values = values;
    this.#fromMs = fromMs;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { state, open, deadLetters } = this.#context;
    const stored = this.#values.commit_offsets ? await state.get(POSITION) : undefined;
    const channel = open({ key: "dead-letters" });
    let unstored = 0;
    let last = 0;
    try {
      for await (const letter of deadLetters(Number(stored ?? 0), signal)) {
        if (letter.timeMs >= this.#fromMs)
          await channel.send([{ event: eventOf(letter), offset: letter.sequence }]);
        last = letter.sequence;
        if (++unstored < STORE_EVERY) continue;
        await state.put(POSITION, last);
        unstored = 0;
      }
    } finally {
      if (unstored > 0) await state.put(POSITION, last).catch(() => undefined);
      channel.close();
    }
  }
}

function eventOf({ reason, source, timeMs, data }: InputDeadLetter): Event {
  const text = decodeText(data);
  const event = new Event(parseEventObject(text) ?? { message: text }, timeMs);
  event.set(REASON, { reason, plugin_type: source, plugin_id: source, entry_time: new Timestamp(timeMs) });
  return event;
}
