/** Input heartbeat: an event at an interval, to verify that events arrive. */

import { randomUUID } from "node:crypto";
import type { Static } from "typebox";
import { defineInput, type InputContext, TaskInput } from "#hub/pipeline/plugins/input.ts";
import { Event } from "#proto/event.ts";
import { oneOf, options, text, withoutEffect } from "#proto/kit/options.ts";
import { Type } from "#proto/kit/schema.ts";

const OPTIONS = options({
  message: text(
    "the event's message; without ECS, and unless sequence is set, the texts epoch and sequence act as values of sequence",
    "ok",
  ),
  interval: Type.Number({ default: 60, exclusiveMinimum: 0, description: "interval between events, s" }),
  count: Type.Integer({ default: -1, description: "total number of events; -1: unlimited" }),
  sequence: oneOf(
    ["none", "epoch", "sequence"],
    "a further field: epoch is the time in seconds, sequence the event's number, from 1",
    "none",
  ),
  ecs_compatibility: oneOf(
    ["disabled", "v1", "v8"],
    "field of the sequence: disabled clock, v1 and v8 event.sequence",
    "disabled",
  ),
  threads: withoutEffect("one thread is enough", Type.Integer({ default: 1 })),
});

type Options = Static<typeof OPTIONS>;

export const heartbeatInput = defineInput({
  name: "heartbeat",
  description: "generates an event at an interval",
  isShared: true,
  options: OPTIONS,
  create: (values) => (context) => {
    const heartbeat = new Heartbeat(context, values);
    return new TaskInput(context, (signal) => heartbeat.run(signal));
  },
});

class Heartbeat {
  readonly #context: InputContext;
  readonly #options: Options;

  constructor(context: InputContext, values: Options) {
    this.#context = context;
    this.#options = values;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock, open } = this.#context;
    const { interval, count } = this.#options;
    const channel = open({ key: randomUUID() });
    for (let number = 0; (count < 0 || number < count) && !signal.aborted; number++) {
      await channel.send([{ event: this.#event(number) }]);
      await clock.sleep(interval * 1000, signal).catch(() => undefined);
    }
  }

  #event(number: number): Event {
    const { message, sequence, ecs_compatibility } = this.#options;
    const nowMs = this.#context.clock.now();
    const isLegacy = ecs_compatibility === "disabled";
    const value = (mode: "epoch" | "sequence"): number =>
      mode === "epoch" ? Math.floor(nowMs / 1000) : number + 1;
    if (sequence !== "none")
      return new Event(
        { message, ...(isLegacy ? { clock: value(sequence) } : { event: { sequence: value(sequence) } }) },
        nowMs,
      );
    if (isLegacy && (message === "epoch" || message === "sequence"))
      return new Event({ clock: value(message) }, nowMs);
    return new Event({ message }, nowMs);
  }
}
