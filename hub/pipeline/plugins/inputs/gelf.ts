/** Input gelf: messages of Graylog's format, over UDP (whole or in chunks) and TCP (each ends with a zero byte). */

import type { TlsOptions } from "node:tls";
import type { Static } from "typebox";
import { listenerTls, TLS_LISTENER } from "#hub/pipeline/connections/tls.ts";
import { defineInput, type InputContext } from "#hub/pipeline/plugins/input.ts";
import { GelfCodec } from "#hub/pipeline/plugins/inputs/stream/gelf-codec.ts";
import { type Connection, faultLog, Listener } from "#hub/pipeline/plugins/inputs/stream/listener.ts";
import { StreamSession } from "#hub/pipeline/plugins/inputs/stream/stream-session.ts";
import type { Event } from "#proto/event.ts";
import { fieldReference } from "#proto/field-reference.ts";
import type { Component } from "#proto/kit/lifecycle.ts";
import { optional, options, text } from "#proto/kit/options.ts";
import { Type } from "#proto/kit/schema.ts";
import { DatagramInput } from "./udp.ts";

/** Longest datagram, bytes; and datagrams that wait for the log. */
const DATAGRAMS = { buffer_size: 65_536, queue_size: 4_000 };

const OPTIONS = options({
  host: text("address to listen on", "0.0.0.0"),
  port: Type.Integer({
    default: 12_201,
    minimum: 0,
    maximum: 65535,
    description: "port to listen on",
  }),
  protocols: optional(
    Type.Array(Type.Enum(["tcp", "udp"]), {
      minItems: 1,
      description: "transports; default: both, with TLS only tcp",
    }),
  ),
  ...TLS_LISTENER,
});

type Options = Static<typeof OPTIONS>;

export const gelfInput = defineInput({
  name: "gelf",
  description: "receives GELF over UDP, whole or in chunks, and over TCP",
  options: OPTIONS,
  create(values, { report, resolvePath }) {
    const tls = listenerTls(values, resolvePath);
    if (tls !== undefined && values.protocols?.includes("udp") === true)
      report(
        "error",
        "protocols",
        "datagrams aren't encrypted",
        'write protocols => ["tcp"], and an input of its own for UDP',
      );
    return (context) => new GelfInput(context, values, tls);
  },
});

class GelfInput implements Component {
  readonly #parts: readonly Component[];

  constructor(context: InputContext, values: Options, tls: TlsOptions | undefined) {
    const { host, port, protocols = tls === undefined ? ["tcp", "udp"] : ["tcp"] } = values;
    const parts = {
      udp: new DatagramInput(
        context,
        { host, port, ...DATAGRAMS },
        new GelfCodec((chunks) => context.dropped(chunks)),
        (event, { address }) => setSender(event, address),
      ),
      tcp: new Listener({
        host,
        port,
        tls,
        shares: context.shares,
        serve: (connection) => serve(connection, context),
        onFault: faultLog(context, "a connection ended early"),
      }),
    };
    this.#parts = [...new Set(protocols)].map((protocol) => parts[protocol]);
  }

  async start(): Promise<void> {
    for (const part of this.#parts) await part.start();
  }

  async stop(): Promise<void> {
    await Promise.all(this.#parts.map((part) => part.stop()));
  }
}

async function serve({ socket, chunks, held }: Connection, context: InputContext): Promise<void> {
  const address = socket.remoteAddress ?? "";
  const session = new StreamSession({
    context,
    codec: new GelfCodec(),
    delimiter: "\0",
    held,
    decorate: (event) => setSender(event, address),
  });
  try {
    for await (const chunk of chunks) await session.push(chunk);
  } finally {
    await session.end();
  }
}

const HOST_NAME = fieldReference("[host][name]");
const OBSERVER_IP = fieldReference("[observer][ip]");

function setSender(event: Event, address: string): void {
  event.trySet(OBSERVER_IP, address);
  if (!event.has(HOST_NAME)) event.trySet(HOST_NAME, address);
}
