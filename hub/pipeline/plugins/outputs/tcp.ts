/** Output tcp: events to a peer that accepts lines. */

import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { resolve } from "node:path";
import { connect as connectTls } from "node:tls";
import type { Static } from "typebox";
import { clientTls, TLS_CLIENT } from "#hub/pipeline/connections/tls.ts";
import { codecOption } from "#hub/pipeline/plugins/codec.ts";
import {
  defineOutput,
  type OutputRecord,
  type OutputWriter,
  type WriterContext,
} from "#hub/pipeline/plugins/output.ts";
import { AppError } from "#proto/kit/errors.ts";
import { oneOf, options, text, withoutEffect } from "#proto/kit/options.ts";
import { Type } from "#proto/kit/schema.ts";

/** Longest that a connection may take to open. ms */
const CONNECT_MS = 10_000;

const OPTIONS = options({
  host: text("host to connect to"),
  port: Type.Integer({ minimum: 1, maximum: 65535, description: "port to connect to" }),
  codec: codecOption("codec that writes events", "json_lines"),
  mode: oneOf(["client"], "only client is supported; the input tcp is the server", "client"),
  reconnect_interval: withoutEffect("waits between attempts grow automatically"),
  ...TLS_CLIENT,
});

type Options = Static<typeof OPTIONS>;

export const tcpOutput = defineOutput({
  name: "tcp",
  description: "sends events over a TCP connection; a peer that closes it may miss those it hadn't read",
  options: OPTIONS,
  create({ codec }, context) {
    const encoder = context.codec(codec);
    return { shape: (event) => ({ target: "", body: encoder.encode(event) }) };
  },
  writer: (values, context) => new TcpWriter(values, context),
});

class TcpWriter implements OutputWriter {
  readonly #values: Options;
  readonly #context: WriterContext;
  #socket: Socket | undefined;

  constructor(values: Options, context: WriterContext) {
    this.#values = values;
    this.#context = context;
  }

  async write(records: readonly OutputRecord[], signal: AbortSignal): Promise<undefined> {
    const socket = await this.#connected(signal);
    const { promise, resolve: done, reject } = Promise.withResolvers<void>();
    socket.write(Buffer.concat(records.map(({ body }) => body)), (error) => {
      if (error === null || error === undefined) done();
      else reject(error);
    });
    const abort = (): void => reject(new AppError("cancelled", "the output is stopped"));
    signal.addEventListener("abort", abort, { once: true });
    try {
      await promise;
    } catch (error) {
      socket.destroy();
      if (error instanceof AppError) throw error;
      throw new AppError("unavailable", `${this.#where} broke the connection`, { cause: error });
    } finally {
      signal.removeEventListener("abort", abort);
    }
  }

  async stop(): Promise<void> {
    const socket = this.#socket;
    this.#socket = undefined;
    if (socket === undefined || socket.destroyed) return;
    socket.end();
    await Promise.race([once(socket, "close"), this.#context.clock.sleep(1_000)]).catch(() => undefined);
    socket.destroy();
  }

  get #where(): string {
    return `${this.#values.host}:${this.#values.port}`;
  }

  async #connected(signal: AbortSignal): Promise<Socket> {
    if (this.#socket !== undefined && !this.#socket.destroyed && this.#socket.writable) return this.#socket;
    const { host, port } = this.#values;
    this.#context.checkTarget(host);
    const tls = clientTls(this.#values, (path) => resolve(path));
    const socket =
      tls === undefined ? connect(port, host) : connectTls({ ...tls, host, port, servername: host });
    // What the peer says is of no meaning, but must be read for its end to be seen.
    socket.on("error", () => undefined).resume();
    try {
      await once(socket, tls === undefined ? "connect" : "secureConnect", {
        signal: AbortSignal.any([signal, AbortSignal.timeout(CONNECT_MS)]),
      });
    } catch (error) {
      socket.destroy();
      throw new AppError("unavailable", `${this.#where} can't be reached`, { cause: error });
    }
    this.#socket = socket;
    return socket;
  }
}
