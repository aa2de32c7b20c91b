/** Input beats: lines from this installation's agents and, with a port, from other shippers over lumberjack. */

import { randomUUID } from "node:crypto";
import type { Socket } from "node:net";
import type { TlsOptions } from "node:tls";
import type { Static } from "typebox";
import { listenerTls, TLS_LISTENER } from "#hub/pipeline/connections/tls.ts";
import { type Codec, codecOption, decodeWhole } from "#hub/pipeline/plugins/codec.ts";
import { defineInput, type InputContext } from "#hub/pipeline/plugins/input.ts";
import { joinTables } from "#hub/pipeline/plugins/inputs/stream/join-tables.ts";
import { type Connection, faultLog, Listener } from "#hub/pipeline/plugins/inputs/stream/listener.ts";
import {
  acknowledgement,
  LumberjackReader,
  VERSION_2,
} from "#hub/pipeline/plugins/inputs/stream/lumberjack-reader.ts";
import { parseEventObject } from "#proto/codec/json.ts";
import { decodeText } from "#proto/codec/plain.ts";
import { copyValue, Event } from "#proto/event.ts";
import { fieldReference } from "#proto/field-reference.ts";
import type { JsonObject } from "#proto/kit/json.ts";
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
  codec: codecOption(
    "codec that reads the messages of shippers; what they send beside a message is added to its events",
    "plain",
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
  create(values, { resolvePath, codec, report }) {
    // The messages of events are texts already.
    const makeCodec = values.codec === "plain" ? undefined : codec(values.codec);
    if (makeCodec?.().held !== undefined)
      report("error", "codec", "lines of many files come mixed", "let the shipper join lines");
    if (values.port === undefined) return undefined;
    const tls = listenerTls(values, resolvePath);
    return (context) => new BeatsInput(context, values, makeCodec, tls);
  },
});

/** The input beats by the name of a shipper that speaks the same protocol. */
export const elasticAgentInput = defineInput({ ...beatsInput, name: "elastic_agent" });

class BeatsInput implements Component {
  readonly #context: InputContext;
  readonly #timeoutMs: number;
  readonly #makeCodec: (() => Codec) | undefined;
  readonly #listener: Listener;

  constructor(
    context: InputContext,
    values: Options,
    makeCodec: (() => Codec) | undefined,
    tls: TlsOptions | undefined,
  ) {
    this.#context = context;
    this.#makeCodec = makeCodec;
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
    const codec = this.#makeCodec?.();
    const channel = this.#context.open({ key: randomUUID() });
    try {
      for await (const chunk of chunks) {
        for (const { payloads, sequence } of await reader.push(chunk)) {
          isSending = true;
          const events = payloads.flatMap((payload) => this.#events(payload, address, codec));
          await keepAlive(socket, reader.version, channel.send(events.map((event) => ({ event }))));
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

  #events(payload: Buffer, address: string, codec: Codec | undefined): Event[] {
    const text = decodeText(payload);
    const nowMs = this.#context.clock.now();
    const fields = parseEventObject(text) ?? { message: text, tags: ["_jsonparsefailure"] };
    const events = codec === undefined ? [new Event(fields, nowMs)] : decodeMessage(fields, codec, nowMs);
    for (const event of events) {
      event.trySet(HOST_IP, address);
      event.trySet(LEGACY_IP, address);
    }
    return events;
  }
}

const HOST_IP = fieldReference("[@metadata][input][beats][host][ip]");
const LEGACY_IP = fieldReference("[@metadata][ip_address]");

/** Returns the events that a codec reads from a message, each with the other fields that came with it. */
function decodeMessage(fields: JsonObject, codec: Codec, nowMs: number): Event[] {
  // Version 1 of the protocol calls a message a line.
  const name = ["message", "line"].find((each) => typeof fields[each] === "string");
  if (name === undefined) return [new Event(fields, nowMs)];
  const { [name]: message, ...others } = fields;
  return decodeWhole(codec, Buffer.from(String(message)), nowMs).map(
    (decoded) => new Event(merged(decoded, copyValue(others) as JsonObject), nowMs),
  );
}

/** What the shipper says goes before what the codec read; tables are joined, and tags of both are kept. */
function merged(decoded: Event, others: JsonObject): JsonObject {
  const fields: JsonObject = { ...decoded.fields, "@metadata": decoded.metadata };
  const { tags: own } = fields;
  joinTables(fields, others);
  const { tags } = others;
  if (own !== undefined && tags !== undefined) fields["tags"] = [own, tags].flat();
  return fields;
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
