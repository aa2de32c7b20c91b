/** Input redis: events from lists and channels. */

import { randomUUID } from "node:crypto";
import { Redis } from "ioredis";
import type { Static } from "typebox";
import { REFUSED, sendReadable } from "#hub/pipeline/connections/arrivals.ts";
import { LostData } from "#hub/pipeline/connections/lost-data.ts";
import { type Attempt, Reconnecting } from "#hub/pipeline/connections/reconnecting.ts";
import type { Codec } from "#hub/pipeline/plugins/codec.ts";
import { codecOption } from "#hub/pipeline/plugins/codec.ts";
import { defineInput, type InputChannel, type InputContext } from "#hub/pipeline/plugins/input.ts";
import { anyTable, flag, oneOf, optional, options, text, withoutEffect } from "#proto/kit/options.ts";
import { Type } from "#proto/kit/schema.ts";

/** How long an empty list is waited at before it is asked again: this long a stop takes at most. s */
const BLOCK_S = 1;

const OPTIONS = options({
  host: text("host", "127.0.0.1"),
  port: Type.Integer({ default: 6379, minimum: 1, maximum: 65535, description: "port" }),
  path: optional(text("path of a socket, instead of host and port")),
  db: Type.Integer({ default: 0, minimum: 0, description: "number of the database" }),
  password: optional(text("password")),
  ssl: flag("uses TLS", false),
  timeout: Type.Number({
    default: 5,
    exclusiveMinimum: 0,
    description: "timeout for opening a connection, s",
  }),
  key: text("list, channel, or pattern of channels"),
  data_type: oneOf(["list", "channel", "pattern_channel"], "type of key"),
  batch_count: Type.Integer({
    default: 125,
    minimum: 1,
    description: "number of events taken from a list at a time",
  }),
  codec: codecOption("codec that reads elements", "json"),
  command_map: withoutEffect("commands have their own names", anyTable("")),
  threads: withoutEffect("one thread reads all elements"),
});

type Options = Static<typeof OPTIONS>;

export const redisInput = defineInput({
  name: "redis",
  description: "reads events from a Redis list, or subscribes to channels",
  isShared: true,
  options: OPTIONS,
  create(values, context) {
    const makeCodec = context.codec(values.codec);
    return (running) => {
      const reader = new RedisReader(running, values, makeCodec());
      return new Reconnecting({
        context: running,
        read: (attempt) => reader.read(attempt),
        reason: (error) => `Redis: ${(error as Error).message}`,
      });
    };
  },
});

/** Elements of a list are moved to a list of this input first, and taken out of there when the log has them: none is lost. */
class RedisReader {
  readonly #context: InputContext;
  readonly #values: Options;
  readonly #codec: Codec;

  constructor(context: InputContext, values: Options, codec: Codec) {
    this.#context = context;
    this.#values = values;
    this.#codec = codec;
  }

  async read({ signal, working }: Attempt): Promise<void> {
    const { data_type, path, host } = this.#values;
    if (path === undefined) this.#context.checkTarget(host);
    const isList = data_type === "list";
    const redis = this.#client();
    const channel = new ReadableChannel(this.#context, this.#codec);
    // A list is left between two batches, so that none is sent twice.
    const abort = (): void => {
      if (!isList) redis.disconnect();
    };
    signal.addEventListener("abort", abort, { once: true });
    try {
      await redis.connect();
      working();
      await (isList ? this.#takeList(redis, channel, signal) : this.#hear(redis, channel));
    } finally {
      signal.removeEventListener("abort", abort);
      redis.disconnect();
      await channel.close();
    }
  }

  async #takeList(redis: Redis, channel: ReadableChannel, signal: AbortSignal): Promise<void> {
    const { key, batch_count } = this.#values;
    const own = `${key}:tailrace:${this.#context.hubName}:${this.#context.id}`;
    await this.#deliver(redis, channel, own);
    while (!signal.aborted) {
      const first = await redis.blmove(key, own, "LEFT", "RIGHT", BLOCK_S);
      if (first === null) continue;
      const more = redis.pipeline();
      for (let count = 1; count < batch_count; count++) more.lmove(key, own, "LEFT", "RIGHT");
      await more.exec();
      await this.#deliver(redis, channel, own);
    }
  }

  /** Sends what was moved to the input's own list, then releases it. */
  async #deliver(redis: Redis, channel: ReadableChannel, own: string): Promise<void> {
    for (;;) {
      const elements = await redis.lrangeBuffer(own, 0, this.#values.batch_count - 1);
      if (elements.length === 0) return;
      await channel.send(elements);
      await redis.ltrim(own, elements.length, -1);
    }
  }

  async #hear(redis: Redis, channel: ReadableChannel): Promise<void> {
    const { key, data_type } = this.#values;
    const { promise, reject } = Promise.withResolvers<never>();
    redis.once("close", () => reject(new Error("the connection ended")));
    let last: Promise<void> = Promise.resolve();
    const take = (payload: Buffer): void => {
      last = last.then(() => channel.send([payload])).catch(reject);
    };
    redis.on("messageBuffer", (_channel: Buffer, payload: Buffer) => take(payload));
    redis.on("pmessageBuffer", (_pattern: string, _channel: Buffer, payload: Buffer) => take(payload));
    await (data_type === "channel" ? redis.subscribe(key) : redis.psubscribe(key));
    await promise;
  }

  #client(): Redis {
    const { host, port, path, db, password, ssl, timeout } = this.#values;
    const redis = new Redis({
      ...(path === undefined ? { host, port } : { path }),
      db,
      ...(password !== undefined && { password }),
      ...(ssl && { tls: { servername: host } }),
      connectTimeout: timeout * 1000,
      lazyConnect: true,
      maxRetriesPerRequest: 0,
      retryStrategy: () => null,
    });
    redis.on("error", () => undefined);
    return redis;
  }
}

/** Sends elements to the log; counts those that it refuses permanently. */
class ReadableChannel {
  readonly #context: InputContext;
  readonly #codec: Codec;
  readonly #channel: InputChannel;
  readonly #lost: LostData;

  constructor(context: InputContext, codec: Codec) {
    this.#context = context;
    this.#codec = codec;
    this.#channel = context.open({ key: randomUUID() });
    this.#lost = new LostData(context, "elements");
  }

  /** Resolves when the log has the elements, or refused them. */
  async send(payloads: readonly Buffer[]): Promise<void> {
    const nowMs = this.#context.clock.now();
    const elements = payloads.map((payload) => this.#codec.decode(payload, nowMs));
    await sendReadable(
      elements,
      async (some) => {
        const events = some.flat();
        if (events.length > 0) await this.#channel.send(events.map((event) => ({ event })));
      },
      (error) => this.#lost.add(REFUSED, error),
    );
  }

  async close(): Promise<void> {
    this.#channel.close();
    await this.#lost.stop();
  }
}
