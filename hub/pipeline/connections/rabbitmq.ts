/** Connections to RabbitMQ (AMQP 0-9-1), and the options that its input and its output share. */

import { readFileSync } from "node:fs";
import type { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { Channel, ChannelModel } from "amqplib";
import type { Static } from "typebox";
import { AppError } from "#proto/kit/errors.ts";
import { anyTable, flag, list, oneOf, optional, options, text, withoutEffect } from "#proto/kit/options.ts";
import { Type } from "#proto/kit/schema.ts";

/** Longest that a connection may take to open where `connection_timeout` doesn't say. ms */
const CONNECT_TIMEOUT_MS = 10_000;

/** How long the server is waited for at the end; one that is gone wouldn't answer before its heartbeat is missed. ms */
const CLOSE_TIMEOUT_MS = 2_000;

export const RABBITMQ_OPTIONS = {
  host: Type.Array(Type.String(), {
    minItems: 1,
    description: "hosts, with :port if it differs from port; if one doesn't answer, the next is tried",
  }),
  port: Type.Integer({ default: 5672, minimum: 1, maximum: 65535, description: "port of the hosts" }),
  user: text("name", "guest"),
  password: text("password", "guest"),
  vhost: text("virtual host", "/"),
  ssl: optional(flag("uses TLS", false)),
  ssl_version: withoutEffect("TLS 1.2 and newer are supported"),
  ssl_certificate_path: optional(text("file of the own certificate with its key, PKCS12")),
  ssl_certificate_password: optional(text("password of that file")),
  ssl_certificate_authorities: list("files of the authorities whose certificates are trusted, PEM"),
  ssl_verification_mode: oneOf(["full", "none"], "none: accepts any certificate", "full"),
  automatic_recovery: withoutEffect(
    "a lost connection is always opened again",
    Type.Boolean({ default: true }),
  ),
  connect_retry_interval: withoutEffect("waits between attempts grow automatically"),
  connection_timeout: optional(
    Type.Integer({ minimum: 1, description: "timeout for opening a connection, ms" }),
  ),
  heartbeat: optional(
    Type.Integer({ minimum: 0, description: "heartbeat interval of both sides, s; 0: none" }),
  ),
  passive: flag("declares nothing: exchange and queue must exist", false),
  arguments: anyTable("arguments of the declaration, e.g. x-max-length"),
};

const OPTIONS = options(RABBITMQ_OPTIONS);

export type RabbitmqOptions = Static<typeof OPTIONS>;

/**
 * Opens a connection to a host, the next one with each `attempt`; an error of it later only ends it.
 * Throws unavailable; forbidden where `checkTarget` does.
 */
export async function connectRabbitmq(
  values: RabbitmqOptions,
  attempt: number,
  checkTarget: (host: string) => void,
): Promise<ChannelModel> {
  const { host, port, user, password, vhost, heartbeat, connection_timeout } = values;
  const { hostname, ownPort } = splitHost(host[attempt % host.length]!);
  checkTarget(hostname);
  try {
    const { connect } = await import("amqplib");
    const connection = await connect(
      {
        protocol: values.ssl === true ? "amqps" : "amqp",
        hostname,
        port: ownPort ?? port,
        username: user,
        password,
        // The client takes it for a part of an address.
        vhost: encodeURIComponent(vhost),
        ...(heartbeat !== undefined && { heartbeat }),
      },
      { timeout: connection_timeout ?? CONNECT_TIMEOUT_MS, noDelay: true, keepAlive: true, ...tls(values) },
    );
    connection.on("error", () => undefined);
    return connection;
  } catch (error) {
    throw rabbitmqError(error, `at ${hostname}:${ownPort ?? port} can't be reached`);
  }
}

/** Ends a connection, its channel first, so that what was acknowledged on it arrives. */
export async function closeRabbitmq(connection: ChannelModel, channel?: Channel): Promise<void> {
  const timer = new AbortController();
  const close = async (): Promise<void> => {
    await channel?.close().catch(() => undefined);
    await connection.close();
  };
  await Promise.race([close(), sleep(CLOSE_TIMEOUT_MS, undefined, timer)]).catch(() => undefined);
  timer.abort();
  (connection.connection as unknown as { readonly stream: Socket }).stream.destroy();
}

/** Returns an error of the client as one that is tried again. */
export function rabbitmqError(error: unknown, what: string): AppError {
  if (error instanceof AppError) return error;
  return new AppError("unavailable", `RabbitMQ ${what}: ${(error as Error).message}`, { cause: error });
}

function splitHost(host: string): { hostname: string; ownPort: number | undefined } {
  const [, hostname, port] = /^(.+?)(?::(\d+))?$/.exec(host) ?? [];
  return { hostname: hostname ?? host, ownPort: port === undefined ? undefined : Number(port) };
}

function tls(values: RabbitmqOptions): Record<string, unknown> {
  if (values.ssl !== true) return {};
  const { ssl_certificate_path, ssl_certificate_password, ssl_certificate_authorities } = values;
  return {
    rejectUnauthorized: values.ssl_verification_mode === "full",
    minVersion: "TLSv1.2",
    ...(ssl_certificate_path !== undefined && { pfx: readFileSync(ssl_certificate_path) }),
    ...(ssl_certificate_password !== undefined && { passphrase: ssl_certificate_password }),
    ...(ssl_certificate_authorities.length > 0 && {
      ca: ssl_certificate_authorities.map((path) => readFileSync(path)),
    }),
  };
}
