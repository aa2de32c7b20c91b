/** One membership of a group of Kafka: messages into the log, each partition a source, then their offsets to the group. */

import type { Consumer, Message, MessagesStream } from "@platformatic/kafka";
import { Arrivals } from "#hub/pipeline/connections/arrivals.ts";
import { kafkaClientOptions, loadKafka } from "#hub/pipeline/connections/kafka.ts";
import { type OffsetMessage, OffsetSource } from "#hub/pipeline/connections/offset-source.ts";
import { type Codec, decodeWhole } from "#hub/pipeline/plugins/codec.ts";
import type { InputContext } from "#hub/pipeline/plugins/input.ts";
import type { KafkaInputOptions } from "#hub/pipeline/plugins/inputs/kafka.ts";
import { Timestamp } from "#proto/event.ts";
import { fieldReference } from "#proto/field-reference.ts";
import { AppError } from "#proto/kit/errors.ts";

const DECORATION = fieldReference("[@metadata][kafka]");

/** Topics that a pattern finds at most: more are a pattern that says nothing. */
const MAX_TOPICS = 1_000;

type Offset = { topic: string; partition: number; offset: bigint; leaderEpoch: number };

export class KafkaSession {
  readonly #context: InputContext;
  readonly #values: KafkaInputOptions;
  readonly #codec: Codec;
  readonly #consumer: Consumer;
  readonly #partitions = new Map<string, OffsetSource>();
  /** What the log has and the group wasn't told of yet. */
  readonly #uncommitted = new Map<string, Offset>();
  /** Names the topics for good: one that was made anew has other ids. */
  #topicIds = new Map<string, string>();

  constructor(context: InputContext, values: KafkaInputOptions, codec: Codec, consumer: Consumer) {
    this.#context = context;
    this.#values = values;
    this.#codec = codec;
    this.#consumer = consumer;
  }

  /** Reads until `signal` is aborted, the topics change, or something fails: then it throws. */
  async run(signal: AbortSignal, working: () => void): Promise<void> {
    const topics = await this.#topics();
    const stream = await this.#consumer.consume({ topics, ...this.#where() });
    // What was under way belongs to whoever has the partition now; what comes again is known by its offset.
    this.#consumer.on("consumer:group:rebalance", () => this.#uncommitted.clear());
    const arrivals = new Arrivals<Message>(
      (messages) => this.#take(messages),
      (error) => stream.destroy(error),
    );
    this.#consumer.on("error", (error: Error) => stream.destroy(error));
    this.#consumer.on("consumer:heartbeat:stalled", ({ lastError }) => {
      stream.destroy(lastError ?? new AppError("unavailable", "Kafka hears nothing of this member"));
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

  /** Resolves when the log has the messages. */
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
      source = new OffsetSource(() => this.#context.open({ key: sourceKey }));
      this.#partitions.set(key, source);
    }
    return source;
  }

  /** A message stands by itself: what the codec still holds at its end belongs to it. One without a value is a deletion. */
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
