/** Input forward: what Fluentd and Fluent Bit send by the Forward protocol, and Docker's fluentd log driver. */

import { randomUUID } from "node:crypto";
import type { Socket } from "node:net";
import { hostname } from "node:os";
import type { TlsOptions } from "node:tls";
import { encode } from "@msgpack/msgpack";
import type { Static } from "typebox";
import { listenerTls, TLS_LISTENER } from "#hub/pipeline/connections/tls.ts";
import {
  FORWARD_DECODING,
  MAX_FORWARD_BYTES,
  tooLong,
  withPackedBytes,
} from "#hub/pipeline/formats/forward-entries.ts";
import { ValueStream } from "#hub/pipeline/formats/message-pack.ts";
import { defineInput, type InputChannel, type InputContext } from "#hub/pipeline/plugins/input.ts";
import {
  CHUNKS_KEPT,
  type ChunkPosition,
  ChunkPositions,
  chunkId,
} from "#hub/pipeline/plugins/inputs/stream/chunk-positions.ts";
import {
  ForwardHandshake,
  type ForwardMessage,
  forwardMessage,
} from "#hub/pipeline/plugins/inputs/stream/forward-protocol.ts";
import {
  type Connection,
  faultLog,
  Listener,
  type NoteHeld,
} from "#hub/pipeline/plugins/inputs/stream/listener.ts";
import { Event } from "#proto/event.ts";
import { fieldReference } from "#proto/field-reference.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { Component } from "#proto/kit/lifecycle.ts";
import { setNewest } from "#proto/kit/newest-entries.ts";
import { optional, options, table, text } from "#proto/kit/options.ts";
import { Type } from "#proto/kit/schema.ts";

const OPTIONS = options({
  host: text("address to listen on", "0.0.0.0"),
  port: Type.Integer({
    default: 24_224,
    minimum: 0,
    maximum: 65535,
    description: "port to listen on",
  }),
  shared_key: optional(text("shared key that senders must prove to know; without it anybody may send")),
  users: table("with shared_key: passwords by user; senders must also prove to know one of them"),
  self_hostname: text("name of this server in the handshake; empty: the host name", ""),
  ...TLS_LISTENER,
});

type Options = Static<typeof OPTIONS>;

export const forwardInput = defineInput({
  name: "forward",
  description: "receives events of Fluentd, Fluent Bit and Docker's fluentd driver over the Forward protocol",
  options: OPTIONS,
  create(values, { report, resolvePath }) {
    if (values.shared_key === undefined && Object.keys(values.users).length > 0)
      report("error", "users", "users need a shared_key", 'write shared_key => "…"');
    const tls = listenerTls(values, resolvePath);
    return (context) => new ForwardInput(context, values, tls);
  },
});

class ForwardInput implements Component {
  readonly #context: InputContext;
  readonly #values: Options;
  readonly #listener: Listener;
  /** Of this run, by chunk: settled when the log has it. */
  readonly #chunks = new Map<string, Promise<void>>();
  readonly #places: ChunkPositions;

  constructor(context: InputContext, values: Options, tls: TlsOptions | undefined) {
    this.#context = context;
    this.#values = values;
    this.#places = new ChunkPositions(context.state);
    this.#listener = new Listener({
      host: values.host,
      port: values.port,
      tls,
      shares: context.shares,
      serve: (connection) => this.#serve(connection),
      onFault: faultLog(context, "a connection ended early"),
    });
  }

  async start(): Promise<void> {
    await this.#places.load();
    await this.#listener.start();
  }

  async stop(): Promise<void> {
    await this.#listener.stop();
  }

  async #serve({ socket, chunks, held }: Connection): Promise<void> {
    const { shared_key, users, self_hostname } = this.#values;
    const channel = new CountedChannel(this.#context);
    let handshake: ForwardHandshake | undefined;
    if (shared_key !== undefined) {
      handshake = new ForwardHandshake({
        sharedKey: shared_key,
        users,
        hostName: self_hostname || hostname(),
      });
      socket.write(encode(handshake.helo));
    }
    try {
      for await (const value of messages(chunks, held)) {
        // A sign of life.
        if (value === null) continue;
        if (handshake === undefined) {
          await this.#take(await forwardMessage(value, held), socket, channel);
          continue;
        }
        const { pong, refused } = handshake.answer(value);
        socket.write(encode(pong));
        if (refused !== undefined) throw new AppError("unauthenticated", `a sender is refused: ${refused}`);
        handshake = undefined;
      }
    } finally {
      channel.close();
    }
  }

  /** Acknowledges a chunk when the log has it, also one that comes again. */
  async #take(message: ForwardMessage, socket: Socket, channel: CountedChannel): Promise<void> {
    const { tag, chunk } = message;
    const events = (): Event[] => this.#events(message, socket.remoteAddress ?? "");
    if (chunk === undefined) {
      await channel.send(events());
      return;
    }
    const id = chunkId(tag, typeof chunk === "string" ? chunk : Buffer.from(chunk).toString("base64"));
    const known = this.#chunks.get(id);
    const taken = known ?? this.#sendChunk(id, events(), channel);
    if (known === undefined) this.#remember(id, taken);
    await taken;
    socket.write(encode({ ack: chunk }));
  }

  /** Sends a chunk to where it was sent before the last restart, else to the connection's channel. */
  async #sendChunk(id: string, events: readonly Event[], channel: CountedChannel): Promise<void> {
    if (events.length === 0) return;
    const earlier = this.#places.earlier(id);
    if (earlier === undefined) {
      await this.#places.store(id, channel.next);
      await channel.send(events);
      return;
    }
    const before = new CountedChannel(this.#context, earlier);
    try {
      await before.send(events);
    } finally {
      before.close();
    }
  }

  #remember(id: string, taken: Promise<void>): void {
    setNewest(this.#chunks, id, taken, CHUNKS_KEPT);
    taken.catch(() => this.#chunks.delete(id));
  }

  #events({ tag, entries }: ForwardMessage, address: string): Event[] {
    const nowMs = this.#context.clock.now();
    return entries.map(({ timeMs = nowMs, record, metadata }) => {
      const { log, container_id, container_name, ...fields } = record;
      // Under `log` senders have the line, where ECS has an object.
      if (typeof log === "string") fields["message"] ??= log.replace(/\r?\n$/, "");
      else if (log !== undefined) fields["log"] = log;
      if (container_id !== undefined && fields["container"] === undefined)
        fields["container"] = { id: container_id, name: container_name };
      if (fields["host"] === undefined) fields["host"] = { ip: address };
      const event = new Event(fields, timeMs);
      if (event.has(FLUENT)) return event;
      event.trySet(TAG, tag);
      if (metadata !== undefined) event.trySet(METADATA, metadata);
      return event;
    });
  }
}

const FLUENT = fieldReference("fluent");
const TAG = fieldReference("[fluent][tag]");
const METADATA = fieldReference("[fluent][metadata]");

/** A channel whose next offset is known before events are sent. */
class CountedChannel {
  readonly #channel: InputChannel;
  readonly #key: string;
  #offset: number;

  /** Without a position, the channel is a new one. */
  constructor(context: InputContext, { key, offset }: ChunkPosition = { key: randomUUID(), offset: 0 }) {
    this.#channel = context.open({ key });
    this.#key = key;
    this.#offset = offset;
  }

  /** Where the next event goes. */
  get next(): ChunkPosition {
    return { key: this.#key, offset: this.#offset };
  }

  async send(events: readonly Event[]): Promise<void> {
    if (events.length === 0) return;
    const from = this.#offset;
    this.#offset += events.length;
    await this.#channel.send(events.map((event, place) => ({ event, offset: from + place })));
  }

  close(): void {
    this.#channel.close();
  }
}

/** Yields the messages of a connection; `held` gets the bytes held of one. Throws parsing for too long ones. */
async function* messages(chunks: AsyncIterable<Buffer>, held: NoteHeld): AsyncGenerator<unknown> {
  const stream = new ValueStream(FORWARD_DECODING, withPackedBytes);
  for await (const chunk of chunks) {
    for (const value of stream.values(chunk)) {
      yield value;
      stream.reset();
    }
    held(stream.pendingBytes);
    if (stream.pendingBytes > MAX_FORWARD_BYTES) throw tooLong();
  }
}
