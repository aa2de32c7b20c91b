/** Input udp: datagrams. */

import { randomUUID } from "node:crypto";
import { createSocket, type RemoteInfo, type Socket } from "node:dgram";
import { isIPv6 } from "node:net";
import type { Static } from "typebox";
import { LostData } from "#hub/pipeline/connections/lost-data.ts";
import type { Codec } from "#hub/pipeline/plugins/codec.ts";
import { codecOption } from "#hub/pipeline/plugins/codec.ts";
import { defineInput, type InputChannel, type InputContext } from "#hub/pipeline/plugins/input.ts";
import type { Event } from "#proto/event.ts";
import { fieldReference } from "#proto/field-reference.ts";
import { AppError, systemCode } from "#proto/kit/errors.ts";
import type { Component } from "#proto/kit/lifecycle.ts";
import { DatagramDrops } from "#proto/kit/net/datagram-drops.ts";
import { oneOf, optional, options, text, withoutEffect } from "#proto/kit/options.ts";
import { Type } from "#proto/kit/schema.ts";

/** Events that wait for the log at most: a datagram may hold thousands of values or flows. */
const MAX_PENDING_EVENTS = 50_000;

const OPTIONS = options({
  host: text("address to listen on", "0.0.0.0"),
  port: Type.Integer({ minimum: 0, maximum: 65535, description: "port to listen on" }),
  codec: codecOption("codec that reads datagrams", "plain"),
  buffer_size: Type.Integer({
    default: 65_536,
    minimum: 1,
    description: "maximum size of a datagram, bytes",
  }),
  receive_buffer_bytes: optional(
    Type.Integer({ minimum: 1, description: "receive buffer of the socket, bytes" }),
  ),
  queue_size: Type.Integer({
    default: 2_000,
    minimum: 1,
    description: `datagrams that wait for the log, of ${MAX_PENDING_EVENTS} events at most; further ones are dropped, because UDP senders can't be slowed down`,
  }),
  source_ip_fieldname: optional(
    text("target field for the sender's address; default: host.ip, or host if ECS is off"),
  ),
  ecs_compatibility: oneOf(["disabled", "v1", "v8"], "disabled sets host, v1 and v8 host.ip", "v8"),
  workers: withoutEffect("one thread receives the datagrams"),
});

type Options = Static<typeof OPTIONS>;

export const udpInput = defineInput({
  name: "udp",
  description: "receives UDP datagrams",
  options: OPTIONS,
  create(values, { codec }) {
    const makeCodec = codec(values.codec);
    const field = fieldReference(
      values.source_ip_fieldname ?? (values.ecs_compatibility === "disabled" ? "host" : "[host][ip]"),
    );
    const decorate = (event: Event, { address }: RemoteInfo): void => {
      if (!event.has(field)) event.trySet(field, address);
    };
    return (context) => new DatagramInput(context, values, makeCodec(), decorate);
  },
});

/** What a datagram input needs of its options. */
export type DatagramOptions = Pick<
  Options,
  "host" | "port" | "buffer_size" | "queue_size" | "receive_buffer_bytes"
>;

/** Takes datagrams into the log. */
export class DatagramInput implements Component {
  readonly #context: InputContext;
  readonly #options: DatagramOptions;
  readonly #codec: Codec;
  readonly #decorate: (event: Event, from: RemoteInfo) => void;
  readonly #pending = new Set<Promise<void>>();
  /** Events of the datagrams that wait. */
  #pendingEvents = 0;
  readonly #lost: LostData;
  #channel: InputChannel | undefined;
  #socket: Socket | undefined;
  #drops: DatagramDrops | undefined;

  constructor(
    context: InputContext,
    values: DatagramOptions,
    codec: Codec,
    decorate: (event: Event, from: RemoteInfo) => void,
  ) {
    this.#context = context;
    this.#options = values;
    this.#codec = codec;
    this.#decorate = decorate;
    this.#lost = new LostData(context, "datagrams");
  }

  /** The port in use, if 0 let the system choose. */
  get port(): number {
    return this.#socket?.address().port ?? this.#options.port;
  }

  /** Throws port_taken, unavailable. */
  async start(): Promise<void> {
    const { host, port, receive_buffer_bytes } = this.#options;
    const socket = createSocket({
      type: isIPv6(host) ? "udp6" : "udp4",
      ...(receive_buffer_bytes !== undefined && { recvBufferSize: receive_buffer_bytes }),
    });
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    socket.once("error", reject);
    socket.bind(port, host, resolve);
    try {
      await promise;
    } catch (error) {
      const taken = systemCode(error) === "EADDRINUSE";
      throw new AppError(taken ? "port_taken" : "unavailable", `cannot listen on ${host}:${port} (UDP)`, {
        cause: error,
      });
    }
    socket.on("error", (error) => this.#context.failing(error.message));
    this.#socket = socket;
    this.#drops = new DatagramDrops(socket, this.#context.clock, (count) =>
      this.#lost.add("they come faster than they are read", undefined, count),
    );
    this.#channel = this.#context.open({ key: randomUUID() });
    socket.on("message", (payload, from) => this.#take(payload, from));
  }

  async stop(): Promise<void> {
    const socket = this.#socket;
    this.#socket = undefined;
    await this.#drops?.stop();
    if (socket !== undefined) await new Promise<void>((resolve) => void socket.close(() => resolve()));
    await Promise.allSettled(this.#pending);
    await this.#lost.stop();
    this.#channel?.close();
  }

  #take(payload: Buffer, from: RemoteInfo): void {
    if (this.#pending.size >= this.#options.queue_size) {
      this.#lost.add("the log takes them too slowly");
      return;
    }
    let events: Event[];
    try {
      events = this.#eventsOf(payload, from);
    } catch (error) {
      // What leaves the listener of a socket ends the process.
      this.#lost.add("they can't be read", error);
      return;
    }
    if (events.length === 0) return;
    if (
      this.#pending.size > 0 &&
      this.#pendingEvents + events.length > Math.max(MAX_PENDING_EVENTS, this.#options.queue_size)
    ) {
      this.#lost.add("the log takes them too slowly");
      return;
    }
    this.#pendingEvents += events.length;
    const sent = this.#channel!.send(events.map((event) => ({ event })))
      .catch((error: unknown) => {
        const code = error instanceof AppError ? error.code : undefined;
        if (code === "parsing") this.#lost.add("they can't be read", error);
        else if (code !== "cancelled") this.#context.failing((error as Error).message);
      })
      .finally(() => {
        this.#pending.delete(sent);
        this.#pendingEvents -= events.length;
      });
    this.#pending.add(sent);
  }

  #eventsOf(payload: Buffer, from: RemoteInfo): Event[] {
    const bytes = payload.subarray(0, this.#options.buffer_size);
    const events = this.#codec.decode(bytes, this.#context.clock.now(), from.address);
    for (const event of events) this.#decorate(event, from);
    return events;
  }
}
