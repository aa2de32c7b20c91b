/** Input `tcp`: lines of any number of connections. */

import { lstatSync, rmSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import type { Static } from "typebox";
import { onlyWith } from "#agent/contract/idle-settings.ts";
import {
  defineInput,
  type Input,
  type InputContext,
  type InputState,
  settingFault,
} from "#agent/contract/input.ts";
import {
  addressSetting,
  cannotListen,
  parseAddress,
  peerFields,
  probeTcp,
} from "#agent/inputs/streams/addresses.ts";
import { Framer } from "#agent/inputs/streams/framing.ts";
import { StreamSink, spoolProperties } from "#agent/inputs/streams/stream-sink.ts";
import { createTlsServer } from "#agent/inputs/streams/tls-server.ts";
import { AppError } from "#proto/kit/errors.ts";
import { withDeadline } from "#proto/kit/lifecycle.ts";
import { Type } from "#proto/kit/schema.ts";
import { durationSetting, sizeSetting } from "#proto/kit/settings/kinds.ts";
import { parseDuration, parseSize } from "#proto/kit/units.ts";

export const tcpSchema = Type.Object(
  {
    host: addressSetting(),
    framing: Type.Union([Type.Literal("auto"), Type.Literal("newline")], {
      default: "newline",
      description: "newline; auto also accepts octet counts (RFC 6587).",
    }),
    max_message_size: sizeSetting({
      default: "64kb",
      description: "Longer messages are split.",
    }),
    max_connections: Type.Integer({
      minimum: 1,
      default: 1_000,
      description: "Further connections are refused.",
    }),
    timeout: durationSetting({
      default: "5m",
      description: "Connections without data for this time are closed; 0: never.",
    }),
    "tls.certificate": Type.Optional(
      Type.String({
        description:
          "File with the certificate, PEM; enables TLS. TLS files are read again when they change.",
      }),
    ),
    "tls.key": Type.Optional(Type.String({ description: "File with its key, PEM." })),
    "tls.ca": onlyWith(
      Type.Optional(
        Type.String({
          description: "File with authorities; connections then need a certificate issued by one of them.",
        }),
      ),
      "tls.certificate",
    ),
    ...spoolProperties,
  },
  { additionalProperties: false },
);

/** At the end messages that were received already are taken for this time; the agent allows its inputs two seconds. */
const LAST_MESSAGES_MS = 300;

/** A sender that is refused tries again and again. */
const REFUSALS_LOGGED_MS = 60_000;

/** `path`: a socket of the file system instead of a port. */
type Settings = Static<typeof tcpSchema> & { readonly path?: string };

export const tcpInput = defineInput({
  type: "tcp",
  summary: "Receives lines over TCP or TLS; senders wait while the output is unreachable.",
  heldSlots: 1,
  schema: tcpSchema,
  validate(settings) {
    parseAddress(settings.host);
    parseSize(settings.max_message_size);
    parseDuration(settings.timeout);
    parseSize(settings["spool.max_bytes"]);
    if ((settings["tls.certificate"] === undefined) !== (settings["tls.key"] === undefined)) {
      throw settingFault("tls.certificate", "tls.certificate and tls.key belong together; set both or none");
    }
  },
  create: (settings, context) => new TcpInput("tcp", settings, context),
  probe: ({ host }) => probeTcp(host),
});

/** Also the connection half of the input `syslog`. */
export class TcpInput implements Input {
  readonly #settings: Settings;
  readonly #context: InputContext;
  readonly #sink: StreamSink;
  readonly #sockets = new Set<Socket>();
  /** The TCP connections below TLS, also those without a handshake yet. */
  readonly #connections = new Set<Socket>();
  readonly #readers = new Set<Promise<void>>();
  #server: Server | undefined;
  /** When a refused connection was logged last, on the monotonic clock. */
  #refusedMs = Number.NEGATIVE_INFINITY;
  #stopped = false;

  constructor(type: string, settings: Settings, context: InputContext) {
    this.#settings = settings;
    this.#context = context;
    this.#sink = new StreamSink(type, context, { spoolBytes: parseSize(settings["spool.max_bytes"]) });
  }

  /** Port it listens on. */
  get port(): number {
    const address = this.#server?.address();
    return typeof address === "object" && address !== null ? address.port : 0;
  }

  /** Throws port_taken, or settings_invalid if a TLS file can't be read. */
  async start(): Promise<void> {
    const { path } = this.#settings;
    const { host, port } = parseAddress(this.#settings.host);
    this.#sink.open();
    if (path !== undefined) removeStaleSocket(path);
    const server = this.#createServer();
    this.#server = server;
    server.maxConnections = this.#settings.max_connections;
    server.on("drop", () => this.#refuse());
    const listening = Promise.withResolvers<void>();
    server.once("error", listening.reject);
    if (path === undefined) server.listen(port, host, listening.resolve);
    else server.listen({ path, readableAll: true, writableAll: true }, listening.resolve);
    try {
      await listening.promise;
    } catch (error) {
      await this.#sink.stop();
      throw cannotListen(`input ${this.#context.id}`, path ?? `tcp ${host}:${port}`, error);
    }
    server.off("error", listening.reject);
    server.on("error", (error) => this.#sink.fail("the listening socket reports an error", error));
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    const server = this.#server;
    this.#server = undefined;
    const closed =
      server === undefined ? undefined : new Promise<void>((resolve) => server.close(() => resolve()));
    for (const socket of [...this.#sockets, ...this.#connections]) socket.destroy();
    // What was received is taken while that needs no wait.
    await withDeadline(Promise.all(this.#readers), LAST_MESSAGES_MS, "taking the last messages").catch(() =>
      this.#sink.close(),
    );
    await Promise.all(this.#readers);
    await this.#sink.stop();
    await closed;
  }

  preserve(): void {
    this.#sink.preserve();
  }

  hasUnacknowledged(): boolean {
    return this.#sink.hasUnacknowledged;
  }

  state(): InputState {
    return { ...this.#sink.state(), files: this.#sockets.size };
  }

  #createServer(): Server {
    const onConnection = (socket: Socket): void => {
      const reader = this.#read(socket).finally(() => {
        this.#sockets.delete(socket);
        this.#readers.delete(reader);
      });
      this.#sockets.add(socket);
      this.#readers.add(reader);
    };
    const { "tls.certificate": certificate, "tls.key": key, "tls.ca": ca } = this.#settings;
    if (certificate === undefined || key === undefined) return createServer(onConnection);
    const onFault = (error: unknown): void =>
      this.#sink.fail("renewed TLS files can't be used; connections get the certificate of before", error);
    const server = createTlsServer({ certificate, key, ca, onConnection, onFault });
    server.on("connection", (connection: Socket) => {
      this.#connections.add(connection);
      connection.once("close", () => this.#connections.delete(connection));
    });
    server.on("tlsClientError", (error) => this.#sink.fail("a TLS connection failed", error));
    return server;
  }

  /** Counts a connection beyond `max_connections`; logs the first of a while. */
  #refuse(): void {
    const { clock, metrics, id } = this.#context;
    const nowMs = clock.monotonic();
    if (nowMs - this.#refusedMs < REFUSALS_LOGGED_MS) {
      metrics.errors.inc({ input: id });
      return;
    }
    this.#refusedMs = nowMs;
    const { max_connections: most } = this.#settings;
    this.#sink.fail("a connection was refused", new Error(`max_connections: ${most} are open; raise it`));
  }

  /** Reads one connection to its end; the next chunk is taken only when this one is in a batch. */
  async #read(socket: Socket): Promise<void> {
    const maxBytes = Math.min(parseSize(this.#settings.max_message_size), this.#sink.maxMessageBytes);
    const framer = new Framer({ maxBytes, octetCounting: this.#settings.framing === "auto" });
    const fields = peerFields(socket.remoteAddress, socket.remotePort);
    const timeoutMs = parseDuration(this.#settings.timeout);
    let isTaking = false;
    socket.setTimeout(timeoutMs);
    // A sender that waits for the output isn't idle.
    socket.on("timeout", () => {
      if (isTaking) socket.setTimeout(timeoutMs);
      else socket.destroy();
    });
    try {
      for await (const chunk of socket) {
        isTaking = true;
        for (const message of framer.push(chunk as Buffer)) await this.#sink.put(message, fields);
        isTaking = false;
      }
    } catch (error) {
      if (!this.#stopped) this.#context.log.debug({ error }, "a connection broke");
    }
    for (const message of framer.end()) await this.#sink.put(message, fields);
  }
}

/** A socket that a killed agent left behind keeps others from listening; anything else at its path stays. */
function removeStaleSocket(path: string): void {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return;
  if (!stat.isSocket())
    throw new AppError("settings_invalid", `${path} exists and isn't a socket; name another path`);
  rmSync(path);
}
