/** Input `stdin`: lines of standard input. The agent ends when it ends, all is acknowledged and nothing else is read. */

import { defineInput, type Input, type InputContext, type InputState } from "#agent/contract/input.ts";
import { Framer } from "#agent/inputs/streams/framing.ts";
import { StreamSink, spoolProperties } from "#agent/inputs/streams/stream-sink.ts";
import { Type } from "#proto/kit/schema.ts";
import { parseSize } from "#proto/kit/units.ts";

const schema = Type.Object(spoolProperties, { additionalProperties: false });

export const stdinInput = defineInput({
  type: "stdin",
  summary:
    "Reads lines from standard input; the last one needs no line end. At its end the agent waits until all are acknowledged. Unsent lines are lost if the agent is killed.",
  heldSlots: 1,
  schema,
  validate: (settings) => void parseSize(settings["spool.max_bytes"]),
  create: (settings, context) =>
    new StdinInput(context, process.stdin, parseSize(settings["spool.max_bytes"])),
});

/** Reads any stream, for tests. */
export class StdinInput implements Input {
  readonly #context: InputContext;
  readonly #stream: NodeJS.ReadableStream;
  readonly #sink: StreamSink;
  #stopped = false;
  #task: Promise<void> | undefined;

  constructor(context: InputContext, stream: NodeJS.ReadableStream, spoolBytes = 0) {
    this.#context = context;
    this.#stream = stream;
    this.#sink = new StreamSink("stdin", context, { spoolBytes });
  }

  start(): Promise<void> {
    this.#sink.open();
    this.#task = this.#run();
    return Promise.resolve();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#sink.close();
    (this.#stream as Partial<{ destroy(): void }>).destroy?.();
    await this.#task;
    await this.#sink.stop();
  }

  preserve(): void {
    this.#sink.preserve();
  }

  hasUnacknowledged(): boolean {
    return this.#sink.hasUnacknowledged;
  }

  state(): InputState {
    return this.#sink.state();
  }

  async #run(): Promise<void> {
    const framer = new Framer({ maxBytes: this.#sink.maxMessageBytes, octetCounting: false });
    const none = new Uint8Array();
    try {
      // The loop takes the next chunk only when this one is in a batch: the sender waits.
      for await (const chunk of this.#stream) {
        for (const message of framer.push(Buffer.from(chunk))) await this.#sink.put(message, none);
      }
      for (const message of framer.end()) await this.#sink.put(message, none);
    } catch (error) {
      if (!this.#stopped) this.#sink.fail("standard input can't be read", error);
    }
    await this.#sink.drained();
    if (this.#stopped) return;
    this.#sink.close();
    this.#context.onEnd();
  }
}
