/** TLS of listeners and of connections, with the names of options that existing pipelines use. */

import { readFileSync } from "node:fs";
import type { ConnectionOptions, SecureContextOptions, SecureVersion, TlsOptions } from "node:tls";
import type { Static } from "typebox";
import { flag, list, oneOf, optional, options, text } from "#proto/kit/options.ts";
import { Type } from "#proto/kit/schema.ts";

import { currentTlsNames, FORMER_TLS_NAMES } from "./former-tls-names.ts";

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

/** Stores of Java's; one of kind PKCS12 holds a certificate and its key as they are needed here. */
const STORES = {
  ssl_keystore_path: optional(text("file of the own certificate and its key, PKCS12")),
  ssl_keystore_password: optional(text("password of that file")),
  ssl_keystore_type: optional(oneOf(["pkcs12", "jks"], "kind of that file; jks isn't read")),
  ssl_truststore_path: optional(text("refused: write ssl_certificate_authorities with PEM files")),
  ssl_truststore_password: optional(text("refused with ssl_truststore_path")),
  ssl_truststore_type: optional(text("refused with ssl_truststore_path")),
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
  ...STORES,
  ...FORMER_TLS_NAMES,
};

/** Options of a connection. */
export const TLS_CLIENT = {
  ...COMMON,
  ssl_verification_mode: oneOf(["full", "none"], "none takes any certificate", "full"),
};

const LISTENER = options(TLS_LISTENER);
const CLIENT = options(TLS_CLIENT);

type Paths = (path: string) => string;

/** Returns the settings of a listener; undefined without TLS. Throws for a file that can't be read, and for what is refused. */
export function listenerTls(written: Static<typeof LISTENER>, resolvePath: Paths): TlsOptions | undefined {
  const values = currentTlsNames(written);
  if (!values.ssl_enabled) return undefined;
  const { ssl_keystore_path: store, ssl_keystore_password: password, ssl_keystore_type } = values;
  if (values.ssl_truststore_path !== undefined)
    throw new Error("ssl_truststore_path isn't read; write ssl_certificate_authorities with PEM files");
  if (store !== undefined && (ssl_keystore_type === "jks" || store.endsWith(".jks")))
    throw new Error(
      "a keystore of kind jks isn't read; make PKCS12 of it: keytool -importkeystore -deststoretype PKCS12",
    );
  const authentication = values.ssl_client_authentication;
  return {
    ...contextOf(values, resolvePath),
    ...chainOf(values, resolvePath),
    ...(store !== undefined && { pfx: readFileSync(resolvePath(store)) }),
    ...(store !== undefined && password !== undefined && { passphrase: password }),
    requestCert: authentication !== "none",
    rejectUnauthorized: authentication === "required",
    handshakeTimeout: values.ssl_handshake_timeout,
  };
}

/** The own certificate with those between it and its authority. */
function chainOf(
  { ssl_certificate, ssl_extra_chain_certs: further }: Static<typeof LISTENER>,
  resolvePath: Paths,
): SecureContextOptions {
  if (ssl_certificate === undefined || further.length === 0) return {};
  return {
    cert: [ssl_certificate, ...further].map((path) => readFileSync(resolvePath(path), "utf8")).join("\n"),
  };
}

/** Returns the settings of a connection; undefined without TLS. Throws for a file that can't be read. */
export function clientTls(values: Static<typeof CLIENT>, resolvePath: Paths): ConnectionOptions | undefined {
  if (!values.ssl_enabled) return undefined;
  return { ...contextOf(values, resolvePath), rejectUnauthorized: values.ssl_verification_mode === "full" };
}

function contextOf(
  values: Omit<Static<typeof CLIENT>, "ssl_verification_mode">,
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
