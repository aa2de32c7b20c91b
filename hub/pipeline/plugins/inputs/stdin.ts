/** Input stdin: lines of the hub's standard input. */

import { randomUUID } from "node:crypto";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import type { Codec } from "#hub/pipeline/plugins/codec.ts";
import { codecOption } from "#hub/pipeline/plugins/codec.ts";
import { defineInput, type InputContext } from "#hub/pipeline/plugins/input.ts";
import type { Component } from "#proto/kit/lifecycle.ts";
import { optional, options, text } from "#proto/kit/options.ts";

/** Lines in flight to the log; they share its messages. */
const MAX_PENDING = 1_000;

export const stdinInput = defineInput({
  name: "stdin",
  description: "reads lines of the hub's standard input",
  options: options({
    codec: codecOption("codec that reads lines", "line"),
    id: optional(text("name of this input in metrics and messages")),
  }),
  create: ({ codec }, context) => {
    const makeCodec = context.codec(codec);
    return (running) => new LineInput(running, makeCodec(), process.stdin);
  },
});

class LineInput implements Component {
  readonly #context: InputContext;
  readonly #codec: Codec;
  readonly #stream: Readable;
  readonly #stopping = new AbortController();
  #running: Promise<void> = Promise.resolve();

  constructor(context: InputContext, codec: Codec, stream: Readable) {
    this.#context = context;
    this.#codec = codec;
    this.#stream = stream;
  }

  async start(): Promise<void> {
    this.#running = this.#run().catch((error: unknown) => {
      if (!this.#stopping.signal.aborted) this.#context.failing((error as Error).message);
    });
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#stream.pause();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { clock, open } = this.#context;
    const { signal } = this.#stopping;
    const channel = open({ key: randomUUID() });
    const pending: Promise<void>[] = [];
    const lines = createInterface({ input: this.#stream, crlfDelay: Number.POSITIVE_INFINITY, signal });
    for await (const line of lines) {
      const events = this.#codec.decode(Buffer.from(line), clock.now());
      const sent = channel.send(events.map((event) => ({ event })));
      // Awaited in its turn; until then a rejection has no handler.
      sent.catch(() => undefined);
      if (pending.push(sent) >= MAX_PENDING) await pending.shift();
    }
    await Promise.all(pending);
  }
}
