/** Input kafka: topics, read by a group whose offsets move when the log has the events. */

import type { Consumer } from "@platformatic/kafka";
import type { Static } from "typebox";
import {
  accepted,
  checkKafkaOptions,
  KAFKA_OPTIONS,
  kafkaClientOptions,
  kafkaError,
  loadKafka,
} from "#hub/pipeline/connections/kafka.ts";
import { type Attempt, Reconnecting } from "#hub/pipeline/connections/reconnecting.ts";
import type { Codec } from "#hub/pipeline/plugins/codec.ts";
import { codecOption } from "#hub/pipeline/plugins/codec.ts";
import { defineInput, type InputContext } from "#hub/pipeline/plugins/input.ts";
import { KafkaSession } from "#hub/pipeline/plugins/inputs/kafka/kafka-session.ts";
import { flag, list, oneOf, optional, options, text } from "#proto/kit/options.ts";
import { Type } from "#proto/kit/schema.ts";

const STRINGS = /^org\.apache\.kafka\.common\.serialization\.(String|ByteArray)Deserializer$/;
const STRING_DESERIALIZER = "org.apache.kafka.common.serialization.StringDeserializer";

function count(description: string, fallback: number) {
  return Type.Integer({ description, default: fallback, minimum: 1 });
}

export const KAFKA_INPUT_OPTIONS = options({
  ...KAFKA_OPTIONS,
  topics: list("topics that are read", ["logstash"]),
  topics_pattern: optional(
    text("instead of topics: a regular expression; new topics are found as they come"),
  ),
  group_id: text("group whose members share the topics' partitions", "logstash"),
  group_instance_id: optional(
    text("name of this member, the same after a restart: nothing is shared out anew"),
  ),
  group_protocol: oneOf(["classic", "consumer"], "how members share; consumer needs Kafka 4", "classic"),
  auto_offset_reset: oneOf(
    ["earliest", "latest", "none"],
    "where a partition is begun that the group has no offset of; none: it fails",
    "latest",
  ),
  auto_commit_interval_ms: count("how often offsets are stored, ms", 5_000),
  enable_auto_commit: flag(
    "accepted for compatibility: offsets are stored when the log has the events",
    true,
  ),
  auto_create_topics: flag("topics that aren't there are made", true),
  decorate_events: oneOf(
    ["none", "basic", "extended", "false", "true"],
    "basic: topic, partition, offset, key … under [@metadata][kafka]; extended: the headers too",
    "none",
  ),
  fetch_max_bytes: count("bytes that one answer has at most", 52_428_800),
  fetch_max_wait_ms: count("how long a server waits for fetch_min_bytes, ms", 500),
  fetch_min_bytes: count("bytes that an answer is to have", 1),
  max_partition_fetch_bytes: count("bytes of one partition that an answer has at most", 1_048_576),
  max_poll_records: count("messages that wait for the log at most", 500),
  max_poll_interval_ms: count(
    "how long members are waited for when partitions are shared out anew, ms",
    300_000,
  ),
  session_timeout_ms: count("silence after which a member's partitions go to others, ms", 10_000),
  heartbeat_interval_ms: count("how often a member tells that it is there, ms", 3_000),
  isolation_level: oneOf(
    ["read_uncommitted", "read_committed"],
    "read_committed: messages of open transactions are waited for",
    "read_uncommitted",
  ),
  client_rack: optional(text("rack of this machine: the nearest copy is read")),
  key_deserializer_class: text("accepted for compatibility: keys are text", STRING_DESERIALIZER),
  value_deserializer_class: text("messages are read by the codec", STRING_DESERIALIZER),
  schema_registry_url: optional(text("refused: Avro isn't read")),
  consumer_threads: accepted(),
  check_crcs: accepted(),
  exclude_internal_topics: accepted(),
  partition_assignment_strategy: accepted(),
  poll_timeout_ms: accepted(),
  schema_registry_key: accepted(),
  schema_registry_proxy: accepted(),
  schema_registry_secret: accepted(),
  schema_registry_ssl_keystore_location: accepted(),
  schema_registry_ssl_keystore_password: accepted(),
  schema_registry_ssl_keystore_type: accepted(),
  schema_registry_ssl_truststore_location: accepted(),
  schema_registry_ssl_truststore_password: accepted(),
  schema_registry_ssl_truststore_type: accepted(),
  schema_registry_validation: accepted(),
  codec: codecOption("how a message is read", "plain"),
});

export type KafkaInputOptions = Static<typeof KAFKA_INPUT_OPTIONS>;

export const kafkaInput = defineInput({
  name: "kafka",
  description: "reads topics of Kafka; offsets are stored when the log has the events",
  options: KAFKA_INPUT_OPTIONS,
  create(values, context) {
    checkKafkaOptions(values, context.report);
    const isAvro = values.schema_registry_url !== undefined;
    if (isAvro || !STRINGS.test(values.value_deserializer_class))
      context.report(
        "error",
        isAvro ? "schema_registry_url" : "value_deserializer_class",
        "messages in Avro or other formats of Java aren't read",
        "write JSON, and codec => json",
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
