/** Output nats: events to a subject, confirmed if a stream stores them. */

import type { NatsConnection } from "@nats-io/transport-node";
import type { Static } from "typebox";
import { connectNats, NATS_OPTIONS, natsError } from "#hub/pipeline/connections/nats.ts";
import { codecOption } from "#hub/pipeline/plugins/codec.ts";
import {
  defineOutput,
  type OutputRecord,
  type OutputWriter,
  type WriterContext,
} from "#hub/pipeline/plugins/output.ts";
import { compileFormat } from "#proto/format.ts";
import { AppError } from "#proto/kit/errors.ts";
import { flag, options, text } from "#proto/kit/options.ts";

/** A subject of one or more words without wildcards. */
const SUBJECT = /^[^\s.*>]+(?:\.[^\s.*>]+)*$/;

/** Publications that wait for their confirmation. */
const IN_FLIGHT = 256;

const OPTIONS = options({
  ...NATS_OPTIONS,
  subject: text("subject, a format"),
  jetstream: flag(
    "waits for a stream's confirmation; false: publishes without one, and an event that nobody receives is lost",
    true,
  ),
  codec: codecOption("codec that writes events", "json"),
});

type Options = Static<typeof OPTIONS>;

export const natsOutput = defineOutput({
  name: "nats",
  description: "publishes events to NATS",
  options: OPTIONS,
  create({ subject, codec }, context) {
    const target = compileFormat(subject);
    const encoder = context.codec(codec);
    return {
      shape(event) {
        const name = target(event);
        return SUBJECT.test(name)
          ? { target: name, body: encoder.encode(event) }
          : { refused: `"${name.slice(0, 200)}" isn't a subject` };
      },
    };
  },
  writer(values, context) {
    return new NatsWriter(values, context);
  },
});

class NatsWriter implements OutputWriter {
  readonly #values: Options;
  readonly #context: WriterContext;
  #connection: NatsConnection | undefined;

  constructor(values: Options, context: WriterContext) {
    this.#values = values;
    this.#context = context;
  }

  async write(records: readonly OutputRecord[], signal: AbortSignal): Promise<undefined> {
    const ended = Promise.withResolvers<never>();
    ended.promise.catch(() => undefined);
    const abort = (): void => ended.reject(new AppError("cancelled", "the output is stopped"));
    signal.addEventListener("abort", abort, { once: true });
    try {
      const connection = await this.#connected();
      // While the server is unreachable the client waits for it without end.
      await Promise.race([this.#publish(connection, records), ended.promise]);
    } catch (error) {
      throw natsError(error, "doesn't accept events");
    } finally {
      signal.removeEventListener("abort", abort);
    }
  }

  async stop(): Promise<void> {
    const connection = this.#connection;
    this.#connection = undefined;
    await connection?.close();
  }

  async #publish(connection: NatsConnection, records: readonly OutputRecord[]): Promise<void> {
    if (!this.#values.jetstream) {
      for (const { target, body } of records) connection.publish(target, body);
      await connection.flush();
      return;
    }
    const { jetstream } = await import("@nats-io/jetstream");
    const stream = jetstream(connection);
    for (let at = 0; at < records.length; at += IN_FLIGHT) {
      const some = records.slice(at, at + IN_FLIGHT);
      await Promise.all(some.map(({ id, target, body }) => stream.publish(target, body, { msgID: id })));
    }
  }

  async #connected(): Promise<NatsConnection> {
    if (this.#connection !== undefined && !this.#connection.isClosed()) return this.#connection;
    this.#connection = await connectNats(
      this.#values,
      `tailrace output ${this.#context.id}`,
      this.#context.checkTarget,
    );
    return this.#connection;
  }
}
