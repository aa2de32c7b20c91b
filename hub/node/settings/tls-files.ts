/** TLS settings of the listeners, and the files they name. */

import { readFileSync } from "node:fs";
import { createSecureContext } from "node:tls";
import type { Static } from "typebox";
import { AppError } from "#proto/kit/errors.ts";
import { readCertificates } from "#proto/kit/files/certificates.ts";
import { Type } from "#proto/kit/schema.ts";
import { systemReason } from "#proto/kit/system-reason.ts";

/** Properties of the hub's settings schema, by full dotted key. */
export const tlsProperties = {
  "tls.certificate": Type.String({
    default: "",
    description:
      "PEM file with the certificate and its chain, for all listeners: search interface, dashboard and nats-server; reloaded when it changes",
  }),
  "tls.key": Type.String({ default: "", description: "PEM file with the certificate's private key" }),
  "tls.ca": Type.String({
    default: "",
    description: "PEM file with the authorities that issue accepted client certificates",
  }),
  "tls.client_authentication": Type.Union(
    [Type.Literal("none"), Type.Literal("optional"), Type.Literal("required")],
    {
      default: "none",
      description:
        "whether HTTP clients must present a certificate issued by tls.ca, in addition to signing in; agents use their nkeys instead",
    },
  ),
  "tls.terminated_upstream": Type.Boolean({
    default: false,
    description: "true: a proxy terminates TLS, and the listeners are reachable only through it",
  }),
} as const;

const schema = Type.Object(tlsProperties);

export type TlsSettings = Static<typeof schema>;

/** TLS options of a listener, as in node:tls. */
export interface TlsOptions {
  readonly cert: Buffer;
  readonly key: Buffer;
  readonly ca?: Buffer;
  readonly requestCert: boolean;
  readonly rejectUnauthorized: boolean;
  readonly minVersion: "TLSv1.2";
}

/** Returns the options, or undefined without TLS. Throws settings_invalid. */
export function readTlsFiles(settings: TlsSettings): TlsOptions | undefined {
  const { "tls.certificate": certificate, "tls.key": key, "tls.ca": ca } = settings;
  const clients = settings["tls.client_authentication"];
  if ((certificate === "") !== (key === "")) {
    throw new AppError("settings_invalid", "tls.certificate and tls.key must be set together");
  }
  if (clients !== "none" && (ca === "" || certificate === "")) {
    throw new AppError(
      "settings_invalid",
      `tls.client_authentication is ${clients}; it needs tls.certificate, tls.key and tls.ca`,
    );
  }
  if (certificate === "") return undefined;
  const options: TlsOptions = {
    cert: readPem("tls.certificate", certificate, readCertificates),
    key: readPem("tls.key", key, readFileSync),
    ...(ca !== "" && { ca: readPem("tls.ca", ca, readCertificates) }),
    requestCert: clients !== "none",
    rejectUnauthorized: clients === "required",
    minVersion: "TLSv1.2",
  };
  checkPair(options, certificate, key);
  return options;
}

function readPem(setting: string, path: string, read: (path: string) => Buffer): Buffer {
  try {
    return read(path);
  } catch (cause) {
    throw new AppError("settings_invalid", `${setting}: cannot read ${path}: ${systemReason(cause)}`, {
      cause,
    });
  }
}

/** Detects a key that doesn't match the certificate before the first client connects. */
function checkPair(options: TlsOptions, certificate: string, key: string): void {
  try {
    createSecureContext(options);
  } catch (cause) {
    throw new AppError(
      "settings_invalid",
      `tls.certificate ${certificate} and tls.key ${key} are invalid: ${(cause as Error).message}`,
      { cause },
    );
  }
}
