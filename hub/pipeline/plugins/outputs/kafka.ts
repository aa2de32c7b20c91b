/** Output kafka: messages to a topic, each acknowledged by its servers. */

import type { MessageToProduce, Producer } from "@platformatic/kafka";
import type { Static } from "typebox";
import {
  checkKafkaOptions,
  KAFKA_OPTIONS,
  kafkaClientOptions,
  kafkaError,
  loadKafka,
} from "#hub/pipeline/connections/kafka.ts";
import { codecOption } from "#hub/pipeline/plugins/codec.ts";
import {
  defineOutput,
  type OutputRecord,
  type OutputWriter,
  type WriteRest,
  type WriterContext,
} from "#hub/pipeline/plugins/output.ts";
import { compileFormat } from "#proto/format.ts";
import { AppError } from "#proto/kit/errors.ts";
import { oneOf, optional, options, table, text, withoutEffect } from "#proto/kit/options.ts";
import { Type } from "#proto/kit/schema.ts";

const ACKS = { "0": 0, "1": 1, all: -1 } as const;

/** Letters of a topic's name. */
const TOPIC = /^[A-Za-z0-9._-]{1,249}$/;

/** Answers that no further try changes, for a message by itself. */
const REFUSALS = ["MESSAGE_TOO_LARGE", "RECORD_LIST_TOO_LARGE", "INVALID_RECORD", "INVALID_TOPIC_EXCEPTION"];

/** Messages of one request to a partition: what brokers take of themselves, 1 MiB, less what frames them. Bytes. */
const BATCH_BYTES = 1_000_000;
const MESSAGE_OVERHEAD = 70;

const STRING_SERIALIZER = "org.apache.kafka.common.serialization.StringSerializer";

const OPTIONS = options({
  ...KAFKA_OPTIONS,
  topic_id: text("topic, a format"),
  message_key: optional(text("key, a format; messages with the same key keep their order")),
  message_headers: table("headers, values as formats"),
  acks: oneOf(
    ["0", "1", "all"],
    "replicas that must have a message before it counts as delivered; 0: none, it may be lost",
    "1",
  ),
  compression_type: oneOf(["none", "gzip", "snappy", "lz4", "zstd"], "compression of messages", "none"),
  max_request_size: Type.Integer({
    default: 1_048_576,
    minimum: 1,
    description: "maximum size of a message, bytes",
  }),
  key_serializer: withoutEffect("keys are text", Type.String({ default: STRING_SERIALIZER })),
  value_serializer: withoutEffect(
    "the codec writes the message",
    Type.String({ default: STRING_SERIALIZER }),
  ),
  batch_size: withoutEffect("the events of a batch are sent together"),
  buffer_memory: withoutEffect("the output's queue has a limit of its own"),
  linger_ms: withoutEffect("the events of a batch are sent together"),
  metadata_fetch_timeout_ms: withoutEffect("request_timeout_ms bounds each request"),
  partitioner: withoutEffect(
    "the key's hash chooses the partition, without a key partitions are chosen in turn",
  ),
  retries: withoutEffect("an event is retried until it is delivered"),
  codec: codecOption("codec that writes events", "plain"),
});

type Options = Static<typeof OPTIONS>;

/** Where a record goes, with what varies with the event. */
interface Target {
  readonly topic: string;
  readonly key?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export const kafkaOutput = defineOutput({
  name: "kafka",
  description: "publishes events to a Kafka topic, each acknowledged by the brokers",
  options: OPTIONS,
  create(values, context) {
    checkKafkaOptions(values, context.report);
    const topic = compileFormat(values.topic_id);
    const key = values.message_key === undefined ? undefined : compileFormat(values.message_key);
    const headers = Object.entries(values.message_headers).map(
      ([name, value]) => [name, compileFormat(value)] as const,
    );
    const encoder = context.codec(values.codec);
    return {
      shape(event) {
        const target: Target = {
          topic: topic(event),
          ...(key !== undefined && { key: key(event) }),
          ...(headers.length > 0 && {
            headers: Object.fromEntries(headers.map(([name, format]) => [name, format(event)])),
          }),
        };
        if (!TOPIC.test(target.topic)) return { refused: `"${target.topic.slice(0, 200)}" isn't a topic` };
        const body = encoder.encode(event);
        if (body.length > values.max_request_size)
          return { refused: `the message has ${body.length} bytes, more than max_request_size` };
        return { target: JSON.stringify(target), body };
      },
    };
  },
  writer: (values, context) => new KafkaWriter(values, context),
});

type OutputMessage = MessageToProduce & { readonly value: Buffer };

/** A message, and which of the current records it is of. */
interface Placed {
  readonly place: number;
  readonly message: OutputMessage;
}

interface RefusedMessage {
  readonly place: number;
  readonly reason: string;
}

class KafkaWriter implements OutputWriter {
  readonly #values: Options;
  readonly #context: WriterContext;
  #producer: Producer | undefined;
  #turn = 0;

  constructor(values: Options, context: WriterContext) {
    this.#values = values;
    this.#context = context;
  }

  async write(records: readonly OutputRecord[], signal: AbortSignal): Promise<WriteRest | undefined> {
    if (records.length === 0) return undefined;
    const ended = Promise.withResolvers<never>();
    ended.promise.catch(() => undefined);
    const abort = (): void => ended.reject(new AppError("cancelled", "the output is stopped"));
    signal.addEventListener("abort", abort, { once: true });
    try {
      return { refused: await Promise.race([this.#deliver(records), ended.promise]) };
    } catch (error) {
      await this.stop();
      throw kafkaError(error);
    } finally {
      signal.removeEventListener("abort", abort);
    }
  }

  async stop(): Promise<void> {
    const producer = this.#producer;
    this.#producer = undefined;
    await producer?.close(true).catch(() => undefined);
  }

  /** Partitions take their messages side by side, and each its own in order. */
  async #deliver(records: readonly OutputRecord[]): Promise<RefusedMessage[]> {
    const { compatibilityPartitioner } = await loadKafka();
    const producer = await this.#connected();
    const messages = records.map(messageOf);
    const { topics } = await producer.metadata({
      topics: [...new Set(messages.map(({ topic }) => topic))],
      autocreateTopics: true,
    });
    // Without a key any partition will do; one for all makes the largest batches.
    const turn = this.#turn++;
    const placed = messages.map((message, place): Placed => {
      const partitions = topics.get(message.topic)?.partitionsCount ?? 1;
      const partition =
        (message.key === undefined ? turn : compatibilityPartitioner(message, message.key)) % partitions;
      return { place, message: { ...message, partition } };
    });
    const refused: RefusedMessage[] = [];
    const ofPartitions = Map.groupBy(placed, ({ message }) => `${message.topic}/${message.partition}`);
    await Promise.all([...ofPartitions.values()].map((some) => this.#sendInOrder(producer, some, refused)));
    return refused;
  }

  async #sendInOrder(
    producer: Producer,
    messages: readonly Placed[],
    refused: RefusedMessage[],
  ): Promise<void> {
    for (let at = 0; at < messages.length; ) {
      let bytes = 0;
      let end = at;
      while (end < messages.length) {
        bytes += messages[end]!.message.value.length + MESSAGE_OVERHEAD;
        if (end > at && bytes > BATCH_BYTES) break;
        end++;
      }
      await this.#send(producer, messages.slice(at, end), refused);
      at = end;
    }
  }

  /** Sends messages of one partition, which takes all of them or none; a refusal is narrowed down to whom it is for. */
  async #send(producer: Producer, messages: readonly Placed[], refused: RefusedMessage[]): Promise<void> {
    const { acks, compression_type: compression } = this.#values;
    try {
      await producer.send({
        messages: messages.map(({ message }) => message),
        acks: ACKS[acks],
        compression,
      });
    } catch (error) {
      const { findErrorBy } = await loadKafka();
      const refusal = REFUSALS.map((id) => findErrorBy(error as Error, "apiId", id)).find(
        (each) => each !== null,
      );
      if (refusal === undefined) throw error;
      if (messages.length === 1) {
        refused.push({ place: messages[0]!.place, reason: `Kafka: ${refusal.message}` });
        return;
      }
      const half = messages.length >> 1;
      await this.#send(producer, messages.slice(0, half), refused);
      await this.#send(producer, messages.slice(half), refused);
    }
  }

  async #connected(): Promise<Producer> {
    if (this.#producer !== undefined) return this.#producer;
    const { Producer } = await loadKafka();
    const producer = new Producer({
      ...kafkaClientOptions(this.#values, this.#context),
      autocreateTopics: true,
    });
    producer.on("error", () => undefined);
    this.#producer = producer;
    const { brokers } = await producer.metadata({});
    for (const { host } of brokers.values()) this.#context.checkTarget(host);
    return producer;
  }
}

function messageOf({ target, body, timeMs }: OutputRecord): OutputMessage {
  const { topic, key, headers } = JSON.parse(target) as Target;
  return {
    topic,
    value: Buffer.from(body),
    timestamp: BigInt(Math.trunc(timeMs)),
    ...(key !== undefined && { key: Buffer.from(key) }),
    ...(headers !== undefined && {
      headers: new Map(
        Object.entries(headers).map(([name, value]) => [Buffer.from(name), Buffer.from(value)]),
      ),
    }),
  };
}
