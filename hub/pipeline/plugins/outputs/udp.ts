/** Output udp: events as datagrams, without confirmation. */

import { createSocket, type Socket } from "node:dgram";
import { isIPv6 } from "node:net";
import { codecOption } from "#hub/pipeline/plugins/codec.ts";
import {
  defineOutput,
  type OutputRecord,
  type OutputWriter,
  type WriteRest,
} from "#hub/pipeline/plugins/output.ts";
import { AppError, systemCode } from "#proto/kit/errors.ts";
import { options, text, withoutEffect } from "#proto/kit/options.ts";
import { Type } from "#proto/kit/schema.ts";

const OPTIONS = options({
  host: text("host to which datagrams are sent"),
  port: Type.Integer({ minimum: 1, maximum: 65535, description: "port to which datagrams are sent" }),
  codec: codecOption("codec that writes events", "json"),
  retry_count: withoutEffect("a datagram that can't be sent is retried until it is sent"),
  retry_backoff_ms: withoutEffect("waits between attempts grow automatically"),
});

export const udpOutput = defineOutput({
  name: "udp",
  description: "sends each event as a UDP datagram, without confirmation",
  options: OPTIONS,
  create({ codec }, context) {
    const encoder = context.codec(codec);
    return { shape: (event) => ({ target: "", body: encoder.encode(event) }) };
  },
  writer: ({ host, port }, { checkTarget }) => {
    return new UdpWriter(host, port, checkTarget);
  },
});

class UdpWriter implements OutputWriter {
  readonly #host: string;
  readonly #port: number;
  readonly #checkTarget: (host: string) => void;
  #socket: Socket | undefined;

  constructor(host: string, port: number, checkTarget: (host: string) => void) {
    this.#host = host;
    this.#port = port;
    this.#checkTarget = checkTarget;
  }

  async write(records: readonly OutputRecord[], signal: AbortSignal): Promise<WriteRest | undefined> {
    this.#checkTarget(this.#host);
    this.#socket ??= createSocket(isIPv6(this.#host) ? "udp6" : "udp4").on("error", () => undefined);
    const refused: { place: number; reason: string }[] = [];
    for (const [place, { body }] of records.entries()) {
      if (signal.aborted) throw new AppError("cancelled", "the output is stopped");
      const error = await this.#send(this.#socket, body);
      if (error === undefined) continue;
      if (systemCode(error) !== "EMSGSIZE")
        throw new AppError("unavailable", `cannot send to ${this.#host}:${this.#port} (${error.message})`, {
          cause: error,
        });
      refused.push({ place, reason: `an event of ${body.length} bytes is too long for a datagram` });
    }
    return refused.length === 0 ? undefined : { refused };
  }

  async stop(): Promise<void> {
    const socket = this.#socket;
    this.#socket = undefined;
    if (socket !== undefined) await new Promise<void>((resolve) => socket.close(resolve));
  }

  #send(socket: Socket, body: Uint8Array): Promise<Error | undefined> {
    return new Promise((resolve) => {
      socket.send(body, this.#port, this.#host, (error) => resolve(error ?? undefined));
    });
  }
}
