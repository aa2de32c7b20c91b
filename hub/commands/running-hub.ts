/**
 * Client of a running hub for commands: its addresses on this machine, requests with the user's key, error messages.
 */

import type { HubSettings } from "#hub/node/settings/hub-settings.ts";
import { isEverywhere } from "#hub/node/settings/reach-file.ts";
import { AppError, systemCode } from "#proto/kit/errors.ts";
import {
  type JsonAnswer,
  type OwnCertificateTrust,
  requestJson,
  trustOwnCertificate,
} from "#proto/kit/net/json-request.ts";
import { printable } from "#proto/kit/printable.ts";

/** Variable for an API key or access token: on the command line other users could see it. */
export const KEY_VARIABLE = "TAILRACE_API_KEY";

const TIMEOUT_MS = 60_000;

/** A hub that a command queries. */
export interface AskedHub {
  readonly env: NodeJS.ProcessEnv;
  /** Trust in the certificate that the hub's settings name; undefined without TLS or if this user can't read it. */
  readonly trust: OwnCertificateTrust | undefined;
}

/** Returns the hub of `settings` for a user with the environment `env`. */
export function askedHub(settings: HubSettings, env: NodeJS.ProcessEnv): AskedHub {
  return { env, trust: trustOf(settings["tls.certificate"]) };
}

/** Returns the local base URL of a hub with these settings, without a trailing slash. */
export function addressOf(settings: HubSettings, part: "http" | "dashboard"): string {
  const host = settings[`${part}.host`] || settings["network.host"];
  const name = isEverywhere(host) ? "127.0.0.1" : host;
  const scheme = settings["tls.certificate"] === "" ? "http" : "https";
  return `${scheme}://${name.includes(":") ? `[${name}]` : name}:${settings[`${part}.port`]}`;
}

/** Returns the authorization header. */
export function credentials(env: NodeJS.ProcessEnv): Record<string, string> {
  const key = env[KEY_VARIABLE] ?? "";
  return key === "" ? {} : { authorization: `Bearer ${key}` };
}

/** Requests JSON, with POST if there is a body. Throws unavailable, unauthenticated, forbidden, request_invalid. */
export async function askHub<T>(url: string, { env, trust }: AskedHub, body?: unknown): Promise<T> {
  let answer: JsonAnswer;
  try {
    answer = await requestJson(url, { headers: credentials(env), body, timeoutMs: TIMEOUT_MS, trust });
  } catch (cause) {
    throw unreachable(url, cause);
  }
  if (answer.status < 300 && answer.body !== null) return answer.body as T;
  throw refusal(answer.status, printable(reasonOf(answer)));
}

/** Returns the error for a hub that doesn't answer at `url`. */
export function unreachable(url: string, cause: unknown): AppError {
  const { host } = new URL(url);
  const code = systemCode(cause);
  const message = (cause as Error).message;
  const say = (text: string): AppError => new AppError("unavailable", text, { cause });
  if (/CERT|SELF_SIGNED|VERIFY|ALTNAME/.test(code)) {
    const remedy =
      "give the hub's settings with -c hub.yml, whose tls.certificate is then trusted, or its authority in NODE_EXTRA_CA_CERTS=FILE";
    return say(`the certificate of ${host} is not trusted (${message}); ${remedy}`);
  }
  // A TLS-only listener closes the connection, or answers in bytes that aren't HTTP.
  if (/^(http|ws):/.test(url) && /ECONNRESET|HPE_|EPIPE/.test(code))
    return say(
      `the server at ${host} does not speak plain HTTP; if the hub uses TLS, give its settings with -c hub.yml or its data with --path.data DIR`,
    );
  if (/EPROTO|ERR_SSL/.test(code))
    return say(`the server at ${host} does not speak TLS; give the settings of the hub: -c hub.yml`);
  if (code === "ECONNREFUSED" || code === "")
    return say(
      `no hub answers at ${host}; start the hub, or give its data with --path.data DIR, its settings with -c hub.yml or its address with -E http.port=… and -E dashboard.port=…`,
    );
  return say(`no hub answers at ${host}: ${message}; give the settings of the hub: -c hub.yml`);
}

/** Returns the error for a response with `status`. */
export function refusal(status: number, reason: string): AppError {
  if (status === 401) {
    return new AppError(
      "unauthenticated",
      `the hub requires authentication (${reason}); set ${KEY_VARIABLE} to an API key`,
    );
  }
  return new AppError(status === 403 ? "forbidden" : "request_invalid", `the hub refused: ${reason}`);
}

/** Returns the reason. Each of the two interfaces reports it under keys of its own. */
function reasonOf({ status, body }: JsonAnswer): string {
  const { error } = (body ?? {}) as { error?: { reason?: string; message?: string } };
  return error?.reason ?? error?.message ?? `status ${status}`;
}

/** A certificate that this user can't read is verified like that of any other hub. */
function trustOf(certificate: string): OwnCertificateTrust | undefined {
  try {
    return certificate === "" ? undefined : trustOwnCertificate(certificate);
  } catch {
    return undefined;
  }
}
