/** Input nats: messages of a JetStream consumer, acknowledged when the log has them, or of subjects as they pass. */

import { randomUUID } from "node:crypto";
import type { Consumer, JsMsg } from "@nats-io/jetstream";
import type { Msg, MsgHdrs, NatsConnection } from "@nats-io/transport-node";
import type { Static } from "typebox";
import { Arrivals, OffsetSource, REFUSED } from "#hub/pipeline/connections/arrivals.ts";
import { LostData } from "#hub/pipeline/connections/lost-data.ts";
import { connectNats, NATS_OPTIONS, natsError } from "#hub/pipeline/connections/nats.ts";
import { type Attempt, Reconnecting } from "#hub/pipeline/connections/reconnecting.ts";
import { type Codec, codecOption, decodeWhole } from "#hub/pipeline/plugins/codec.ts";
import { defineInput, type InputContext } from "#hub/pipeline/plugins/input.ts";
import type { Event } from "#proto/event.ts";
import { fieldReference } from "#proto/field-reference.ts";
import { AppError } from "#proto/kit/errors.ts";
import { flag, oneOf, optional, options, text } from "#proto/kit/options.ts";
import { Type } from "#proto/kit/schema.ts";

const METADATA = fieldReference("[@metadata][nats]");

/** Messages of subjects that wait for the log; what comes beyond them is lost, and logged. */
const MAX_WAITING = 10_000;

const OPTIONS = options({
  ...NATS_OPTIONS,
  subject: optional(text("subject to read, with * and >; optional for a stream")),
  jetstream: flag(
    "true: reads a stream without loss; false: receives only messages published while the input is connected",
    true,
  ),
  stream: optional(text("stream to read; default: the one that contains the subject")),
  durable: optional(
    text("name of the stream's consumer, created if missing; readers with the same name share it"),
  ),
  deliver_policy: oneOf(["all", "new", "last"], "where a newly created consumer starts", "all"),
  ack_wait: Type.Number({
    default: 30,
    exclusiveMinimum: 0,
    description: "time without acknowledgement after which a message goes to another reader, s",
  }),
  max_ack_pending: Type.Integer({
    default: 1_000,
    minimum: 1,
    description: "maximum number of unacknowledged messages in flight",
  }),
  queue: optional(text("without a stream: readers with the same name share the messages")),
  metadata_enabled: flag("subject, headers, stream and sequence under [@metadata][nats]", false),
  codec: codecOption("codec that reads messages", "json"),
});

type Options = Static<typeof OPTIONS>;

export const natsInput = defineInput({
  name: "nats",
  description: "reads a NATS stream, acknowledged once the events are in the log, or subscribes to subjects",
  isShared: true,
  options: OPTIONS,
  create(values, context) {
    if (values.subject === undefined && (values.stream === undefined || !values.jetstream))
      context.report(
        "error",
        "subject",
        "there is nothing to read",
        'name a subject => "logs.>" or a stream',
      );
    const makeCodec = context.codec(values.codec);
    return (running) => {
      const reader = new NatsReader(running, values, makeCodec());
      return new Reconnecting({
        context: running,
        read: (attempt) => reader.read(attempt),
        reason: (error) => natsError(error, "can't be read").message,
      });
    };
  },
});

class NatsReader {
  readonly #context: InputContext;
  readonly #values: Options;
  readonly #codec: Codec;

  constructor(context: InputContext, values: Options, codec: Codec) {
    this.#context = context;
    this.#values = values;
    this.#codec = codec;
  }

  async read(attempt: Attempt): Promise<void> {
    const { id, checkTarget } = this.#context;
    const connection = await connectNats(this.#values, `tailrace input ${id}`, checkTarget);
    try {
      void this.#watch(connection, attempt.signal);
      await (this.#values.jetstream
        ? this.#readStream(connection, attempt)
        : this.#hear(connection, attempt));
    } finally {
      await connection.close().catch(() => undefined);
    }
  }

  /** Logs when the connection is lost and when it is back: the client opens it again by itself. */
  async #watch(connection: NatsConnection, signal: AbortSignal): Promise<void> {
    for await (const { type } of connection.status()) {
      if (signal.aborted) return;
      if (type === "disconnect") this.#context.failing("NATS is away");
      if (type === "reconnect") this.#context.failing(null);
    }
  }

  async #readStream(connection: NatsConnection, { signal, working }: Attempt): Promise<void> {
    const { consumer, key } = await this.#consumer(connection);
    const lost = new LostData(this.#context, "messages");
    const source = new OffsetSource(
      () => this.#context.open({ key }),
      (error) => lost.add(REFUSED, error),
    );
    const messages = await consumer.consume({ abort_on_missing_resource: true });
    const stop = (): void => messages.stop();
    let failure: Error | undefined;
    const arrivals = new Arrivals<JsMsg>(
      (some) => this.#take(source, some),
      (error) => {
        failure = error;
        stop();
      },
    );
    signal.addEventListener("abort", stop, { once: true });
    try {
      working();
      if (!signal.aborted) for await (const message of messages) arrivals.add(message);
    } finally {
      signal.removeEventListener("abort", stop);
      await arrivals.stop();
      source.close();
      await lost.stop();
      // Acknowledgements must be sent before the connection ends.
      if (!connection.isClosed()) await Promise.race([connection.flush(), this.#context.clock.sleep(1_000)]);
    }
    if (!signal.aborted) throw failure ?? new AppError("unavailable", "NATS ended the stream's consumer");
  }

  async #take(source: OffsetSource, messages: readonly JsMsg[]): Promise<void> {
    const nowMs = this.#context.clock.now();
    await source.send(
      messages.map(({ seq, subject, headers, data, info }) => ({
        offset: seq,
        events: this.#decode(data, nowMs, { subject, stream: info.stream, sequence: seq }, headers),
      })),
    );
    for (const message of messages) message.ack();
  }

  /** Returns the stream's consumer, made where it isn't there, and the name of the stream's content. */
  async #consumer(connection: NatsConnection): Promise<{ consumer: Consumer; key: string }> {
    const { jetstreamManager, AckPolicy } = await import("@nats-io/jetstream");
    const { subject, durable, deliver_policy, ack_wait, max_ack_pending } = this.#values;
    const manager = await jetstreamManager(connection);
    const stream = this.#values.stream ?? (await manager.streams.find(subject!));
    const { created } = await manager.streams.info(stream);
    const name =
      durable ?? `tailrace-${this.#context.hubName}-${this.#context.id}`.replaceAll(/[\s.*>/\\]/g, "_");
    const isThere = await manager.consumers.info(stream, name).then(
      () => true,
      () => false,
    );
    if (!isThere)
      await manager.consumers.add(stream, {
        durable_name: name,
        ack_policy: AckPolicy.Explicit,
        deliver_policy,
        ack_wait: ack_wait * 1e9,
        max_ack_pending,
        ...(subject !== undefined && { filter_subject: subject }),
      });
    // A stream that was made again counts from 1 again.
    return {
      consumer: await manager.jetstream().consumers.get(stream, name),
      key: `${stream}/${String(created)}`,
    };
  }

  async #hear(connection: NatsConnection, { signal, working }: Attempt): Promise<void> {
    const { queue, subject } = this.#values;
    const subscription = connection.subscribe(subject!, { ...(queue !== undefined && { queue }) });
    const stop = (): void => subscription.unsubscribe();
    const channel = this.#context.open({ key: randomUUID() });
    const lost = new LostData(this.#context, "messages");
    let failure: Error | undefined;
    const arrivals = new Arrivals<Msg>(
      async (some) => {
        const nowMs = this.#context.clock.now();
        const events = some.flatMap(({ data, subject: on, headers }) =>
          this.#decode(data, nowMs, { subject: on }, headers),
        );
        await channel.send(events.map((event) => ({ event })));
      },
      (error) => {
        failure = error;
        stop();
      },
    );
    signal.addEventListener("abort", stop, { once: true });
    try {
      await connection.flush();
      working();
      for await (const message of subscription) {
        if (arrivals.waiting < MAX_WAITING) arrivals.add(message);
        else lost.add("NATS sends more than the log takes; use a stream");
      }
      await arrivals.taken();
    } finally {
      signal.removeEventListener("abort", stop);
      await arrivals.stop();
      await lost.stop();
      channel.close();
    }
    if (!signal.aborted) throw failure ?? new AppError("unavailable", "NATS ended the subscription");
  }

  #decode(
    data: Uint8Array,
    nowMs: number,
    place: Record<string, unknown>,
    headers: MsgHdrs | undefined,
  ): Event[] {
    const events = decodeWhole(this.#codec, data, nowMs);
    if (!this.#values.metadata_enabled) return events;
    const table = Object.fromEntries((headers?.keys() ?? []).map((name) => [name, headers?.get(name)]));
    for (const event of events) event.set(METADATA, { ...place, headers: table });
    return events;
  }
}
