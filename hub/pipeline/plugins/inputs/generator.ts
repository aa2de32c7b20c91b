/** Input generator: generated events, for testing and measuring pipelines. */

import type { Codec } from "#hub/pipeline/plugins/codec.ts";
import { codecOption } from "#hub/pipeline/plugins/codec.ts";
import { defineInput, type InputContext, TaskInput } from "#hub/pipeline/plugins/input.ts";
import { type FieldReference, fieldReference } from "#proto/field-reference.ts";
import { list, number, oneOf, optional, options, text, withoutEffect } from "#proto/kit/options.ts";
import { Type } from "#proto/kit/schema.ts";

/** Events sent at a time. */
const BATCH = 125;

export const generatorInput = defineInput({
  name: "generator",
  description: "generates events from given lines",
  isShared: true,
  options: options({
    message: text("the line of each event", "Hello world!"),
    lines: optional(list("lines to repeat in turn, instead of message")),
    count: number("number of repetitions; 0: unlimited", 0),
    codec: codecOption("codec that reads lines", "plain"),
    ecs_compatibility: oneOf(
      ["disabled", "v1", "v8"],
      "field of the repetition's number, from 0: disabled sequence, v1 and v8 event.sequence",
      "v8",
    ),
    threads: withoutEffect("one thread is enough", Type.Integer({ default: 1 })),
    id: optional(text("name of this input in metrics and messages")),
  }),
  create({ message, lines, count, codec, ecs_compatibility }, context) {
    const makeCodec = context.codec(codec);
    const sequence = fieldReference(ecs_compatibility === "disabled" ? "sequence" : "[event][sequence]");
    const texts = lines === undefined || lines.length === 0 ? [message] : lines;
    return (running) => {
      const generator = new Generator(running, makeCodec(), { lines: texts, count, sequence });
      return new TaskInput(running, (signal) => generator.run(signal));
    };
  },
});

class Generator {
  readonly #context: InputContext;
  readonly #codec: Codec;
  readonly #lines: readonly Uint8Array[];
  readonly #count: number;
  readonly #sequence: FieldReference;

  constructor(
    context: InputContext,
    codec: Codec,
    { lines, count, sequence }: { lines: readonly string[]; count: number; sequence: FieldReference },
  ) {
    this.#context = context;
    this.#codec = codec;
    this.#lines = lines.map((line) => Buffer.from(line));
    this.#count = count;
    this.#sequence = sequence;
  }

  /** A generator that is counted makes its events once, whatever restarts. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, state, open } = this.#context;
    const total = this.#count === 0 ? Number.POSITIVE_INFINITY : this.#count * this.#lines.length;
    const channel = open({ key: "lines" });
    let next = Number((await state.get("next")) ?? 0);
    while (next < total && !signal.aborted) {
      const end = Math.min(next + BATCH, total);
      const events = [];
      for (; next < end; next++) {
        const line = this.#lines[next % this.#lines.length]!;
        for (const event of this.#codec.decode(line, clock.now())) {
          event.trySet(this.#sequence, Math.floor(next / this.#lines.length));
          events.push({ event, offset: next });
        }
      }
      await channel.send(events);
      await state.put("next", next);
    }
  }
}
