/** Input kafka: topics, read by a group whose offsets move when the log has the events. */

import type { Consumer, Message, MessagesStream } from "@platformatic/kafka";
import type { Static } from "typebox";
import { Arrivals, type OffsetMessage, OffsetSource, REFUSED } from "#hub/pipeline/connections/arrivals.ts";
import {
  checkKafkaOptions,
  KAFKA_OPTIONS,
  kafkaClientOptions,
  kafkaError,
  loadKafka,
} from "#hub/pipeline/connections/kafka.ts";
import { LostData } from "#hub/pipeline/connections/lost-data.ts";
import { type Attempt, Reconnecting } from "#hub/pipeline/connections/reconnecting.ts";
import { type Codec, codecOption, decodeWhole } from "#hub/pipeline/plugins/codec.ts";
import { defineInput, type InputContext } from "#hub/pipeline/plugins/input.ts";
import { Timestamp } from "#proto/event.ts";
import { fieldReference } from "#proto/field-reference.ts";
import { AppError } from "#proto/kit/errors.ts";
import { flag, list, oneOf, optional, options, refused, text, withoutEffect } from "#proto/kit/options.ts";
import { Type } from "#proto/kit/schema.ts";

const STRINGS = /^org\.apache\.kafka\.common\.serialization\.(String|ByteArray)Deserializer$/;
const STRING_DESERIALIZER = "org.apache.kafka.common.serialization.StringDeserializer";

function count(description: string, fallback: number) {
  return Type.Integer({ description, default: fallback, minimum: 1 });
}

/** What to write instead of a schema registry. */
const BY_SCHEMA_FILE =
  'for Avro save the schema in a file, and write: codec => avro { schema_uri => "/file.avsc" encoding => "binary" framing => "registry" }';

export const KAFKA_INPUT_OPTIONS = options({
  ...KAFKA_OPTIONS,
  topics: list("topics to read", ["logstash"]),
  topics_pattern: optional(text("regular expression of topics, instead of topics; finds new topics too")),
  group_id: text("group whose members share the topics' partitions", "logstash"),
  group_instance_id: optional(text("static name of this member; with it a restart causes no rebalance")),
  group_protocol: oneOf(["classic", "consumer"], "how members share; consumer needs Kafka 4", "classic"),
  auto_offset_reset: oneOf(
    ["earliest", "latest", "none"],
    "where to start a partition without an offset of the group; none: fails",
    "latest",
  ),
  auto_commit_interval_ms: count("how often offsets are stored, ms", 5_000),
  enable_auto_commit: withoutEffect(
    "offsets are stored when the log has the events",
    Type.Boolean({ default: true }),
  ),
  auto_create_topics: flag("creates missing topics", true),
  decorate_events: oneOf(
    ["none", "basic", "extended", "false", "true"],
    "basic: topic, partition, offset, key … under [@metadata][kafka]; extended: the headers too",
    "none",
  ),
  fetch_max_bytes: count("maximum size of an answer, bytes", 52_428_800),
  fetch_max_wait_ms: count("how long a server waits for fetch_min_bytes, ms", 500),
  fetch_min_bytes: count("minimum size of an answer, bytes", 1),
  max_partition_fetch_bytes: count("maximum size of one partition's data in an answer, bytes", 1_048_576),
  max_poll_records: count("maximum number of messages that wait for the log", 500),
  max_poll_interval_ms: count("how long a rebalance waits for the members, ms", 300_000),
  session_timeout_ms: count(
    "time without a heartbeat after which a member's partitions go to others, ms",
    10_000,
  ),
  heartbeat_interval_ms: count("heartbeat interval of a member, ms", 3_000),
  isolation_level: oneOf(
    ["read_uncommitted", "read_committed"],
    "read_committed: waits for open transactions",
    "read_uncommitted",
  ),
  client_rack: optional(text("rack of this machine; the nearest replica is read")),
  key_deserializer_class: withoutEffect("keys are text", Type.String({ default: STRING_DESERIALIZER })),
  value_deserializer_class: text("messages are read by the codec", STRING_DESERIALIZER),
  schema_registry_url: refused(BY_SCHEMA_FILE),
  consumer_threads: withoutEffect("one consumer reads all partitions"),
  check_crcs: withoutEffect("checksums are always verified"),
  exclude_internal_topics: withoutEffect("internal topics are read only where topics names them"),
  partition_assignment_strategy: withoutEffect("partitions are assigned by the client's own strategy"),
  poll_timeout_ms: withoutEffect("fetch_max_wait_ms says how long a server waits"),
  schema_registry_key: withoutEffect("no schema registry is queried"),
  schema_registry_proxy: withoutEffect("no schema registry is queried"),
  schema_registry_secret: withoutEffect("no schema registry is queried"),
  schema_registry_ssl_keystore_location: withoutEffect("no schema registry is queried"),
  schema_registry_ssl_keystore_password: withoutEffect("no schema registry is queried"),
  schema_registry_ssl_keystore_type: withoutEffect("no schema registry is queried"),
  schema_registry_ssl_truststore_location: withoutEffect("no schema registry is queried"),
  schema_registry_ssl_truststore_password: withoutEffect("no schema registry is queried"),
  schema_registry_ssl_truststore_type: withoutEffect("no schema registry is queried"),
  schema_registry_validation: withoutEffect("no schema registry is queried"),
  codec: codecOption("codec that reads messages", "plain"),
});

export type KafkaInputOptions = Static<typeof KAFKA_INPUT_OPTIONS>;

export const kafkaInput = defineInput({
  name: "kafka",
  description: "reads Kafka topics; offsets are stored once the events are in the log",
  isShared: true,
  options: KAFKA_INPUT_OPTIONS,
  create(values, context) {
    checkKafkaOptions(values, context.report);
    if (!STRINGS.test(values.value_deserializer_class))
      context.report(
        "error",
        "value_deserializer_class",
        "messages are read by a codec, not by a class of Java",
        `leave it out; ${BY_SCHEMA_FILE}`,
      );
    if (values.topics_pattern !== undefined) new RegExp(values.topics_pattern);
    const makeCodec = context.codec(values.codec);
    return (running) => {
      const reader = new KafkaReader(running, values, makeCodec());
      return new Reconnecting({
        context: running,
        read: (attempt) => reader.read(attempt),
        reason: (error) => kafkaError(error).message,
      });
    };
  },
});

class KafkaReader {
  readonly #context: InputContext;
  readonly #values: KafkaInputOptions;
  readonly #codec: Codec;

  constructor(context: InputContext, values: KafkaInputOptions, codec: Codec) {
    this.#context = context;
    this.#values = values;
    this.#codec = codec;
  }

  async read({ signal, working }: Attempt): Promise<void> {
    const consumer = await this.#consumer();
    try {
      await new KafkaSession(this.#context, this.#values, this.#codec, consumer).run(signal, working);
    } finally {
      await consumer.close(true).catch(() => undefined);
    }
  }

  async #consumer(): Promise<Consumer> {
    const { Consumer } = await loadKafka();
    const values = this.#values;
    const { group_instance_id, client_rack, group_protocol, session_timeout_ms } = values;
    const group = {
      ...(group_instance_id !== undefined && { groupInstanceId: group_instance_id }),
      rebalanceTimeout: Math.max(values.max_poll_interval_ms, session_timeout_ms),
    };
    return new Consumer<Buffer, Buffer, Buffer, Buffer>({
      ...kafkaClientOptions(values, this.#context),
      ...(client_rack !== undefined && { clientRack: client_rack }),
      groupId: values.group_id,
      ...(group_protocol === "consumer"
        ? { groupProtocol: group_protocol, ...group }
        : {
            ...group,
            sessionTimeout: session_timeout_ms,
            heartbeatInterval: values.heartbeat_interval_ms,
          }),
      minBytes: values.fetch_min_bytes,
      maxBytes: values.fetch_max_bytes,
      maxBytesPerPartition: values.max_partition_fetch_bytes,
      maxWaitTime: values.fetch_max_wait_ms,
      isolationLevel: values.isolation_level === "read_committed" ? 1 : 0,
      highWaterMark: values.max_poll_records,
      autocommit: false,
      autocreateTopics: values.auto_create_topics,
    });
  }
}

const DECORATION = fieldReference("[@metadata][kafka]");

/** Topics that a pattern finds at most: more are a pattern that says nothing. */
const MAX_TOPICS = 1_000;

type Offset = { topic: string; partition: number; offset: bigint; leaderEpoch: number };

export class KafkaSession {
  readonly #context: InputContext;
  readonly #values: KafkaInputOptions;
  readonly #codec: Codec;
  readonly #consumer: Consumer;
  readonly #lost: LostData;
  readonly #partitions = new Map<string, OffsetSource>();
  /** Offsets that the log has and that aren't committed to the group yet. */
  readonly #uncommitted = new Map<string, Offset>();
  /** Identifies the topics permanently: a recreated one has other ids. */
  #topicIds = new Map<string, string>();

  constructor(context: InputContext, values: KafkaInputOptions, codec: Codec, consumer: Consumer) {
    this.#context = context;
    this.#values = values;
    this.#codec = codec;
    this.#consumer = consumer;
    this.#lost = new LostData(context, "messages");
  }

  /** Reads until `signal` is aborted, the topics change, or something fails: then it throws. */
  async run(signal: AbortSignal, working: () => void): Promise<void> {
    const topics = await this.#topics();
    const stream = await this.#consumer.consume({ topics, ...this.#where() });
    // What was in progress belongs to whoever has the partition now; what comes again is known by its offset.
    this.#consumer.on("consumer:group:rebalance", () => this.#uncommitted.clear());
    const arrivals = new Arrivals<Message>(
      (messages) => this.#take(messages),
      (error) => stream.destroy(error),
    );
    this.#consumer.on("error", (error: Error) => stream.destroy(error));
    this.#consumer.on("consumer:heartbeat:stalled", ({ lastError }) => {
      stream.destroy(lastError ?? new AppError("unavailable", "Kafka receives no heartbeats of this member"));
    });
    const close = (): void => void stream.close().catch(() => undefined);
    signal.addEventListener("abort", close, { once: true });
    const timers = this.#timers(topics, close);
    try {
      working();
      await this.#read(stream, arrivals, signal);
    } finally {
      signal.removeEventListener("abort", close);
      for (const timer of timers) clearInterval(timer);
      await arrivals.stop();
      for (const partition of this.#partitions.values()) partition.close();
      await this.#lost.stop();
      await this.#commit();
    }
  }

  async #read(
    stream: MessagesStream<Buffer, Buffer, Buffer, Buffer>,
    arrivals: Arrivals<Message>,
    signal: AbortSignal,
  ): Promise<void> {
    if (signal.aborted) return;
    for await (const message of stream) {
      arrivals.add(message);
      if (arrivals.waiting >= this.#values.max_poll_records) await arrivals.taken();
    }
  }

  #timers(topics: readonly string[], close: () => void): NodeJS.Timeout[] {
    const { auto_commit_interval_ms, topics_pattern, metadata_max_age_ms } = this.#values;
    const timers = [setInterval(() => void this.#commit(), auto_commit_interval_ms)];
    if (topics_pattern === undefined) return timers;
    const compare = async (): Promise<void> => {
      const now = await this.#topics().catch(() => topics);
      if (now.join() !== topics.join()) close();
    };
    return [...timers, setInterval(() => void compare(), metadata_max_age_ms)];
  }

  /** Returns the topics that are to be read, in order; checks that the pipeline may connect to who has them. */
  async #topics(): Promise<string[]> {
    const { topics_pattern, auto_create_topics: autocreateTopics } = this.#values;
    const topics = topics_pattern === undefined ? this.#values.topics : await this.#matching(topics_pattern);
    const { id, topics: known, brokers } = await this.#consumer.metadata({ topics, autocreateTopics });
    for (const { host } of brokers.values()) this.#context.checkTarget(host);
    this.#topicIds = new Map([...known].map(([name, topic]) => [name, `${id}/${topic.id}`]));
    return topics;
  }

  async #matching(pattern: string): Promise<string[]> {
    const { Admin } = await loadKafka();
    const admin = new Admin(kafkaClientOptions(this.#values, this.#context));
    try {
      const expression = new RegExp(pattern);
      const found = (await admin.listTopics()).filter((name) => expression.test(name)).sort();
      if (found.length === 0) throw new AppError("unavailable", `Kafka has no topic that matches ${pattern}`);
      return found.slice(0, MAX_TOPICS);
    } finally {
      await admin.close().catch(() => undefined);
    }
  }

  #where() {
    const { auto_offset_reset } = this.#values;
    const fallbackMode = auto_offset_reset === "none" ? ("fail" as const) : auto_offset_reset;
    return { mode: "committed" as const, fallbackMode };
  }

  /** Resolves when the log has the messages, or refused them permanently. */
  async #take(messages: readonly Message[]): Promise<void> {
    const nowMs = this.#context.clock.now();
    const ofPartitions = Map.groupBy(messages, ({ topic, partition }) => `${topic}/${partition}`);
    await Promise.all(
      [...ofPartitions.values()].map((some) =>
        this.#partition(some[0]!).send(some.map((message) => this.#decode(message, nowMs))),
      ),
    );
    for (const [key, some] of ofPartitions) {
      const { topic, partition, offset, leaderEpoch } = some.at(-1)!;
      this.#uncommitted.set(key, { topic, partition, offset: offset + 1n, leaderEpoch });
    }
  }

  #partition({ topic, partition }: Message): OffsetSource {
    const key = `${topic}/${partition}`;
    let source = this.#partitions.get(key);
    if (source === undefined) {
      const sourceKey = `${this.#topicIds.get(topic) ?? topic}/${partition}`;
      source = new OffsetSource(
        () => this.#context.open({ key: sourceKey }),
        (error) => this.#lost.add(REFUSED, error),
      );
      this.#partitions.set(key, source);
    }
    return source;
  }

  /**
   * A message is self-contained: what the codec still holds at its end belongs to it. One without a value is a
   * deletion.
   */
  #decode(message: Message, nowMs: number): OffsetMessage {
    const { value } = message;
    const offset = Number(message.offset);
    if (value === undefined || value === null) return { offset, events: [] };
    const events = decodeWhole(this.#codec, value, nowMs);
    const decoration = this.#decoration(message);
    if (decoration !== undefined) for (const event of events) event.set(DECORATION, decoration);
    return { offset, events };
  }

  #decoration({ topic, partition, offset, key, timestamp, headerEntries }: Message) {
    const { decorate_events: level, group_id } = this.#values;
    if (level === "none" || level === "false") return undefined;
    return {
      topic,
      partition,
      offset: Number(offset),
      consumer_group: group_id,
      timestamp: new Timestamp(Number(timestamp)),
      ...(key !== undefined && key !== null && { key: key.toString() }),
      ...(level === "extended" && {
        headers: Object.fromEntries(
          headerEntries.map(([name, value]) => [name.toString(), value.toString()]),
        ),
      }),
    };
  }

  async #commit(): Promise<void> {
    const owned = new Set(
      (this.#consumer.assignments ?? []).flatMap(({ topic, partitions }) =>
        partitions.map((partition) => `${topic}/${partition}`),
      ),
    );
    const offsets = [...this.#uncommitted].filter(([key]) => owned.has(key)).map(([, offset]) => offset);
    this.#uncommitted.clear();
    if (offsets.length === 0) return;
    try {
      await this.#consumer.commit({ offsets });
    } catch (error) {
      // Tried again with the next ones; a reader that begins further back meanwhile sends what the log drops.
      this.#context.log.warn({ err: error, input: this.#context.id }, "offsets can't be stored at Kafka");
      for (const offset of offsets) {
        const key = `${offset.topic}/${offset.partition}`;
        if (!this.#uncommitted.has(key)) this.#uncommitted.set(key, offset);
      }
    }
  }
}
