/** Output rabbitmq: messages to an exchange, each confirmed by the server. */

import { once } from "node:events";
import type { ChannelModel, ConfirmChannel, Message, Options as PublishOptions } from "amqplib";
import type { Static } from "typebox";
import {
  closeRabbitmq,
  connectRabbitmq,
  RABBITMQ_OPTIONS,
  rabbitmqError,
} from "#hub/pipeline/connections/rabbitmq.ts";
import { codecOption } from "#hub/pipeline/plugins/codec.ts";
import {
  defineOutput,
  type OutputRecord,
  type OutputWriter,
  type WriteRest,
  type WriterContext,
} from "#hub/pipeline/plugins/output.ts";
import { type Event, isHash, valueText } from "#proto/event.ts";
import { compileFormat } from "#proto/format.ts";
import { AppError } from "#proto/kit/errors.ts";
import { anyTable, flag, options, text } from "#proto/kit/options.ts";

const OPTIONS = options({
  ...RABBITMQ_OPTIONS,
  exchange: text("exchange to which messages are published; it is declared unless passive is set"),
  exchange_type: text("type of the exchange: fanout, direct, topic, headers …"),
  key: text("routing key, a format", "logstash"),
  durable: flag("the exchange survives a restart of the server", true),
  persistent: flag("the server stores messages on disk", true),
  mandatory: flag("a message that no queue accepts becomes a dead letter; false: it is lost", false),
  message_properties: anyTable(
    "properties of each message, values as formats: content_type, priority, expiration, type, app_id, headers …",
  ),
  codec: codecOption("codec that writes events", "json"),
});

type Options = Static<typeof OPTIONS>;

/** Properties by the names that options use. */
const PROPERTIES: Readonly<Record<string, keyof PublishOptions.Publish>> = {
  app_id: "appId",
  content_encoding: "contentEncoding",
  content_type: "contentType",
  correlation_id: "correlationId",
  expiration: "expiration",
  headers: "headers",
  message_id: "messageId",
  priority: "priority",
  reply_to: "replyTo",
  timestamp: "timestamp",
  type: "type",
  user_id: "userId",
};

const NUMBERS: ReadonlySet<string> = new Set(["priority", "timestamp"]);

/** Where a record goes, with the properties that vary with the event. */
interface Target {
  readonly key: string;
  readonly properties: Record<string, unknown>;
}

export const rabbitmqOutput = defineOutput({
  name: "rabbitmq",
  description: "publishes events to a RabbitMQ exchange, each confirmed by the server",
  options: OPTIONS,
  create({ key, codec, message_properties }, context) {
    const routingKey = compileFormat(key);
    const encoder = context.codec(codec);
    const unknown = Object.keys(message_properties).find(
      (name) => PROPERTIES[name.replaceAll("-", "_")] === undefined,
    );
    if (unknown !== undefined)
      context.report(
        "error",
        "message_properties",
        `messages have no property "${unknown}"`,
        `properties are ${Object.keys(PROPERTIES).join(", ")}`,
      );
    const properties = Object.entries(message_properties).map(
      ([name, value]) => [PROPERTIES[name.replaceAll("-", "_")]!, compileProperty(name, value)] as const,
    );
    return {
      shape(event) {
        const target: Target = {
          key: routingKey(event),
          properties: Object.fromEntries(properties.map(([name, write]) => [name, write(event)])),
        };
        if (Buffer.byteLength(target.key) > 255) return { refused: "a routing key has 255 bytes at most" };
        return { target: JSON.stringify(target), body: encoder.encode(event) };
      },
    };
  },
  writer: (values, context) => new RabbitmqWriter(values, context),
});

function compileProperty(name: string, value: unknown): (event: Event) => unknown {
  if (isHash(value)) {
    const members = Object.entries(value).map(([key, each]) => [key, compileProperty("", each)] as const);
    return (event) => Object.fromEntries(members.map(([key, write]) => [key, write(event)]));
  }
  if (typeof value !== "string") return () => value;
  const write = compileFormat(value);
  return NUMBERS.has(name) ? (event) => Number(write(event)) || 0 : write;
}

class RabbitmqWriter implements OutputWriter {
  readonly #values: Options;
  readonly #context: WriterContext;
  #open: { readonly connection: ChannelModel; readonly channel: ConfirmChannel } | undefined;
  #attempt = 0;
  /** Ids of messages that no queue took. */
  readonly #returned = new Set<string>();

  constructor(values: Options, context: WriterContext) {
    this.#values = values;
    this.#context = context;
  }

  async write(records: readonly OutputRecord[], signal: AbortSignal): Promise<WriteRest | undefined> {
    const { connection, channel } = await this.#connected();
    const ended = Promise.withResolvers<never>();
    ended.promise.catch(() => undefined);
    const fail = (error?: Error): void => ended.reject(error ?? new Error("the connection ended"));
    const abort = (): void => ended.reject(new AppError("cancelled", "the output is stopped"));
    connection.on("close", fail);
    channel.on("error", fail);
    signal.addEventListener("abort", abort, { once: true });
    this.#returned.clear();
    try {
      await Promise.race([this.#publish(channel, records), ended.promise]);
    } catch (error) {
      await this.stop();
      throw rabbitmqError(error, "doesn't accept events");
    } finally {
      connection.off("close", fail);
      channel.off("error", fail);
      signal.removeEventListener("abort", abort);
    }
    const refused = [...records.entries()].filter(([, record]) => this.#returned.has(messageId(record)));
    return { refused: refused.map(([place]) => ({ place, reason: "no queue takes the message" })) };
  }

  async stop(): Promise<void> {
    const open = this.#open;
    this.#open = undefined;
    if (open !== undefined) await closeRabbitmq(open.connection, open.channel);
  }

  async #publish(channel: ConfirmChannel, records: readonly OutputRecord[]): Promise<void> {
    const { exchange, persistent, mandatory } = this.#values;
    for (const { target, body, id } of records) {
      const { key, properties } = JSON.parse(target) as Target;
      const hasCapacity = channel.publish(exchange, key, Buffer.from(body), {
        persistent,
        mandatory,
        // Readers recognise by it what came before.
        messageId: id,
        ...properties,
      });
      if (!hasCapacity) await once(channel, "drain");
    }
    await channel.waitForConfirms();
  }

  async #connected(): Promise<{ connection: ChannelModel; channel: ConfirmChannel }> {
    if (this.#open !== undefined) return this.#open;
    const connection = await connectRabbitmq(this.#values, this.#attempt++, this.#context.checkTarget);
    try {
      const channel = await connection.createConfirmChannel();
      channel.on("return", ({ properties }: Message) => this.#returned.add(String(properties.messageId)));
      // Deliveries in progress fail with it too.
      channel.on("error", () => this.#forget(connection));
      connection.on("close", () => this.#forget(connection));
      const { exchange, exchange_type, durable, passive } = this.#values;
      if (passive) await channel.checkExchange(exchange);
      else if (exchange !== "")
        await channel.assertExchange(exchange, exchange_type, { durable, arguments: this.#values.arguments });
      this.#open = { connection, channel };
      return this.#open;
    } catch (error) {
      await closeRabbitmq(connection);
      throw rabbitmqError(error, "can't be used as the options say");
    }
  }

  #forget(connection: ChannelModel): void {
    if (this.#open?.connection === connection) this.#open = undefined;
  }
}

function messageId({ id, target }: OutputRecord): string {
  const { messageId: own = id } = (JSON.parse(target) as Target).properties;
  return valueText(own);
}
