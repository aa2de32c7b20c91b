/** TLS options by the names that they had before, which existing pipelines still use. */

import type { Static } from "typebox";
import { list, oneOf, optional, options, text } from "#proto/kit/options.ts";
import { Type } from "#proto/kit/schema.ts";

function formerly(name: string) {
  return `the former name of ${name}`;
}

const VERIFY_MODES = ["none", "peer", "force_peer"] as const;

/** Of listeners. */
export const FORMER_TLS_NAMES = {
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
      description: "1.2 or 1.3: part of ssl_supported_protocols now",
    }),
  ),
  tls_max_version: optional(
    Type.Union([Type.Number(), Type.String()], {
      description: "1.2 or 1.3: part of ssl_supported_protocols now",
    }),
  ),
  keystore: optional(text(formerly("ssl_keystore_path"))),
  keystore_password: optional(text(formerly("ssl_keystore_password"))),
  ssl_peer_metadata: optional(Type.Boolean({ description: "accepted for compatibility" })),
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
