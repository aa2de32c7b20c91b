/** Answers the other hubs on `transport.port`; only those with a certificate of the cluster's authority. */

import { once } from "node:events";
import { createServer, type Server, type TLSSocket } from "node:tls";
import { AppError, systemCode, toAppError } from "#proto/kit/errors.ts";
import type { Component } from "#proto/kit/lifecycle.ts";
import type { Logger } from "#proto/kit/log.ts";
import type { ClusterCertificate } from "./cluster-credentials.ts";
import { encodeHello, type Hello } from "./hello.ts";

/** Time for the handshake and the answer. */
const TIMEOUT_MS = 5_000;
/** Maximum of concurrent connections; hubs ask each other every few seconds. */
const MOST_CONNECTIONS = 64;

export interface HelloListenerOptions {
  readonly host: string;
  readonly port: number;
  readonly certificate: ClusterCertificate;
  /** Returns this hub's current description. */
  readonly own: () => Hello;
  readonly log: Logger;
}

export class HelloListener implements Component {
  readonly #options: HelloListenerOptions;
  #server: Server | undefined;

  constructor(options: HelloListenerOptions) {
    this.#options = options;
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
    });
    server.maxConnections = MOST_CONNECTIONS;
    server.on("secureConnection", (socket) => this.#answer(socket));
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
    socket.on("error", () => undefined);
    socket.setTimeout(TIMEOUT_MS, () => socket.destroy());
    socket.resume();
    try {
      socket.end(encodeHello(this.#options.own()));
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
    `transport.port: cannot listen on ${host}:${port} (${(error as Error).message}); set transport.port to a free port, and name it in discovery.seed_hosts of all hubs`,
    cause,
  );
}
