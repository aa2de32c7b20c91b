/** Input `kvstore`: lists, streams, channels and the slow log of a server that speaks the Redis protocol. */

import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import type { Static } from "typebox";
import { onlyWith } from "#agent/contract/idle-settings.ts";
import {
  defineInput,
  type Input,
  type InputContext,
  type InputState,
  settingFault,
} from "#agent/contract/input.ts";
import { parseAddress } from "#agent/inputs/streams/addresses.ts";
import { Receipts, StreamSink } from "#agent/inputs/streams/stream-sink.ts";
import { Backoff } from "#proto/kit/retry.ts";
import { Type } from "#proto/kit/schema.ts";
import { durationSetting } from "#proto/kit/settings/kinds.ts";
import { parseDuration } from "#proto/kit/units.ts";
import { RedisClient, type RedisOptions } from "./redis/client.ts";
import type { Reply } from "./redis/reply.ts";
import {
  type Entry,
  type EntrySource,
  type ListOptions,
  ListSource,
  SlowLogSource,
  StreamSource,
} from "./redis/source.ts";

const text = (description: string) => Type.Optional(Type.String({ description }));

const schema = Type.Object(
  {
    host: Type.String({ default: "127.0.0.1:6379", description: "host:port of the server." }),
    data_type: Type.Union(
      [
        Type.Literal("list"),
        Type.Literal("stream"),
        Type.Literal("channel"),
        Type.Literal("pattern_channel"),
        Type.Literal("slowlog"),
      ],
      {
        default: "list",
        description:
          "list and stream lose nothing; messages of a channel are lost while the agent isn't connected; slowlog reads the server's slow log.",
      },
    ),
    key: Type.String({
      default: "",
      description: "Name of the list, stream or channel; several channels separated by commas.",
    }),
    in_progress_key: onlyWith(
      text("List for entries in flight to the hub. Default: <key>:in-progress:<host name>:<input id>."),
      "data_type",
      "list",
    ),
    group: onlyWith(
      Type.String({ default: "tailrace", minLength: 1, description: "Consumer group of a stream." }),
      "data_type",
      "stream",
    ),
    consumer: onlyWith(
      text(
        "Name within the group; stable, so that a restart finds its entries. Default: host name and input id.",
      ),
      "data_type",
      "stream",
    ),
    start: onlyWith(
      Type.Union([Type.Literal("beginning"), Type.Literal("end")], {
        default: "beginning",
        description: "Where a newly created consumer group begins.",
      }),
      "data_type",
      "stream",
    ),
    claim_idle: onlyWith(
      durationSetting({
        default: "5m",
        description:
          "Entries that another consumer has not acknowledged for this time are taken over; 0: never.",
      }),
      "data_type",
      "stream",
    ),
    message_field: onlyWith(
      Type.String({
        default: "message",
        description:
          "Field of a stream's entries that becomes the message; if it is missing, all fields as JSON.",
      }),
      "data_type",
      "stream",
    ),
    batch: onlyWith(
      Type.Integer({
        minimum: 1,
        maximum: 10_000,
        default: 125,
        description: "Entries requested at a time.",
      }),
      "data_type",
      "list",
      "stream",
      "slowlog",
    ),
    interval: onlyWith(
      durationSetting({
        default: "10s",
        description: "Interval at which the slow log is read.",
      }),
      "data_type",
      "slowlog",
    ),
    database: Type.Integer({ minimum: 0, default: 0, description: "Number of the database." }),
    username: Type.String({ default: "", description: "User, for servers with user accounts." }),
    password: Type.String({ default: "", description: "Password." }),
    password_file: text("File with the password; read on each connection."),
    timeout: durationSetting({
      default: "5s",
      description: "Time after which a command without an answer counts as failed.",
    }),
    "tls.enabled": Type.Boolean({
      default: false,
      description: "Use TLS; on if another tls setting is set.",
    }),
    "tls.ca": text("File with the authorities to trust, PEM."),
    "tls.certificate": text("File with the agent's own certificate, PEM."),
    "tls.key": text("File with its key, PEM."),
  },
  { additionalProperties: false },
);

type Settings = Static<typeof schema>;

const RETRY = { firstMs: 100, capMs: 10_000 };
/** At the end acknowledgements are awaited for this time; the agent allows its inputs two seconds. */
const LAST_ACKNOWLEDGEMENTS_MS = 400;
/** A server that doesn't answer must not hold up the end. */
const STOP_MS = 1_700;
/** Entries read and not yet acknowledged; memory is bounded by the output's slots before that. */
const UNCONFIRMED_MAX = 50_000;

/** An id that is made of the settings. */
const MADE_ID = /^kvstore-[0-9a-f]{8}$/;

export const kvstoreInput = defineInput({
  type: "kvstore",
  summary:
    "Reads lists (with an in-progress list), streams (with a consumer group), channels and the slow log of a Redis server.",
  heldSlots: 1,
  schema,
  validate(settings) {
    parseAddress(settings.host);
    for (const duration of [settings.claim_idle, settings.interval, settings.timeout])
      parseDuration(duration);
    if (settings.key === "" && settings.data_type !== "slowlog")
      throw settingFault("key", `key is missing; a ${settings.data_type} has a name`);
    if ((settings["tls.certificate"] === undefined) !== (settings["tls.key"] === undefined))
      throw settingFault("tls.certificate", "tls.certificate and tls.key belong together; set both or none");
  },
  create: (settings, context) => new KvstoreInput(settings, context),
});

export class KvstoreInput implements Input {
  readonly #settings: Settings;
  readonly #context: InputContext;
  readonly #sink: StreamSink;
  readonly #stop = new AbortController();
  readonly #receipts = new Receipts<string>();
  readonly #position: string;
  #sequence = 0;
  #acknowledged = 0;
  #problem = "";
  #rouse: (() => void) | undefined;
  #client: RedisClient | undefined;
  #task: Promise<void> | undefined;

  constructor(settings: Settings, context: InputContext) {
    this.#settings = settings;
    this.#context = context;
    this.#position = `kvstore/${context.id}`;
    const onAcknowledged = (upTo: number): void => {
      this.#acknowledged = upTo;
      this.#rouse?.();
    };
    this.#sink = new StreamSink("kvstore", context, { onAcknowledged });
  }

  start(): Promise<void> {
    this.#task = this.#run();
    return Promise.resolve();
  }

  /**
   * Ends reading and confirms entries that are acknowledged within a moment; the rest is read again after the next
   * start.
   */
  async stop(): Promise<void> {
    this.#stop.abort();
    this.#rouse?.();
    const isChannel = this.#settings.data_type.endsWith("channel");
    if (isChannel) await this.#client?.close();
    const timer = setTimeout(() => void this.#client?.close(), STOP_MS);
    await this.#task;
    clearTimeout(timer);
    await this.#sink.stop();
  }

  state(): InputState {
    return this.#sink.state();
  }

  problem(): string {
    return this.#problem;
  }

  async #run(): Promise<void> {
    const { clock, id } = this.#context;
    const { signal } = this.#stop;
    const backoff = new Backoff(RETRY);
    while (!signal.aborted) {
      try {
        this.#client = await RedisClient.connect(this.#clientOptions(), signal);
        backoff.reset();
        await this.#serve(this.#client);
      } catch (error) {
        const problem = `input ${id} can't read ${this.#settings.host}`;
        if (!signal.aborted) this.#sink.fail(problem, error);
        this.#problem = `${problem}: ${(error as Error).message}`;
      } finally {
        await this.#client?.close();
        this.#client = undefined;
      }
      if (!signal.aborted) await clock.sleep(backoff.next(), signal);
    }
  }

  async #serve(client: RedisClient): Promise<void> {
    if (this.#settings.data_type.endsWith("channel")) return await this.#listen(client);
    const source = this.#createSource();
    const { signal } = this.#stop;
    const isSlowLog = this.#settings.data_type === "slowlog";
    this.#receipts.clear();
    this.#acknowledged = this.#sequence;
    await source.open(client);
    if (source instanceof ListSource)
      this.#context.registry.setPosition(this.#listPosition, this.#inProgressKeys().inProgressKey);
    this.#problem = "";
    while (!signal.aborted) {
      const entries = await source.read(client);
      for (const entry of entries) await this.#put(entry);
      await this.#confirm(source, client);
      while (this.#receipts.size > UNCONFIRMED_MAX && !signal.aborted) {
        await new Promise<void>((resolve) => (this.#rouse = resolve));
        await this.#confirm(source, client);
      }
      if (isSlowLog) await this.#context.clock.sleep(parseDuration(this.#settings.interval), signal);
    }
    await this.#confirmLast(source, client);
  }

  async #confirmLast(source: EntrySource, client: RedisClient): Promise<void> {
    this.#sink.flush();
    const over = AbortSignal.timeout(LAST_ACKNOWLEDGEMENTS_MS);
    over.addEventListener("abort", () => this.#rouse?.(), { once: true });
    for (;;) {
      await this.#confirm(source, client);
      if (this.#receipts.size === 0 || over.aborted) return;
      await new Promise<void>((resolve) => (this.#rouse = resolve));
    }
  }

  async #put({ message, timeMs, fields, id }: Entry): Promise<void> {
    await this.#sink.put(message, Buffer.from(JSON.stringify(fields)), timeMs);
    if (this.#sink.closed) return;
    this.#sequence = this.#sink.events;
    this.#receipts.add(this.#sequence, id);
  }

  async #confirm(source: EntrySource, client: RedisClient): Promise<void> {
    const ids = this.#receipts.take(this.#acknowledged);
    if (ids.length > 0) await source.confirm(client, ids);
  }

  /** Takes messages as they arrive. Publishers don't wait, so messages that find the buffers full are lost and counted. */
  async #listen(client: RedisClient): Promise<void> {
    this.#sink.open();
    const command = this.#settings.data_type === "channel" ? "SUBSCRIBE" : "PSUBSCRIBE";
    const channels = this.#settings.key.split(",").map((name) => name.trim());
    await client.subscribe(command, channels, (reply) => this.#receive(reply));
    this.#problem = "";
    await client.closed;
    if (!this.#stop.signal.aborted) throw new Error("the connection was closed");
  }

  #receive(reply: Reply): void {
    if (!Array.isArray(reply)) return;
    const kind = String(reply[0]);
    const [channel, message] = reply.slice(-2);
    if (!kind.endsWith("message") || !Buffer.isBuffer(message)) return;
    this.#sink.offer(message, Buffer.from(JSON.stringify({ kvstore: { channel: String(channel) } })));
  }

  #createSource(): EntrySource {
    const { data_type, key, batch, group, start, message_field, claim_idle } = this.#settings;
    const { id, registry, clock } = this.#context;
    const own = `${hostname()}:${id}`;
    if (data_type === "list") {
      return new ListSource({ key, ...this.#inProgressKeys(), batch });
    }
    if (data_type === "slowlog") {
      return new SlowLogSource({
        batch,
        lastId: Number(registry.position(this.#position) ?? -1),
        remember: (last) => registry.setPosition(this.#position, last),
      });
    }
    return new StreamSource({
      key,
      group,
      consumer: this.#settings.consumer ?? own,
      start: start === "beginning" ? "0" : "$",
      messageField: message_field,
      claimIdleMs: parseDuration(claim_idle),
      batch,
      now: () => clock.monotonic(),
    });
  }

  /**
   * Returns the list for entries in flight, and the one before if its name held an id of this input that was made of
   * settings which have changed since.
   */
  #inProgressKeys(): Pick<ListOptions, "inProgressKey" | "formerKey"> {
    const { registry, id, isInput } = this.#context;
    const { key, in_progress_key: given } = this.#settings;
    const prefix = `${key}:in-progress:${hostname()}:`;
    const inProgressKey = given ?? prefix + id;
    const noted = registry.position(this.#listPosition);
    const notedId = noted?.startsWith(prefix) === true ? noted.slice(prefix.length) : "";
    const isFormer = noted !== inProgressKey && MADE_ID.test(notedId) && !isInput(notedId);
    return { inProgressKey, formerKey: isFormer ? noted : undefined };
  }

  /** Name under which the registry has the list for entries in flight. */
  get #listPosition(): string {
    const { host, database, key } = this.#settings;
    return `kvstore-list/${host}/${database}/${key}`;
  }

  #clientOptions(): RedisOptions {
    const { username, password, password_file, database, timeout } = this.#settings;
    const { "tls.ca": ca, "tls.certificate": certificate, "tls.key": key } = this.#settings;
    const secure = this.#settings["tls.enabled"] || ca !== undefined || certificate !== undefined;
    return {
      ...parseAddress(this.#settings.host),
      username,
      password: password_file === undefined ? password : readFileSync(password_file, "utf8").trim(),
      database,
      timeoutMs: parseDuration(timeout),
      tls: secure
        ? {
            ...(ca === undefined ? {} : { ca }),
            ...(certificate === undefined ? {} : { certificate }),
            ...(key === undefined ? {} : { key }),
          }
        : undefined,
    };
  }
}
