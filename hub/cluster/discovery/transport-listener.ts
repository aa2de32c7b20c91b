/**
 * Listens for other hubs on `transport.port`: answers those that ask for this hub's description, and passes on those that
 * open a connection for messages. Only hubs with a certificate of the cluster's authority get that far.
 */

import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { createServer, type Server, type TLSSocket } from "node:tls";
import { AppError, systemCode, toAppError } from "#proto/kit/errors.ts";
import type { Component } from "#proto/kit/lifecycle.ts";
import type { Logger } from "#proto/kit/log.ts";
import type { ClusterCertificate } from "./cluster-credentials.ts";
import { encodeHello, type Hello } from "./hello.ts";

/**
 * Protocol of links in the handshake (ALPN, RFC 7301); a hub that asks for the description names none. A change that older
 * hubs can't read gets a new name.
 */
export const LINK_PROTOCOL = "tailrace-link/1";

/** Time for the handshake and the answer. */
const TIMEOUT_MS = 5_000;
/** Maximum of concurrent connections: one for messages of each other hub, and short ones that ask for the description. */
const MOST_CONNECTIONS = 256;

export interface TransportListenerOptions {
  readonly host: string;
  readonly port: number;
  readonly certificate: ClusterCertificate;
  /** Returns this hub's current description. Without it hubs that ask for it get no answer. */
  readonly own?: () => Hello;
  readonly log: Logger;
}

export class TransportListener implements Component {
  readonly #options: TransportListenerOptions;
  /** Undefined while the hub starts. */
  #takeLink: ((socket: TLSSocket) => void) | undefined;
  #server: Server | undefined;

  constructor(options: TransportListenerOptions) {
    this.#options = options;
  }

  /** Passes links to `take` from now on; they are refused before. */
  onLink(take: (socket: TLSSocket) => void): void {
    this.#takeLink = take;
  }

  /** The port, once it listens. */
  get port(): number {
    return (this.#server?.address() as AddressInfo | null | undefined)?.port ?? this.#options.port;
  }

  /** Throws port_taken or settings_invalid with the remedy. */
  async start(): Promise<void> {
    const { host, port, certificate, log } = this.#options;
    const server = createServer({
      ca: certificate.authority,
      cert: certificate.certificate,
      key: certificate.key,
      requestCert: true,
      rejectUnauthorized: true,
      minVersion: "TLSv1.3",
      handshakeTimeout: TIMEOUT_MS,
      ALPNProtocols: [LINK_PROTOCOL],
    });
    server.maxConnections = MOST_CONNECTIONS;
    server.on("secureConnection", (socket) => {
      socket.on("error", () => undefined);
      if (socket.alpnProtocol !== LINK_PROTOCOL) this.#answer(socket);
      else if (this.#takeLink === undefined) socket.destroy();
      else this.#takeLink(socket);
    });
    server.on("tlsClientError", (error, { remoteAddress }) =>
      log.debug({ remoteAddress, reason: error.message }, "a connection to transport.port was refused"),
    );
    try {
      server.listen(port, host);
      await once(server, "listening");
    } catch (error) {
      throw explain(error, host, port);
    }
    this.#server = server;
  }

  async stop(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (server === undefined) return;
    const closed = once(server, "close");
    server.close();
    await closed; // connections end within their timeout
  }

  #answer(socket: TLSSocket): void {
    socket.setTimeout(TIMEOUT_MS, () => socket.destroy());
    socket.resume();
    try {
      const { own } = this.#options;
      if (own === undefined) socket.destroy();
      else socket.end(encodeHello(own()));
    } catch (error) {
      this.#options.log.warn({ err: toAppError(error) }, "another hub's question can't be answered");
      socket.destroy();
    }
  }
}

function explain(error: unknown, host: string, port: number): AppError {
  const cause = { cause: error };
  if (systemCode(error) === "EADDRNOTAVAIL")
    return new AppError(
      "settings_invalid",
      `transport.host: ${host} is not an address of this machine`,
      cause,
    );
  return new AppError(
    "port_taken",
    `transport.port: cannot listen on ${host}:${port} (${(error as Error).message}); set transport.port to a free port, and name it in discovery.seed_hosts of all hubs if that is set`,
    cause,
  );
}
