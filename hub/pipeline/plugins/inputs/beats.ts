/** Input beats: what this installation's agents send, and with a port what other shippers send by lumberjack. */

import { randomUUID } from "node:crypto";
import type { Socket } from "node:net";
import type { TlsOptions } from "node:tls";
import type { Static } from "typebox";
import { listenerTls, TLS_LISTENER } from "#hub/pipeline/connections/tls.ts";
import { defineInput, type InputContext } from "#hub/pipeline/plugins/input.ts";
import { Listener } from "#hub/pipeline/plugins/inputs/stream/listener.ts";
import { acknowledgement, LumberjackReader } from "#hub/pipeline/plugins/inputs/stream/lumberjack.ts";
import { parseJsonObject } from "#proto/codec/json.ts";
import { decodeText } from "#proto/codec/plain.ts";
import { Event } from "#proto/event.ts";
import { fieldReference } from "#proto/field-reference.ts";
import type { Component } from "#proto/kit/lifecycle.ts";
import { flag, optional, options, text } from "#proto/kit/options.ts";
import { Type } from "#proto/kit/schema.ts";

const OPTIONS = options({
  host: text("address that is listened at", "0.0.0.0"),
  port: optional(
    Type.Integer({
      minimum: 0,
      maximum: 65535,
      description: "port that shippers connect to by lumberjack; without it only agents are taken",
    }),
  ),
  client_inactivity_timeout: Type.Number({
    default: 60,
    minimum: 0,
    description: "how long a client may say nothing, s; 0: any time",
  }),
  include_codec_tag: flag("accepted for compatibility", true),
  add_hostname: flag("accepted for compatibility", false),
  enrich: Type.Unknown({ description: "accepted for compatibility", default: "none" }),
  executor_threads: optional(Type.Integer({ description: "accepted for compatibility" })),
  event_loop_threads: optional(Type.Integer({ description: "accepted for compatibility" })),
  ...TLS_LISTENER,
});

type Options = Static<typeof OPTIONS>;

export const beatsInput = defineInput({
  name: "beats",
  description: "takes what agents send, and other shippers by lumberjack",
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
      serve: (socket) => this.#serve(socket),
      onFault: (error) =>
        context.log.warn({ err: error, input: context.id }, "a shipper's connection ended early"),
    });
  }

  async start(): Promise<void> {
    await this.#listener.start();
  }

  async stop(): Promise<void> {
    await this.#listener.stop();
  }

  /** A window is acknowledged when its events are in the log; what isn't comes again. */
  async #serve(socket: Socket): Promise<void> {
    socket.setTimeout(this.#timeoutMs, () => socket.destroy());
    const address = socket.remoteAddress ?? "";
    const reader = new LumberjackReader();
    const channel = this.#context.open({ key: randomUUID() });
    try {
      for await (const chunk of socket as AsyncIterable<Buffer>) {
        for (const { payloads, sequence } of await reader.push(chunk)) {
          await channel.send(payloads.map((payload) => ({ event: this.#event(payload, address) })));
          socket.write(acknowledgement(sequence));
        }
      }
    } finally {
      channel.close();
    }
  }

  #event(payload: Buffer, address: string): Event {
    const text = decodeText(payload);
    const nowMs = this.#context.clock.now();
    const event = new Event(parseJsonObject(text) ?? { message: text, tags: ["_jsonparsefailure"] }, nowMs);
    event.set(fieldReference("[@metadata][input][beats][host][ip]"), address);
    return event;
  }
}
