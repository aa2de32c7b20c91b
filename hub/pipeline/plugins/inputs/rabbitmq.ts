/** Input rabbitmq: messages of a queue, acknowledged when the log has their events. */

import { randomUUID } from "node:crypto";
import type { Channel, ConsumeMessage } from "amqplib";
import type { Static } from "typebox";
import { Arrivals, REFUSED, sendReadable } from "#hub/pipeline/connections/arrivals.ts";
import { LostData } from "#hub/pipeline/connections/lost-data.ts";
import { closeRabbitmq, connectRabbitmq, RABBITMQ_OPTIONS } from "#hub/pipeline/connections/rabbitmq.ts";
import { type Attempt, Reconnecting } from "#hub/pipeline/connections/reconnecting.ts";
import { type Codec, codecOption, decodeWhole } from "#hub/pipeline/plugins/codec.ts";
import {
  defineInput,
  type InputChannel,
  type InputContext,
  type InputEvent,
} from "#hub/pipeline/plugins/input.ts";
import { isHash } from "#proto/event.ts";
import { fieldReference } from "#proto/field-reference.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { flag, oneOf, optional, options, text, withoutEffect } from "#proto/kit/options.ts";
import { Type } from "#proto/kit/schema.ts";

const HEADERS = fieldReference("[@metadata][rabbitmq_headers]");
const PROPERTIES = fieldReference("[@metadata][rabbitmq_properties]");
const PAYLOAD = fieldReference("[@metadata][rabbitmq_payload]");

const OPTIONS = options({
  ...RABBITMQ_OPTIONS,
  queue: text("queue to read; empty: a separate one for each connection", ""),
  durable: flag("the queue and the exchange survive a restart of the server", false),
  auto_delete: flag("the queue is deleted with its last reader", false),
  exclusive: flag("the queue is exclusive to this connection", false),
  exchange: optional(text("exchange to which the queue is bound")),
  exchange_type: optional(text("type of the exchange, which is then declared: fanout, direct, topic …")),
  key: text("key with which the queue is bound", "logstash"),
  prefetch_count: Type.Integer({
    default: 256,
    minimum: 1,
    maximum: 65_535,
    description: "maximum number of unacknowledged messages in flight",
  }),
  ack: flag("false: messages are acknowledged before they are in the log, and may be lost", true),
  subscription_retry_interval_seconds: withoutEffect("waits between attempts grow automatically"),
  threads: withoutEffect("one connection reads the queue"),
  metadata_enabled: oneOf(
    ["none", "basic", "extended", "false", "true"],
    "basic: headers and properties under [@metadata]; extended: the payload too",
    "none",
  ),
  codec: codecOption("codec that reads messages", "json"),
});

type Options = Static<typeof OPTIONS>;

export const rabbitmqInput = defineInput({
  name: "rabbitmq",
  description: "reads a RabbitMQ queue; a message is acknowledged once it is in the log",
  isShared: true,
  options: OPTIONS,
  create(values, context) {
    const makeCodec = context.codec(values.codec);
    return (running) => {
      const reader = new RabbitmqReader(running, values, makeCodec());
      return new Reconnecting({ context: running, read: (attempt) => reader.read(attempt) });
    };
  },
});

class RabbitmqReader {
  readonly #context: InputContext;
  readonly #values: Options;
  readonly #codec: Codec;

  constructor(context: InputContext, values: Options, codec: Codec) {
    this.#context = context;
    this.#values = values;
    this.#codec = codec;
  }

  /** Reads until the connection ends or the input stops; throws why it ended. */
  async read({ signal, tries, working }: Attempt): Promise<void> {
    const connection = await connectRabbitmq(this.#values, tries, this.#context.checkTarget);
    const ended = Promise.withResolvers<void>();
    ended.promise.catch(() => undefined);
    const fail = (error?: Error): void => ended.reject(error ?? new Error("RabbitMQ ended the connection"));
    connection.on("close", fail);
    signal.addEventListener("abort", () => ended.resolve(), { once: true });
    const events = this.#context.open({ key: randomUUID() });
    const lost = new LostData(this.#context, "messages");
    let channel: Channel | undefined;
    let arrivals: Arrivals<ConsumeMessage> | undefined;
    try {
      channel = await connection.createChannel();
      channel.on("error", fail);
      arrivals = new Arrivals<ConsumeMessage>(
        (messages) => this.#take(channel!, events, lost, messages),
        fail,
      );
      await this.#subscribe(channel, arrivals, fail);
      working();
      await ended.promise;
    } finally {
      await arrivals?.stop();
      await closeRabbitmq(connection, channel);
      events.close();
      await lost.stop();
    }
  }

  async #subscribe(
    channel: Channel,
    arrivals: Arrivals<ConsumeMessage>,
    fail: (error: Error) => void,
  ): Promise<void> {
    const queue = await this.#declare(channel);
    await channel.prefetch(this.#values.prefetch_count);
    const { exclusive } = this.#values;
    await channel.consume(
      queue,
      (message) => {
        if (message === null) fail(new Error(`RabbitMQ cancelled the consumer of the queue ${queue}`));
        else arrivals.add(message);
      },
      { exclusive },
    );
  }

  /** Makes the queue and its binding what the options say; returns the queue's name. */
  async #declare(channel: Channel): Promise<string> {
    const { queue, passive, durable, auto_delete, exclusive, exchange, exchange_type, key } = this.#values;
    const declared = passive
      ? await channel.checkQueue(queue)
      : await channel.assertQueue(queue, {
          durable,
          autoDelete: auto_delete,
          exclusive,
          arguments: this.#values.arguments,
        });
    if (exchange !== undefined && exchange !== "") {
      if (exchange_type !== undefined) await channel.assertExchange(exchange, exchange_type, { durable });
      await channel.bindQueue(declared.queue, exchange, key);
    }
    return declared.queue;
  }

  async #take(
    channel: Channel,
    events: InputChannel,
    lost: LostData,
    messages: readonly ConsumeMessage[],
  ): Promise<void> {
    const last = messages.at(-1)!;
    if (!this.#values.ack) channel.ack(last, true);
    const nowMs = this.#context.clock.now();
    await sendReadable(
      messages.map((message) => this.#decode(message, nowMs)),
      (some) => events.send(some.flat()),
      (error) => lost.add(REFUSED, error),
    );
    if (this.#values.ack) channel.ack(last, true);
  }

  #decode(message: ConsumeMessage, nowMs: number): InputEvent[] {
    const { metadata_enabled: level } = this.#values;
    const decoded = decodeWhole(this.#codec, message.content, nowMs);
    if (level === "none" || level === "false") return decoded.map((event) => ({ event }));
    const headers = plainTable(message.properties.headers ?? {});
    const properties = propertiesOf(message);
    return decoded.map((event) => {
      event.set(HEADERS, headers);
      event.set(PROPERTIES, properties);
      if (level === "extended") event.set(PAYLOAD, message.content.toString());
      return { event };
    });
  }
}

function propertiesOf({ fields, properties }: ConsumeMessage): JsonObject {
  return plainTable({
    "app-id": properties.appId,
    "cluster-id": properties.clusterId,
    "consumer-tag": fields.consumerTag,
    "content-encoding": properties.contentEncoding,
    "content-type": properties.contentType,
    "correlation-id": properties.correlationId,
    "delivery-mode": properties.deliveryMode,
    exchange: fields.exchange,
    expiration: properties.expiration,
    "message-id": properties.messageId,
    priority: properties.priority,
    redeliver: fields.redelivered,
    "reply-to": properties.replyTo,
    "routing-key": fields.routingKey,
    timestamp: properties.timestamp,
    type: properties.type,
    "user-id": properties.userId,
  });
}

/** Returns a table of AMQP as JSON has it: bytes as text, without members that aren't set. */
function plainTable(table: Readonly<Record<string, unknown>>): JsonObject {
  return Object.fromEntries(
    Object.entries(table)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [name, plainValue(value)]),
  );
}

function plainValue(value: unknown): unknown {
  if (Buffer.isBuffer(value)) return value.toString();
  if (Array.isArray(value)) return value.map(plainValue);
  return isHash(value) ? plainTable(value) : value;
}
