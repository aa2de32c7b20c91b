/** TLS of listeners and of connections, with the names of options that existing pipelines use. */

import { readFileSync } from "node:fs";
import type { ConnectionOptions, SecureContextOptions, SecureVersion, TlsOptions } from "node:tls";
import type { Static } from "typebox";
import { flag, list, oneOf, optional, options, refused, text, withoutEffect } from "#proto/kit/options.ts";
import { Type } from "#proto/kit/schema.ts";

function formerly(name: string) {
  return `the former name of ${name}`;
}

const VERIFY_MODES = ["none", "peer", "force_peer"] as const;

/** Of listeners. */
const FORMER_TLS_NAMES = {
  ssl: optional(Type.Boolean({ description: formerly("ssl_enabled") })),
  ssl_enable: optional(Type.Boolean({ description: formerly("ssl_enabled") })),
  ssl_cert: optional(text(formerly("ssl_certificate"))),
  ssl_extra_chain_certs: list("files of further certificates between the own and its authority, PEM"),
  ssl_verify: optional(
    Type.Boolean({ description: `${formerly("ssl_client_authentication")}: true is required, false none` }),
  ),
  ssl_verify_mode: optional(
    oneOf(VERIFY_MODES, `${formerly("ssl_client_authentication")}: peer is optional, force_peer required`),
  ),
  verify_mode: optional(
    oneOf(VERIFY_MODES, `${formerly("ssl_client_authentication")}: peer is optional, force_peer required`),
  ),
  cipher_suites: list(formerly("ssl_cipher_suites")),
  tls_min_version: optional(
    Type.Union([Type.Number(), Type.String()], {
      description: "1.2 or 1.3; now part of ssl_supported_protocols",
    }),
  ),
  tls_max_version: optional(
    Type.Union([Type.Number(), Type.String()], {
      description: "1.2 or 1.3; now part of ssl_supported_protocols",
    }),
  ),
  keystore: optional(text(formerly("ssl_keystore_path"))),
  keystore_password: optional(text(formerly("ssl_keystore_password"))),
  ssl_peer_metadata: withoutEffect("certificates of clients aren't put into events"),
};

const OPTIONS = options(FORMER_TLS_NAMES);

interface CurrentNames {
  readonly ssl_enabled: boolean;
  readonly ssl_certificate?: string | undefined;
  readonly ssl_client_authentication: "none" | "optional" | "required";
  readonly ssl_cipher_suites: readonly string[];
  readonly ssl_supported_protocols: readonly string[];
  readonly ssl_keystore_path?: string | undefined;
  readonly ssl_keystore_password?: string | undefined;
}

/** Returns the options under their current names; a former name counts where it is written. */
export function currentTlsNames<V extends CurrentNames & Static<typeof OPTIONS>>(values: V): V {
  const mode = values.ssl_verify_mode ?? values.verify_mode;
  const authentication =
    mode === undefined
      ? values.ssl_verify === undefined
        ? values.ssl_client_authentication
        : values.ssl_verify
          ? "required"
          : "none"
      : ({ none: "none", peer: "optional", force_peer: "required" } as const)[mode];
  const min = Number(values.tls_min_version ?? 1);
  const max = Number(values.tls_max_version ?? 2);
  return {
    ...values,
    ssl_enabled: values.ssl_enabled || values.ssl === true || values.ssl_enable === true,
    ssl_certificate: values.ssl_certificate ?? values.ssl_cert,
    ssl_client_authentication: authentication,
    ssl_cipher_suites: values.ssl_cipher_suites.length > 0 ? values.ssl_cipher_suites : values.cipher_suites,
    ssl_supported_protocols: values.ssl_supported_protocols.filter((protocol) => {
      const version = Number(protocol.slice("TLSv".length));
      return version >= min && version <= max;
    }),
    ssl_keystore_path: values.ssl_keystore_path ?? values.keystore,
    ssl_keystore_password: values.ssl_keystore_password ?? values.keystore_password,
  };
}

/** What is spoken unless options say otherwise. */
export const TLS_VERSIONS = ["TLSv1.2", "TLSv1.3"] as const;

/** Options of both sides. */
const COMMON = {
  ssl_enabled: flag("uses TLS", false),
  ssl_certificate: optional(text("file of the own certificate, PEM")),
  ssl_key: optional(text("file of the certificate's key, PEM")),
  ssl_key_passphrase: optional(text("passphrase of the key")),
  ssl_certificate_authorities: list("files of the authorities whose certificates are trusted, PEM"),
  ssl_supported_protocols: Type.Array(Type.Enum(["TLSv1.1", ...TLS_VERSIONS]), {
    description: "supported versions; TLSv1.1 isn't supported",
    default: [...TLS_VERSIONS],
  }),
  ssl_cipher_suites: list("names of the cipher suites; empty: those of the runtime"),
};

/** Stores of Java's; one of kind PKCS12 holds a certificate and its key as they are needed here. */
const STORES = {
  ssl_keystore_path: optional(text("file of the own certificate and its key, PKCS12")),
  ssl_keystore_password: optional(text("password of that file")),
  ssl_keystore_type: optional(oneOf(["pkcs12", "jks"], "format of that file; jks isn't supported")),
  ssl_truststore_path: refused("write ssl_certificate_authorities => with PEM files"),
  ssl_truststore_password: refused("write ssl_certificate_authorities => with PEM files"),
  ssl_truststore_type: refused("write ssl_certificate_authorities => with PEM files"),
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
    description: "timeout of the handshake, ms",
  }),
  ...STORES,
  ...FORMER_TLS_NAMES,
};

/** Options of a connection. */
export const TLS_CLIENT = {
  ...COMMON,
  ssl_verification_mode: oneOf(["full", "none"], "none: accepts any certificate", "full"),
};

const LISTENER = options(TLS_LISTENER);
const CLIENT = options(TLS_CLIENT);

type Paths = (path: string) => string;

/** Returns the settings of a listener; undefined without TLS. Throws for a file that can't be read, and for what is refused. */
export function listenerTls(written: Static<typeof LISTENER>, resolvePath: Paths): TlsOptions | undefined {
  const values = currentTlsNames(written);
  if (!values.ssl_enabled) return undefined;
  const { ssl_keystore_path: store, ssl_keystore_password: password, ssl_keystore_type } = values;
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
  const versions = TLS_VERSIONS.filter((version) => values.ssl_supported_protocols.includes(version));
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
