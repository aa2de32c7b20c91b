/** Input forward: what Fluentd and Fluent Bit send by the Forward protocol, and Docker's fluentd log driver. */

import { randomUUID } from "node:crypto";
import type { Socket } from "node:net";
import { hostname } from "node:os";
import type { TlsOptions } from "node:tls";
import { decodeMultiStream, encode } from "@msgpack/msgpack";
import type { Static } from "typebox";
import { listenerTls, TLS_LISTENER } from "#hub/pipeline/connections/tls.ts";
import { defineInput, type InputChannel, type InputContext } from "#hub/pipeline/plugins/input.ts";
import {
  FORWARD_DECODING,
  ForwardHandshake,
  type ForwardMessage,
  forwardMessage,
  MAX_FORWARD_BYTES,
} from "#hub/pipeline/plugins/inputs/stream/forward-protocol.ts";
import { Listener } from "#hub/pipeline/plugins/inputs/stream/listener.ts";
import { Event } from "#proto/event.ts";
import { fieldReference } from "#proto/field-reference.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { Component } from "#proto/kit/lifecycle.ts";
import { optional, options, table, text } from "#proto/kit/options.ts";
import { Type } from "#proto/kit/schema.ts";

/** Chunks whose ids are remembered, so that one that is sent again isn't taken again. */
const CHUNKS_KEPT = 10_000;

const OPTIONS = options({
  host: text("address to listen on", "0.0.0.0"),
  port: Type.Integer({
    default: 24_224,
    minimum: 0,
    maximum: 65535,
    description: "port that is listened at",
  }),
  shared_key: optional(text("key that senders must prove to know; without it everybody may send")),
  users: table("with shared_key: passwords by user, one of which senders must prove to know too"),
  self_hostname: text("name that senders know this side by in the handshake; empty: this machine's", ""),
  ...TLS_LISTENER,
});

type Options = Static<typeof OPTIONS>;

export const forwardInput = defineInput({
  name: "forward",
  description: "takes what Fluentd and Fluent Bit forward, and Docker's log driver of that name",
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
  /** By chunk: settled when the log has it. */
  readonly #chunks = new Map<string, Promise<void>>();

  constructor(context: InputContext, values: Options, tls: TlsOptions | undefined) {
    this.#context = context;
    this.#values = values;
    this.#listener = new Listener({
      host: values.host,
      port: values.port,
      tls,
      serve: (socket) => this.#serve(socket),
      onFault: (error) => context.log.warn({ err: error, input: context.id }, "a connection ended early"),
    });
  }

  async start(): Promise<void> {
    await this.#listener.start();
  }

  async stop(): Promise<void> {
    await this.#listener.stop();
  }

  async #serve(socket: Socket): Promise<void> {
    const { shared_key, users, self_hostname } = this.#values;
    const budget = new Budget();
    const channel = this.#context.open({ key: randomUUID() });
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
      for await (const value of decodeMultiStream(budget.chunks(socket), FORWARD_DECODING)) {
        budget.reset();
        if (handshake === undefined) {
          await this.#take(await forwardMessage(value), socket, channel);
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
  async #take(message: ForwardMessage, socket: Socket, channel: InputChannel): Promise<void> {
    const { chunk } = message;
    const send = (): Promise<void> => {
      const events = this.#events(message, socket.remoteAddress ?? "");
      return events.length === 0 ? Promise.resolve() : channel.send(events.map((event) => ({ event })));
    };
    if (chunk === undefined) {
      await send();
      return;
    }
    const known = this.#chunks.get(chunk);
    const taken = known ?? send();
    if (known === undefined) this.#remember(chunk, taken);
    await taken;
    socket.write(encode({ ack: chunk }));
  }

  #remember(chunk: string, taken: Promise<void>): void {
    if (this.#chunks.size >= CHUNKS_KEPT) this.#chunks.delete(this.#chunks.keys().next().value!);
    this.#chunks.set(chunk, taken);
    taken.catch(() => this.#chunks.delete(chunk));
  }

  #events({ tag, entries }: ForwardMessage, address: string): Event[] {
    const nowMs = this.#context.clock.now();
    return entries.map(({ timeMs = nowMs, record }) => {
      const { log, container_id, container_name, ...fields } = record;
      // Under `log` senders have the line, where ECS has an object.
      if (typeof log === "string") fields["message"] ??= log.replace(/\r?\n$/, "");
      else if (log !== undefined) fields["log"] = log;
      if (container_id !== undefined && fields["container"] === undefined)
        fields["container"] = { id: container_id, name: container_name };
      if (fields["host"] === undefined) fields["host"] = { ip: address };
      const event = new Event(fields, timeMs);
      if (!event.has(FLUENT)) event.set(TAG, tag);
      return event;
    });
  }
}

const FLUENT = fieldReference("fluent");
const TAG = fieldReference("[fluent][tag]");

/** Ends a connection whose message continues beyond the limit. */
class Budget {
  #bytes = 0;

  /** Yields what a socket brings. Throws parsing where no message ended within the limit. */
  async *chunks(socket: Socket): AsyncGenerator<Uint8Array> {
    for await (const chunk of socket as AsyncIterable<Buffer>) {
      this.#bytes += chunk.length;
      if (this.#bytes > MAX_FORWARD_BYTES)
        throw new AppError("parsing", `a message may have ${MAX_FORWARD_BYTES} bytes at most`);
      yield chunk;
    }
  }

  /** A message has ended. */
  reset(): void {
    this.#bytes = 0;
  }
}
