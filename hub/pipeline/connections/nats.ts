/** Connections to NATS, and the options that its input and its output share. */

import { readFileSync } from "node:fs";
import type { ConnectionOptions, NatsConnection } from "@nats-io/transport-node";
import type { Static } from "typebox";
import { AppError } from "#proto/kit/errors.ts";
import { flag, list, optional, options, text } from "#proto/kit/options.ts";

/** Longest that a connection may take to open. ms */
const CONNECT_TIMEOUT_MS = 5_000;

export const NATS_OPTIONS = {
  servers: list("addresses of servers", ["127.0.0.1:4222"]),
  user: optional(text("name")),
  password: optional(text("password")),
  token: optional(text("token")),
  nkey_seed_file: optional(text("file of the seed of an nkey")),
  credentials_file: optional(text("file of credentials (JWT and seed)")),
  ssl_enabled: flag("requires TLS; servers may request it in any case", false),
  ssl_certificate_authorities: list("files of the authorities whose certificates are trusted, PEM"),
  ssl_certificate: optional(text("file of the own certificate, PEM")),
  ssl_key: optional(text("file of the certificate's key, PEM")),
};

const OPTIONS = options(NATS_OPTIONS);

export type NatsOptions = Static<typeof OPTIONS>;

/**
 * Opens a connection that opens itself again when it is lost. Throws unavailable; forbidden where `checkTarget` does.
 * Servers that the first ones announce are ignored: they weren't checked.
 */
export async function connectNats(
  values: NatsOptions,
  name: string,
  checkTarget: (host: string) => void,
): Promise<NatsConnection> {
  const { servers } = values;
  for (const server of servers) checkTarget(server.replace(/^\w+:\/\//, "").replace(/:\d+$/, ""));
  const { connect, nkeyAuthenticator, credsAuthenticator } = await import("@nats-io/transport-node");
  const { user, password, token, nkey_seed_file, credentials_file } = values;
  try {
    return await connect({
      servers: [...servers],
      name,
      timeout: CONNECT_TIMEOUT_MS,
      maxReconnectAttempts: -1,
      ignoreClusterUpdates: true,
      ...(user !== undefined && { user, pass: password ?? "" }),
      ...(token !== undefined && { token }),
      ...(nkey_seed_file !== undefined && {
        authenticator: nkeyAuthenticator(Buffer.from(readFileSync(nkey_seed_file, "utf8").trim())),
      }),
      ...(credentials_file !== undefined && {
        authenticator: credsAuthenticator(readFileSync(credentials_file)),
      }),
      ...tls(values),
    });
  } catch (error) {
    throw natsError(error, "can't be reached");
  }
}

/** Returns an error of the client as one that is tried again. */
export function natsError(error: unknown, what: string): AppError {
  if (error instanceof AppError) return error;
  return new AppError("unavailable", `NATS ${what}: ${(error as Error).message}`, { cause: error });
}

function tls(values: NatsOptions): Pick<ConnectionOptions, "tls"> {
  const { ssl_enabled, ssl_certificate_authorities: authorities, ssl_certificate, ssl_key } = values;
  if (!ssl_enabled && authorities.length === 0 && ssl_certificate === undefined) return {};
  return {
    tls: {
      ...(authorities.length > 0 && { ca: authorities.map((path) => readFileSync(path, "utf8")).join("\n") }),
      ...(ssl_certificate !== undefined && { certFile: ssl_certificate }),
      ...(ssl_key !== undefined && { keyFile: ssl_key }),
    },
  };
}
