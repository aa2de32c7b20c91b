/** TLS of listeners and of connections, with the names of options that existing pipelines use. */

import { readFileSync } from "node:fs";
import type { ConnectionOptions, SecureContextOptions, SecureVersion, TlsOptions } from "node:tls";
import type { Static } from "typebox";
import { flag, list, oneOf, optional, options, text } from "#hub/pipeline/filters/option-types.ts";
import { Type } from "#hub/pipeline/language/option-schema.ts";

const VERSIONS = ["TLSv1.2", "TLSv1.3"] as const;

/** Options of both sides. */
const COMMON = {
  ssl_enabled: flag("speaks TLS", false),
  ssl_certificate: optional(text("file of the own certificate, PEM")),
  ssl_key: optional(text("file of its key, PEM")),
  ssl_key_passphrase: optional(text("passphrase of the key")),
  ssl_certificate_authorities: list("files of the authorities whose certificates are trusted, PEM"),
  ssl_supported_protocols: Type.Array(Type.Enum(["TLSv1.1", ...VERSIONS]), {
    description: "versions that are spoken; TLSv1.1 isn't",
    default: [...VERSIONS],
  }),
  ssl_cipher_suites: list("cipher suites by their names; none: those of the runtime"),
};

/** Options of a listener. */
export const TLS_LISTENER = {
  ...COMMON,
  ssl_client_authentication: oneOf(
    ["none", "optional", "required"],
    "whether clients need a certificate",
    "none",
  ),
  ssl_handshake_timeout: Type.Integer({
    default: 10_000,
    minimum: 1,
    description: "longest that a handshake may take, ms",
  }),
};

/** Options of a connection. */
export const TLS_CLIENT = {
  ...COMMON,
  ssl_verification_mode: oneOf(["full", "none"], "none takes any certificate", "full"),
};

const LISTENER = options(TLS_LISTENER);
const CLIENT = options(TLS_CLIENT);

type Paths = (path: string) => string;

/** Returns the settings of a listener; undefined without TLS. Throws for a file that can't be read. */
export function listenerTls(values: Static<typeof LISTENER>, resolvePath: Paths): TlsOptions | undefined {
  if (!values.ssl_enabled) return undefined;
  const authentication = values.ssl_client_authentication;
  return {
    ...contextOf(values, resolvePath),
    requestCert: authentication !== "none",
    rejectUnauthorized: authentication === "required",
    handshakeTimeout: values.ssl_handshake_timeout,
  };
}

/** Returns the settings of a connection; undefined without TLS. Throws for a file that can't be read. */
export function clientTls(values: Static<typeof CLIENT>, resolvePath: Paths): ConnectionOptions | undefined {
  if (!values.ssl_enabled) return undefined;
  return { ...contextOf(values, resolvePath), rejectUnauthorized: values.ssl_verification_mode === "full" };
}

function contextOf(
  values: Omit<Static<typeof LISTENER>, "ssl_client_authentication" | "ssl_handshake_timeout">,
  resolvePath: Paths,
): SecureContextOptions {
  const read = (path: string): Buffer => readFileSync(resolvePath(path));
  const versions = VERSIONS.filter((version) => values.ssl_supported_protocols.includes(version));
  const minVersion: SecureVersion = versions[0] ?? "TLSv1.2";
  return {
    ...(values.ssl_certificate !== undefined && { cert: read(values.ssl_certificate) }),
    ...(values.ssl_key !== undefined && { key: read(values.ssl_key) }),
    ...(values.ssl_key_passphrase !== undefined && { passphrase: values.ssl_key_passphrase }),
    ...(values.ssl_certificate_authorities.length > 0 && {
      ca: values.ssl_certificate_authorities.map(read),
    }),
    ...(values.ssl_cipher_suites.length > 0 && { ciphers: values.ssl_cipher_suites.join(":") }),
    minVersion,
    maxVersion: versions.at(-1) ?? "TLSv1.3",
  };
}
