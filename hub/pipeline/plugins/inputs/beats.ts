/** Input beats: lines from this installation's agents and, with a port, from other shippers over lumberjack. */

import { randomUUID } from "node:crypto";
import type { Socket } from "node:net";
import type { TlsOptions } from "node:tls";
import type { Static } from "typebox";
import { listenerTls, TLS_LISTENER } from "#hub/pipeline/connections/tls.ts";
import { defineInput, type InputContext } from "#hub/pipeline/plugins/input.ts";
import { type Connection, faultLog, Listener } from "#hub/pipeline/plugins/inputs/stream/listener.ts";
import {
  acknowledgement,
  LumberjackReader,
  VERSION_2,
} from "#hub/pipeline/plugins/inputs/stream/lumberjack-reader.ts";
import { parseEventObject } from "#proto/codec/json.ts";
import { decodeText } from "#proto/codec/plain.ts";
import { Event } from "#proto/event.ts";
import { fieldReference } from "#proto/field-reference.ts";
import type { Component } from "#proto/kit/lifecycle.ts";
import { optional, options, text, withoutEffect } from "#proto/kit/options.ts";
import { Type } from "#proto/kit/schema.ts";

const OPTIONS = options({
  host: text("address to listen on", "0.0.0.0"),
  port: optional(
    Type.Integer({
      minimum: 0,
      maximum: 65535,
      description: "port to which shippers connect with lumberjack; without it only agents are accepted",
    }),
  ),
  client_inactivity_timeout: Type.Number({
    default: 60,
    minimum: 0,
    description: "idle time after which a connection is closed, s; 0: never",
  }),
  include_codec_tag: withoutEffect("events aren't tagged with the codec", Type.Boolean({ default: true })),
  add_hostname: withoutEffect("the shipper names the host in host.name", Type.Boolean({ default: false })),
  enrich: withoutEffect("events are kept as the shipper sent them", Type.Unknown({ default: "none" })),
  executor_threads: withoutEffect("one thread reads all connections"),
  event_loop_threads: withoutEffect("one thread reads all connections"),
  ...TLS_LISTENER,
});

type Options = Static<typeof OPTIONS>;

export const beatsInput = defineInput({
  name: "beats",
  description: "receives lines of agents, and of other shippers over lumberjack",
  options: OPTIONS,
  takesAgents: true,
  create(values, { resolvePath }) {
    if (values.port === undefined) return undefined;
    const tls = listenerTls(values, resolvePath);
    return (context) => new BeatsInput(context, values, tls);
  },
});

class BeatsInput implements Component {
  readonly #context: InputContext;
  readonly #timeoutMs: number;
  readonly #listener: Listener;

  constructor(context: InputContext, values: Options, tls: TlsOptions | undefined) {
    this.#context = context;
    this.#timeoutMs = values.client_inactivity_timeout * 1000;
    this.#listener = new Listener({
      host: values.host,
      port: values.port ?? 0,
      tls,
      shares: context.shares,
      serve: (connection) => this.#serve(connection),
      onFault: faultLog(context, "a shipper's connection ended early"),
    });
  }

  async start(): Promise<void> {
    await this.#listener.start();
  }

  async stop(): Promise<void> {
    await this.#listener.stop();
  }

  /** A window is acknowledged when its events are in the log; what isn't comes again. */
  async #serve({ socket, chunks, held }: Connection): Promise<void> {
    let isSending = false;
    socket.setTimeout(this.#timeoutMs);
    // A sender that waits for its acknowledgement isn't idle.
    socket.on("timeout", () => {
      if (isSending) socket.setTimeout(this.#timeoutMs);
      else socket.destroy();
    });
    const address = socket.remoteAddress ?? "";
    const reader = new LumberjackReader({ held });
    const channel = this.#context.open({ key: randomUUID() });
    try {
      for await (const chunk of chunks) {
        for (const { payloads, sequence } of await reader.push(chunk)) {
          isSending = true;
          const events = payloads.map((payload) => ({ event: this.#event(payload, address) }));
          await keepAlive(socket, reader.version, channel.send(events));
          isSending = false;
          socket.write(acknowledgement(reader.version, sequence));
        }
        reader.check();
        held(reader.heldBytes);
      }
    } finally {
      channel.close();
    }
  }

  #event(payload: Buffer, address: string): Event {
    const text = decodeText(payload);
    const nowMs = this.#context.clock.now();
    const event = new Event(parseEventObject(text) ?? { message: text, tags: ["_jsonparsefailure"] }, nowMs);
    event.trySet(fieldReference("[@metadata][input][beats][host][ip]"), address);
    return event;
  }
}

/** Time between signs of life while a window waits for the log, ms: senders give up after 30 s and repeat it. */
const KEEP_ALIVE_MS = 5_000;

/** Waits for a window; meanwhile the sender gets acknowledgements of no event. Version 1 takes each for the window's. */
async function keepAlive(socket: Socket, version: number, sent: Promise<void>): Promise<void> {
  const timer = setInterval(() => {
    if (version === VERSION_2) socket.write(acknowledgement(version, 0));
  }, KEEP_ALIVE_MS);
  try {
    await sent;
  } finally {
    clearInterval(timer);
  }
}
