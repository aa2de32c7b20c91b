/** Output redis: events to lists or channels. */

import { isIP } from "node:net";
import { Redis } from "ioredis";
import type { Static } from "typebox";
import { clientTls, TLS_CLIENT } from "#hub/pipeline/connections/tls.ts";
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
import { list, oneOf, optional, options, text, withoutEffect } from "#proto/kit/options.ts";
import { Type } from "#proto/kit/schema.ts";

const OPTIONS = options({
  host: list("hosts, with :port if it differs from port; the first that answers is used", ["127.0.0.1"]),
  port: Type.Integer({ default: 6379, minimum: 1, maximum: 65535, description: "port of the hosts" }),
  db: Type.Integer({ default: 0, minimum: 0, description: "number of the database" }),
  password: optional(text("password")),
  ...TLS_CLIENT,
  timeout: Type.Number({
    default: 5,
    exclusiveMinimum: 0,
    description: "timeout for opening a connection, s",
  }),
  key: text("list or channel, a format"),
  data_type: oneOf(["list", "channel"], "list appends (RPUSH), channel publishes to subscribers", "list"),
  codec: codecOption("codec that writes events", "json"),
  batch: withoutEffect("events are always sent many at a time", Type.Boolean({ default: true })),
  batch_events: withoutEffect("the events of a batch are sent together"),
  batch_timeout: withoutEffect("pipeline.batch.delay says how long a batch waits"),
  congestion_threshold: Type.Integer({
    default: 0,
    minimum: 0,
    description: "maximum length of the list; while it is exceeded, the output waits; 0: no limit",
  }),
  reconnect_interval: withoutEffect("unreachable hosts are tried again, with waits that grow"),
  congestion_interval: withoutEffect("the list's length is checked with each batch"),
  shuffle_hosts: withoutEffect("hosts are tried in their order", Type.Boolean({ default: true })),
});

type Options = Static<typeof OPTIONS>;

export const redisOutput = defineOutput({
  name: "redis",
  description: "appends events to Redis lists, or publishes them to channels",
  options: OPTIONS,
  create({ key, codec }, context) {
    const target = compileFormat(key);
    const encoder = context.codec(codec);
    return { shape: (event) => ({ target: target(event), body: encoder.encode(event) }) };
  },
  writer: (values, context) => new RedisWriter(values, context),
});

class RedisWriter implements OutputWriter {
  readonly #values: Options;
  readonly #context: WriterContext;
  #redis: Redis | undefined;
  #next = 0;

  constructor(values: Options, context: WriterContext) {
    this.#values = values;
    this.#context = context;
  }

  async write(records: readonly OutputRecord[], signal: AbortSignal): Promise<WriteRest | undefined> {
    const redis = await this.#connected();
    const abort = (): void => redis.disconnect();
    signal.addEventListener("abort", abort, { once: true });
    try {
      await this.#checkLength(redis, records);
      if (this.#values.data_type === "channel") {
        for (const { target, body } of records) await redis.publish(target, Buffer.from(body));
        return undefined;
      }
      return await append(redis, records);
    } catch (error) {
      this.#redis = undefined;
      redis.disconnect();
      if (error instanceof AppError) throw error;
      throw new AppError("unavailable", `Redis refuses events: ${(error as Error).message}`, {
        cause: error,
      });
    } finally {
      signal.removeEventListener("abort", abort);
    }
  }

  async stop(): Promise<void> {
    this.#redis?.disconnect();
    this.#redis = undefined;
  }

  async #checkLength(redis: Redis, records: readonly OutputRecord[]): Promise<void> {
    const { congestion_threshold, data_type } = this.#values;
    if (congestion_threshold === 0 || data_type === "channel") return;
    for (const key of new Set(records.map(({ target }) => target))) {
      const length = await redis.llen(key);
      if (length > congestion_threshold)
        throw new AppError("overloaded", `the list ${key} holds ${length} events that were not consumed`);
    }
  }

  async #connected(): Promise<Redis> {
    if (this.#redis !== undefined) return this.#redis;
    const { host, port, db, password, timeout } = this.#values;
    const tls = clientTls(this.#values, (path) => path);
    const [name = "127.0.0.1", ownPort] = host[this.#next++ % host.length]!.split(":");
    this.#context.checkTarget(name);
    const redis = new Redis({
      host: name,
      port: Number(ownPort ?? port),
      db,
      ...(password !== undefined && { password }),
      ...(tls !== undefined && { tls: { servername: isIP(name) === 0 ? name : "", ...tls } }),
      connectTimeout: timeout * 1000,
      lazyConnect: true,
      maxRetriesPerRequest: 0,
      retryStrategy: () => null,
    });
    redis.on("error", () => undefined);
    try {
      await redis.connect();
    } catch (error) {
      redis.disconnect();
      throw new AppError(
        "unavailable",
        `Redis at ${name}:${ownPort ?? port} can't be reached: ${(error as Error).message}`,
        { cause: error },
      );
    }
    this.#redis = redis;
    return redis;
  }
}

/** Appends records to their lists. Those of a list that takes none are in the rest: the others must not come once more. */
async function append(redis: Redis, records: readonly OutputRecord[]): Promise<WriteRest> {
  const places = [...Map.groupBy(records.keys(), (place) => records[place]!.target)];
  // One transaction: what fails half-way would be appended twice at the next try.
  const commands = redis.multi();
  for (const [key, ofKey] of places)
    commands.rpush(key, ...ofKey.map((place) => Buffer.from(records[place]!.body)));
  const results = await commands.exec();
  const again: number[] = [];
  const refused: { place: number; reason: string }[] = [];
  for (const [index, [key, ofKey]] of places.entries()) {
    const error = results?.[index]?.[0];
    if (error === null || error === undefined) continue;
    if (error.message.startsWith("WRONGTYPE"))
      refused.push(...ofKey.map((place) => ({ place, reason: `${key} isn't a list` })));
    else again.push(...ofKey);
  }
  return { again, refused };
}
