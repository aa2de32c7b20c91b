/** Input syslog: lines of RFC 3164 and RFC 5424, by UDP (RFC 5426), TCP (RFC 6587) and TLS (RFC 5425) at one port. */

import type { TlsOptions } from "node:tls";
import type { Static } from "typebox";
import { listenerTls, TLS_LISTENER } from "#hub/pipeline/connections/tls.ts";
import { type Codec, codecOption } from "#hub/pipeline/plugins/codec.ts";
import { defineInput, type InputContext } from "#hub/pipeline/plugins/input.ts";
import { faultLog, Listener } from "#hub/pipeline/plugins/inputs/stream/listener.ts";
import {
  ProxyLine,
  StreamSession,
  type StreamSessionOptions,
} from "#hub/pipeline/plugins/inputs/stream/stream-session.ts";
import {
  EnvelopedSyslog,
  SYSLOG_FORMAT,
  SyslogCodec,
  senderField,
  setSender,
  syslogZone,
} from "#hub/pipeline/plugins/inputs/stream/syslog-codec.ts";
import { chosenTransports, TRANSPORTS, Transports } from "#hub/pipeline/plugins/inputs/stream/transports.ts";
import type { FieldReference } from "#proto/field-reference.ts";
import { flag, options, text } from "#proto/kit/options.ts";
import { Type } from "#proto/kit/schema.ts";
import { DatagramInput } from "./udp.ts";

/** Longest datagram, bytes; and datagrams that wait for the log. */
const DATAGRAMS = { buffer_size: 65_536, queue_size: 2_000 };

const OPTIONS = options({
  host: text("address to listen on", "0.0.0.0"),
  port: Type.Integer({
    default: 514,
    minimum: 0,
    maximum: 65535,
    description: "port to listen on; by convention 6514 for syslog over TLS",
  }),
  ...TRANSPORTS,
  codec: codecOption(
    "codec of messages that hold a line of syslog in the field syslog_field; plain: each is such a line",
    "plain",
  ),
  proxy_protocol: flag("TCP connections begin with a PROXY protocol header, version 1", false),
  ...SYSLOG_FORMAT,
  ...TLS_LISTENER,
});

type Options = Static<typeof OPTIONS>;

export const syslogInput = defineInput({
  name: "syslog",
  description: "receives syslog over UDP, TCP and TLS",
  options: OPTIONS,
  create(values, { report, resolvePath, codec }) {
    const tls = listenerTls(values, resolvePath);
    const transports = chosenTransports(values.protocols, tls, report);
    const zone = syslogZone(values, report);
    const envelope = values.codec === "plain" ? undefined : codec(values.codec);
    if (envelope?.().held !== undefined)
      report(
        "error",
        "codec",
        "a message is whole by itself, and those of many senders come mixed",
        "join lines with input tcp, or let the sender do it",
      );
    const makeCodec = (): Codec => {
      const syslog = new SyslogCodec(values, zone);
      return envelope === undefined ? syslog : new EnvelopedSyslog(envelope(), syslog, values.syslog_field);
    };
    return (context) => new Transports(partsOf(context, values, makeCodec, tls), transports);
  },
});

function partsOf(
  context: InputContext,
  values: Options,
  makeCodec: () => Codec,
  tls: TlsOptions | undefined,
): { readonly udp: DatagramInput; readonly tcp: Listener } {
  const { host, port } = values;
  const sender = senderField(values);
  return {
    udp: new DatagramInput(context, { host, port, ...DATAGRAMS }, makeCodec(), (event, { address }) =>
      setSender(event, sender, address),
    ),
    tcp: new Listener({
      host,
      port,
      tls,
      shares: context.shares,
      serve: ({ socket, chunks, held, sentBy }) => {
        const codec = makeCodec();
        const peer = { ip: socket.remoteAddress ?? "", port: socket.remotePort ?? 0 };
        const proxy = new ProxyLine(peer, values.proxy_protocol, sentBy);
        return serve(chunks, { context, codec, held }, sender, proxy);
      },
      onFault: faultLog(context, "a connection ended early"),
    }),
  };
}

async function serve(
  chunks: AsyncIterable<Buffer>,
  options: StreamSessionOptions,
  sender: FieldReference,
  proxy: ProxyLine,
): Promise<void> {
  const session = new StreamSession({
    ...options,
    countsOctets: true,
    decorate: (event) => setSender(event, sender, proxy.sender.ip),
  });
  try {
    for await (const chunk of chunks) {
      const bytes = proxy.take(chunk);
      if (bytes !== undefined) await session.push(bytes);
    }
  } finally {
    await session.end();
  }
}
