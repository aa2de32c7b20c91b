/** Input gelf: messages of Graylog's format, over UDP (whole or in chunks) and TCP (each ends with a zero byte). */

import type { TlsOptions } from "node:tls";
import type { Static } from "typebox";
import { listenerTls, TLS_LISTENER } from "#hub/pipeline/connections/tls.ts";
import { defineInput, type InputContext } from "#hub/pipeline/plugins/input.ts";
import { GelfCodec } from "#hub/pipeline/plugins/inputs/stream/gelf-codec.ts";
import { type Connection, faultLog, Listener } from "#hub/pipeline/plugins/inputs/stream/listener.ts";
import { StreamSession } from "#hub/pipeline/plugins/inputs/stream/stream-session.ts";
import { chosenTransports, TRANSPORTS, Transports } from "#hub/pipeline/plugins/inputs/stream/transports.ts";
import type { Event } from "#proto/event.ts";
import { fieldReference } from "#proto/field-reference.ts";
import { options, text } from "#proto/kit/options.ts";
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
  ...TRANSPORTS,
  ...TLS_LISTENER,
});

type Options = Static<typeof OPTIONS>;

export const gelfInput = defineInput({
  name: "gelf",
  description: "receives GELF over UDP, whole or in chunks, and over TCP",
  options: OPTIONS,
  create(values, { report, resolvePath }) {
    const tls = listenerTls(values, resolvePath);
    const transports = chosenTransports(values.protocols, tls, report);
    return (context) => new Transports(partsOf(context, values, tls), transports);
  },
});

function partsOf(
  context: InputContext,
  { host, port }: Options,
  tls: TlsOptions | undefined,
): { readonly udp: DatagramInput; readonly tcp: Listener } {
  return {
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
