/** Input heartbeat: an event at an interval, to verify that events arrive. */

import { randomUUID } from "node:crypto";
import type { Static } from "typebox";
import { defineInput, type InputContext, TaskInput } from "#hub/pipeline/plugins/input.ts";
import { Event } from "#proto/event.ts";
import { oneOf, options, text, withoutEffect } from "#proto/kit/options.ts";
import { Type } from "#proto/kit/schema.ts";

const OPTIONS = options({
  message: text("the event's message; epoch: the time, sequence: a number, under clock", "ok"),
  interval: Type.Number({ default: 60, exclusiveMinimum: 0, description: "interval between events, s" }),
  count: Type.Integer({ default: -1, description: "total number of events; -1: unlimited" }),
  sequence: oneOf(["none", "epoch", "sequence"], "value of the field clock", "none"),
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
    const { message, sequence } = this.#options;
    const nowMs = this.#context.clock.now();
    const mode = sequence === "none" && (message === "epoch" || message === "sequence") ? message : sequence;
    if (mode === "epoch") return new Event({ clock: Math.floor(nowMs / 1000) }, nowMs);
    if (mode === "sequence") return new Event({ clock: number }, nowMs);
    return new Event({ message }, nowMs);
  }
}
