/** TLS of the HTTP listeners: its settings, and the files they name. */

import { readFileSync } from "node:fs";
import { createSecureContext } from "node:tls";
import type { Static } from "typebox";
import { AppError } from "#proto/kit/errors.ts";
import { Type } from "#proto/kit/schema.ts";
import { systemReason } from "#proto/kit/system-reason.ts";

/** Properties for the hub's settings schema; the names are the full dotted keys. */
export const tlsProperties = {
  "tls.certificate": Type.String({
    default: "",
    description:
      "PEM file of the certificate, its chain behind it, for all listeners: search interface, dashboard, nats-server; taken over without a restart when it changes",
  }),
  "tls.key": Type.String({ default: "", description: "PEM file of the certificate's key" }),
  "tls.ca": Type.String({ default: "", description: "PEM file of authorities whose clients are let in" }),
  "tls.client_authentication": Type.Union(
    [Type.Literal("none"), Type.Literal("optional"), Type.Literal("required")],
    {
      default: "none",
      description:
        "whether HTTP clients show a certificate of tls.ca, on top of signing in; agents show their nkeys instead",
    },
  ),
  "tls.terminated_upstream": Type.Boolean({
    default: false,
    description: "true: a proxy in front does TLS, and nobody reaches the listeners but through it",
  }),
} as const;

const schema = Type.Object(tlsProperties);

export type TlsSettings = Static<typeof schema>;

/** What a listener needs to speak TLS; the names are those of node:tls. */
export interface TlsOptions {
  readonly cert: Buffer;
  readonly key: Buffer;
  readonly ca?: Buffer;
  readonly requestCert: boolean;
  readonly rejectUnauthorized: boolean;
  readonly minVersion: "TLSv1.2";
}

/** Returns the options, or undefined where the listeners speak plain HTTP. Throws settings_invalid. */
export function readTlsFiles(settings: TlsSettings): TlsOptions | undefined {
  const { "tls.certificate": certificate, "tls.key": key, "tls.ca": ca } = settings;
  const clients = settings["tls.client_authentication"];
  if ((certificate === "") !== (key === "")) {
    throw new AppError("settings_invalid", "tls.certificate and tls.key belong together; set both or none");
  }
  if (clients !== "none" && (ca === "" || certificate === "")) {
    throw new AppError(
      "settings_invalid",
      `tls.client_authentication is ${clients}; it needs tls.certificate, tls.key and tls.ca`,
    );
  }
  if (certificate === "") return undefined;
  const options: TlsOptions = {
    cert: readPem("tls.certificate", certificate),
    key: readPem("tls.key", key),
    ...(ca !== "" && { ca: readPem("tls.ca", ca) }),
    requestCert: clients !== "none",
    rejectUnauthorized: clients === "required",
    minVersion: "TLSv1.2",
  };
  checkPair(options, certificate, key);
  return options;
}

function readPem(setting: string, path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (cause) {
    throw new AppError("settings_invalid", `${setting}: ${path} can't be read: ${systemReason(cause)}`, {
      cause,
    });
  }
}

/** A key of another certificate would otherwise show only when the first client comes. */
function checkPair(options: TlsOptions, certificate: string, key: string): void {
  try {
    createSecureContext(options);
  } catch (cause) {
    throw new AppError(
      "settings_invalid",
      `tls.certificate ${certificate} and tls.key ${key} can't be used: ${(cause as Error).message}`,
      { cause },
    );
  }
}
