/** Input tcp: lines over TCP connections, accepted or opened by the input. */

import { connect, type Socket } from "node:net";
import { type ConnectionOptions, connect as connectTls, TLSSocket, type TlsOptions } from "node:tls";
import type { Static } from "typebox";
import { Reconnecting } from "#hub/pipeline/connections/reconnecting.ts";
import {
  clientTls,
  currentTlsNames,
  listenerTls,
  TLS_CLIENT,
  TLS_LISTENER,
} from "#hub/pipeline/connections/tls.ts";
import { type Codec, codecOption } from "#hub/pipeline/plugins/codec.ts";
import { defineInput, type InputContext } from "#hub/pipeline/plugins/input.ts";
import { type Connection, faultLog, Listener } from "#hub/pipeline/plugins/inputs/stream/listener.ts";
import {
  ProxyLine,
  type Sender,
  StreamSession,
  type StreamSessionOptions,
} from "#hub/pipeline/plugins/inputs/stream/stream-session.ts";
import type { Event } from "#proto/event.ts";
import { fieldReference } from "#proto/field-reference.ts";
import type { Component } from "#proto/kit/lifecycle.ts";
import { flag, oneOf, options, text, withoutEffect } from "#proto/kit/options.ts";
import { Type } from "#proto/kit/schema.ts";

const OPTIONS = options({
  host: text("address to listen on, or connected to", "0.0.0.0"),
  port: Type.Integer({
    minimum: 0,
    maximum: 65535,
    description: "port to listen on, or to connect to",
  }),
  mode: oneOf(["server", "client"], "whether to accept connections or open one", "server"),
  codec: codecOption("codec that reads lines, or a stream of binary values", "line"),
  delimiter: text("delimiter of lines; codecs of binary values (msgpack, fluent) have none", "\n"),
  proxy_protocol: flag("connections begin with a PROXY protocol header, version 1", false),
  tcp_keep_alive: flag("sends TCP keep-alives on idle connections", false),
  dns_reverse_lookup_enabled: withoutEffect("the filter dns looks names up"),
  ecs_compatibility: oneOf(
    ["disabled", "v1", "v8"],
    "disabled sets host and port, v1 and v8 source.ip and source.port; both keep the sender, a proxy and the subject of a certificate, v1 and v8 under [@metadata][input][tcp]",
    "v8",
  ),
  ...TLS_LISTENER,
  // Required as a listener is asked for by pipelines that were written before.
  ssl_client_authentication: oneOf(
    ["none", "optional", "required"],
    "whether clients need a certificate",
    "required",
  ),
  ssl_verification_mode: TLS_CLIENT.ssl_verification_mode,
});

type Options = Static<typeof OPTIONS>;

export const tcpInput = defineInput({
  name: "tcp",
  description: "reads lines from TCP connections",
  options: OPTIONS,
  create(values, { codec, resolvePath }) {
    const makeCodec = codec(values.codec);
    if (values.mode === "server") {
      const tls = listenerTls(values, resolvePath);
      return (context) => new TcpServer(context, values, makeCodec, tls);
    }
    const tls = clientTls(currentTlsNames(values), resolvePath);
    return (context) => new TcpClient(context, values, makeCodec, tls);
  },
});

class TcpServer implements Component {
  readonly #listener: Listener;

  constructor(context: InputContext, values: Options, makeCodec: () => Codec, tls: TlsOptions | undefined) {
    this.#listener = new Listener({
      host: values.host,
      port: values.port,
      tls,
      shares: context.shares,
      serve: (connection) =>
        serve(connection, values, { context, codec: makeCodec(), held: connection.held }),
      onFault: faultLog(context, "a connection ended early"),
    });
  }

  async start(): Promise<void> {
    await this.#listener.start();
  }

  async stop(): Promise<void> {
    await this.#listener.stop();
  }
}

class TcpClient implements Component {
  readonly #context: InputContext;
  readonly #values: Options;
  readonly #makeCodec: () => Codec;
  readonly #tls: ConnectionOptions | undefined;
  readonly #reading: Reconnecting;

  constructor(
    context: InputContext,
    values: Options,
    makeCodec: () => Codec,
    tls: ConnectionOptions | undefined,
  ) {
    this.#context = context;
    this.#values = values;
    this.#makeCodec = makeCodec;
    this.#tls = tls;
    this.#reading = new Reconnecting({
      context,
      read: ({ signal, working }) => this.#connection(signal, working),
      reason: (error) => `${values.host}:${values.port}: ${(error as Error).message}`,
    });
  }

  async start(): Promise<void> {
    this.#context.checkTarget(this.#values.host);
    await this.#reading.start();
  }

  async stop(): Promise<void> {
    await this.#reading.stop();
  }

  async #connection(signal: AbortSignal, connected: () => void): Promise<void> {
    const { host, port } = this.#values;
    const socket =
      this.#tls === undefined
        ? connect(port, host)
        : connectTls({ ...this.#tls, host, port, servername: host });
    const end = (): void => void socket.destroy();
    signal.addEventListener("abort", end, { once: true });
    socket.once(this.#tls === undefined ? "connect" : "secureConnect", connected);
    try {
      await serve({ socket, chunks: socket }, this.#values, {
        context: this.#context,
        codec: this.#makeCodec(),
      });
    } finally {
      signal.removeEventListener("abort", end);
      socket.destroy();
    }
  }
}

async function serve(
  { socket, chunks, sentBy }: Pick<Connection, "socket" | "chunks"> & Partial<Connection>,
  values: Options,
  options: StreamSessionOptions,
): Promise<void> {
  if (values.tcp_keep_alive) socket.setKeepAlive(true);
  const proxy = new ProxyLine(
    { ip: socket.remoteAddress ?? "", port: socket.remotePort ?? 0 },
    values.proxy_protocol,
    sentBy,
  );
  const subject = clientSubject(socket);
  const session = new StreamSession({
    ...options,
    delimiter: values.delimiter,
    decorate: (event) =>
      (values.ecs_compatibility === "disabled" ? setLegacyOrigin : setOrigin)(event, {
        sender: proxy.sender,
        proxy: proxy.proxy,
        subject,
      }),
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

/** Where the events of a connection come from. */
interface Origin {
  readonly sender: Sender;
  readonly proxy: Sender | undefined;
  /** Whom the peer's certificate names, where it was checked. */
  readonly subject: string | undefined;
}

/** Returns the subject of a certificate that was checked, its most specific part first (RFC 4514). */
function clientSubject(socket: Socket): string | undefined {
  if (!(socket instanceof TLSSocket) || !socket.authorized) return undefined;
  return socket.getPeerX509Certificate()?.subject.split("\n").reverse().join(",");
}

const IP = fieldReference("[source][ip]");
const PORT = fieldReference("[source][port]");
const METADATA = fieldReference("[@metadata][input][tcp]");
const LEGACY_IP = fieldReference("[@metadata][ip_address]");

function setOrigin(event: Event, { sender, proxy, subject }: Origin): void {
  const { ip, port } = sender;
  event.trySet(METADATA, {
    source: { name: ip, ip, port },
    ...(proxy !== undefined && { proxy: { ...proxy } }),
    ...(subject !== undefined && { tls: { client: { subject } } }),
  });
  if (event.has(fieldReference("source"))) return;
  event.trySet(IP, ip);
  event.trySet(PORT, port);
}

function setLegacyOrigin(event: Event, { sender, proxy, subject }: Origin): void {
  event.trySet(LEGACY_IP, sender.ip);
  const origin = {
    host: sender.ip,
    port: sender.port,
    proxy_host: proxy?.ip,
    proxy_port: proxy?.port,
    sslsubject: subject,
  };
  for (const [name, value] of Object.entries(origin))
    if (value !== undefined && event.fields[name] === undefined) event.fields[name] = value;
}
