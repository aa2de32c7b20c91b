/** Input pipeline: events that another pipeline hands over. */

import {
  defineInput,
  type FedRecord,
  type InputChannel,
  type InputContext,
} from "#hub/pipeline/plugins/input.ts";
import { parseEventObject } from "#proto/codec/json.ts";
import { decodeText } from "#proto/codec/plain.ts";
import { Event } from "#proto/event.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import type { Component } from "#proto/kit/lifecycle.ts";
import { options, text } from "#proto/kit/options.ts";

/** Ways into the log kept open, one per source; the one untouched longest is closed. */
const MAX_CHANNELS = 1_000;

export const pipelineInput = defineInput({
  name: "pipeline",
  description: "receives events that an output pipeline of another pipeline sends to its address",
  options: options({ address: text("name under which other pipelines find this input") }),
  create:
    ({ address }) =>
    (context) =>
      new PipelineInput(context, address),
});

class PipelineInput implements Component {
  readonly #context: InputContext;
  readonly #address: string;
  readonly #channels = new Map<string, InputChannel>();

  constructor(context: InputContext, address: string) {
    this.#context = context;
    this.#address = address;
  }

  async start(): Promise<void> {
    this.#context.receive(this.#address, (records) => this.#take(records));
  }

  async stop(): Promise<void> {
    for (const channel of this.#channels.values()) channel.close();
    this.#channels.clear();
  }

  async #take(records: readonly FedRecord[]): Promise<void> {
    const bySource = Map.groupBy(records, ({ sourceKey }) => sourceKey);
    await Promise.all(
      [...bySource].map(([sourceKey, ofSource]) =>
        this.#channel(sourceKey).send(
          ofSource.map(({ place, body, timeMs }) => {
            const event = new Event(fieldsOf(body), timeMs);
            return sourceKey === "" ? { event } : { event, offset: place };
          }),
        ),
      ),
    );
  }

  #channel(sourceKey: string): InputChannel {
    const known = this.#channels.get(sourceKey);
    this.#channels.delete(sourceKey);
    const channel = known ?? this.#context.open({ key: sourceKey === "" ? "other" : sourceKey });
    this.#channels.set(sourceKey, channel);
    const [oldest] = this.#channels;
    if (this.#channels.size > MAX_CHANNELS && oldest !== undefined) {
      this.#channels.delete(oldest[0]);
      oldest[1].close();
    }
    return channel;
  }
}

function fieldsOf(body: Uint8Array): JsonObject {
  const text = decodeText(body);
  return parseEventObject(text) ?? { message: text };
}
