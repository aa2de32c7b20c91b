/** Output nats: events to a subject, confirmed where a stream takes them. */

import { jetstream } from "@nats-io/jetstream";
import { connect, headers, type NatsConnection } from "@nats-io/transport-node";
import { compileFormat } from "#proto/format.ts";
import { AppError } from "#proto/kit/errors.ts";
import { codecOption, flag, list, optional, options, text } from "../filters/option-types.ts";
import { defineOutput, type OutputRecord, type OutputWriter, type WriterContext } from "./output.ts";

/** A subject of one or more words without wildcards. */
const SUBJECT = /^[^\s.*>]+(?:\.[^\s.*>]+)*$/;

/** Publications that wait for their confirmation. */
const IN_FLIGHT = 256;

const OPTIONS = options({
  servers: list("addresses of servers", ["127.0.0.1:4222"]),
  subject: text("subject, a format"),
  jetstream: flag("waits for a stream's confirmation; false: whoever listens gets it", true),
  user: optional(text("name")),
  password: optional(text("password")),
  token: optional(text("token")),
  codec: codecOption("how an event is written", "json"),
});

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
          : { refused: `"${name.slice(0, 200)}" is no subject` };
      },
    };
  },
  writer(values, context) {
    return new NatsWriter(values, context);
  },
});

class NatsWriter implements OutputWriter {
  readonly #values: {
    readonly servers: readonly string[];
    readonly jetstream: boolean;
    readonly user?: string;
    readonly password?: string;
    readonly token?: string;
  };
  readonly #context: WriterContext;
  #connection: NatsConnection | undefined;

  constructor(
    values: {
      servers: string[];
      jetstream: boolean;
      user?: string;
      password?: string;
      token?: string;
    },
    context: WriterContext,
  ) {
    this.#values = values;
    this.#context = context;
  }

  async write(records: readonly OutputRecord[], signal: AbortSignal): Promise<undefined> {
    const connection = await this.#connected();
    try {
      if (!this.#values.jetstream) {
        for (const { target, body } of records) connection.publish(target, body);
        await connection.flush();
        return;
      }
      const stream = jetstream(connection);
      for (let at = 0; at < records.length; at += IN_FLIGHT) {
        if (signal.aborted) throw new AppError("cancelled", "the output is stopped");
        const some = records.slice(at, at + IN_FLIGHT);
        await Promise.all(
          some.map(({ id, target, body }) => stream.publish(target, body, { msgID: id, headers: headers() })),
        );
      }
    } catch (error) {
      if (error instanceof AppError) throw error;
      throw new AppError("unavailable", `NATS doesn't take events: ${(error as Error).message}`, {
        cause: error,
      });
    }
  }

  async stop(): Promise<void> {
    const connection = this.#connection;
    this.#connection = undefined;
    await connection?.close();
  }

  async #connected(): Promise<NatsConnection> {
    if (this.#connection !== undefined && !this.#connection.isClosed()) return this.#connection;
    const { servers, user, password, token } = this.#values;
    for (const server of servers)
      this.#context.checkTarget(server.replace(/^\w+:\/\//, "").replace(/:\d+$/, ""));
    try {
      this.#connection = await connect({
        servers: [...servers],
        timeout: 5_000,
        ...(user !== undefined && { user, pass: password ?? "" }),
        ...(token !== undefined && { token }),
      });
    } catch (error) {
      throw new AppError("unavailable", `NATS can't be reached: ${(error as Error).message}`, {
        cause: error,
      });
    }
    return this.#connection;
  }
}
