/** A small HTTP server for monitoring a process: GET /health and GET /metrics. */

import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { AppError, systemCode } from "#proto/kit/errors.ts";
import type { Component } from "#proto/kit/lifecycle.ts";
import type { Metrics } from "#proto/kit/metrics.ts";
import { createServer } from "./node-http.ts";

/** ok and degraded answer 200, as a restart would not help; failed answers 503. */
export interface Health {
  readonly status: "ok" | "degraded" | "failed";
  /** One sentence where it isn't ok. */
  readonly reason: string;
}

export interface StatusServerOptions {
  readonly host: string;
  /** 0: one the system chooses. */
  readonly port: number;
  /** Setting that names the port, for messages. */
  readonly setting: string;
  readonly health: () => Health;
  readonly metrics: Metrics;
}

/** A client that doesn't send its request within this time is disconnected. */
const REQUEST_TIMEOUT_MS = 5_000;
const CONNECTIONS_MAX = 64;

export class StatusServer implements Component {
  readonly #options: StatusServerOptions;
  readonly #server: Server;

  constructor(options: StatusServerOptions) {
    this.#options = options;
    this.#server = createServer({ requestTimeout: REQUEST_TIMEOUT_MS }, (request, response) => {
      this.#answer(request, response).catch((error: unknown) => response.destroy(error as Error));
    });
    this.#server.maxConnections = CONNECTIONS_MAX;
  }

  /** Port it listens on, once started. */
  get port(): number {
    return (this.#server.address() as AddressInfo | null)?.port ?? 0;
  }

  /** Throws port_taken. */
  start(): Promise<void> {
    const { host, port, setting } = this.#options;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#server.once("error", (error) => {
      const why = systemCode(error) === "EADDRINUSE" ? "another process listens there" : error.message;
      reject(
        new AppError(
          "port_taken",
          `cannot listen on ${host}:${port}: ${why}; choose another port with ${setting}`,
          { cause: error },
        ),
      );
    });
    this.#server.listen(port, host, resolve);
    return promise;
  }

  async stop(): Promise<void> {
    if (!this.#server.listening) return;
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.#server.closeAllConnections();
    await closed;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (request.url ?? "/").split("?", 1)[0];
    if (request.method !== "GET" && request.method !== "HEAD") {
      send(response, 405, "application/json", '{"error":"only GET is possible"}');
    } else if (path === "/health") {
      const health = this.#options.health();
      send(response, health.status === "failed" ? 503 : 200, "application/json", JSON.stringify(health));
    } else if (path === "/metrics") {
      send(response, 200, "text/plain; version=0.0.4; charset=utf-8", await this.#options.metrics.text());
    } else {
      send(response, 404, "application/json", '{"error":"there are /health and /metrics"}');
    }
  }
}

function send(response: ServerResponse, status: number, type: string, body: string): void {
  response.writeHead(status, { "content-type": type, "cache-control": "no-store" });
  response.end(response.req.method === "HEAD" ? undefined : body);
}
