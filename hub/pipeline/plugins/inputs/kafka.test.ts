import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import { Readable } from "node:stream";
import { test } from "node:test";
import type { Consumer } from "@platformatic/kafka";
import { jsonCodec } from "#hub/pipeline/plugins/codecs/json.ts";
import { defaultsOf } from "#proto/kit/schema.ts";
import { InputWorld, plain } from "#test/contract/input-runner.ts";
import { OutputWorld } from "#test/contract/output-runner.ts";
import { KAFKA_INPUT_OPTIONS, type KafkaInputOptions, KafkaSession } from "./kafka.ts";

/** Stands for the client: gives these messages, and remembers the offsets it is told. The client itself is tested with a broker. */
class FakeConsumer extends EventEmitter {
  readonly committed: { topic: string; partition: number; offset: bigint }[] = [];
  assignments = [{ topic: "logs", partitions: [0, 1] }];
  readonly stream: Readable & { close?: () => Promise<void> };

  constructor(messages: readonly object[]) {
    super();
    this.stream = new Readable({ objectMode: true, read: () => undefined });
    for (const message of messages) this.stream.push(message);
    this.stream.close = async () => void this.stream.push(null);
  }

  metadata = async () => ({
    id: "cluster",
    brokers: new Map([[1, { host: "127.0.0.1", port: 9092 }]]),
    topics: new Map([["logs", { id: "topic-id" }]]),
  });
  consume = async () => this.stream;
  commit = async ({ offsets }: { offsets: { topic: string; partition: number; offset: bigint }[] }) =>
    void this.committed.push(...offsets);
}

function message(partition: number, offset: number, value: string | undefined): object {
  return {
    topic: "logs",
    partition,
    offset: BigInt(offset),
    leaderEpoch: 1,
    timestamp: 0n,
    key: Buffer.from("k"),
    value: value === undefined ? undefined : Buffer.from(value),
    headerEntries: [],
  };
}

test("a partition is a source of its own, and its offset is told when the log has the events", async () => {
  const world = new InputWorld();
  const values = {
    ...defaultsOf(KAFKA_INPUT_OPTIONS),
    topics: ["logs"],
    decorate_events: "basic",
  } as unknown as KafkaInputOptions;
  const consumer = new FakeConsumer([
    message(0, 7, '{"n":1}'),
    message(1, 3, '[{"n":2},{"n":3}]'),
    message(0, 8, undefined),
    message(0, 7, '{"n":1}'),
  ]);
  const codec = jsonCodec.create(defaultsOf(jsonCodec.options) as { charset: string });
  const session = new KafkaSession(world.context(), values, codec, consumer as unknown as Consumer);
  const stop = new AbortController();
  const running = session.run(stop.signal, () => undefined);
  await world.until(4);
  stop.abort();
  await running;
  assert.deepEqual(
    world.sent.map(({ key, offset, event }) => [key, offset, plain(event)["n"]]),
    [
      ["cluster/topic-id/0", 7, 1],
      ["cluster/topic-id/1", 3, 2],
      ["cluster/topic-id/1", 3, 3],
      ["cluster/topic-id/0", 7, 1],
    ],
  );
  assert.partialDeepStrictEqual(world.sent[0]!.event.metadata, {
    kafka: { topic: "logs", key: "k", offset: 7 },
  });
  assert.deepEqual(
    consumer.committed.map(({ partition, offset }) => [partition, offset]),
    [
      [0, 8n],
      [1, 4n],
    ],
  );
});

test("a message that the log can't take is counted as lost, and those around it are read", async () => {
  const world = new InputWorld();
  world.isTooLong = (event) => event.fields["n"] === 2;
  const values = { ...defaultsOf(KAFKA_INPUT_OPTIONS), topics: ["logs"] } as unknown as KafkaInputOptions;
  const consumer = new FakeConsumer([1, 2, 3].map((n) => message(0, n, `{"n":${n}}`)));
  const codec = jsonCodec.create(defaultsOf(jsonCodec.options) as { charset: string });
  const session = new KafkaSession(world.context(), values, codec, consumer as unknown as Consumer);
  const stop = new AbortController();
  const running = session.run(stop.signal, () => undefined);
  await world.until(2);
  stop.abort();
  await running;
  assert.deepEqual(
    world.sent.map(({ offset, event }) => [offset, plain(event)["n"]]),
    [
      [1, 1],
      [3, 3],
    ],
  );
  assert.equal(world.drops, 1);
  assert.match(String(world.failures[0]), /1 messages were dropped/);
  assert.equal(consumer.committed.at(-1)!.offset, 4n);
});

test("what of a configuration for Kafka can't be done is told with what to write instead", () => {
  const rows: [string, RegExp][] = [
    ['security_protocol => "SASL_SSL"', /GSSAPI isn't supported; write one of PLAIN/],
    ['security_protocol => "SASL_PLAINTEXT" sasl_mechanism => "PLAIN"', /needs a name and a password/],
    ['security_protocol => "SASL_SSL" sasl_mechanism => "OAUTHBEARER"', /connection =>/],
    ['ssl_truststore_type => "jks"', /keytool -list -rfc/],
    ['ssl_keystore_type => "JKS"', /PKCS12/],
    ['schema_registry_url => "http://registry"', /codec => avro \{ schema_uri/],
    ['value_deserializer_class => "io.confluent.kafka.serializers.KafkaAvroDeserializer"', /codec => avro/],
    ['topics_pattern => "("', /regular expression/i],
  ];
  for (const [options, expected] of rows)
    assert.throws(() => new InputWorld().make(`kafka { ${options} }`), expected, options);
  const jaas = String.raw`sasl_jaas_config => 'x required username="u" password="p\"w";'`;
  new InputWorld().make(
    `kafka { security_protocol => "SASL_SSL" sasl_mechanism => "SCRAM-SHA-512" ${jaas} }`,
  );
});

test("output kafka refuses what isn't a topic and what is too long, before anything is sent", async () => {
  const output = new OutputWorld('kafka { topic_id => "logs %{kind}" bootstrap_servers => "127.0.0.1:1" }');
  const long = new OutputWorld('kafka { topic_id => "logs" max_request_size => 10 codec => json }');
  for (const each of [output, long]) await each.write([{ kind: "a" }]);
  assert.match(output.refused.join(), /"logs a" isn't a topic/);
  assert.match(long.refused.join(), /more than max_request_size/);
});
