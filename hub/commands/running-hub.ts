/** What commands ask of a hub that runs: its addresses on this machine, requests with the user's key, words for people. */

import { AppError, systemCode } from "#proto/kit/errors.ts";
import type { HubSettings } from "../config.ts";

/** Holds an API key or access token; on the command line others would see it. */
export const KEY_VARIABLE = "TAILRACE_API_KEY";

const TIMEOUT_MS = 60_000;

/** Returns where a hub with these settings serves this machine, without a slash at the end. */
export function addressOf(settings: HubSettings, part: "http" | "dashboard"): string {
  const host = settings[`${part}.host`] || settings["network.host"];
  const name = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host;
  const scheme = settings["tls.certificate"] === "" ? "http" : "https";
  return `${scheme}://${name.includes(":") ? `[${name}]` : name}:${settings[`${part}.port`]}`;
}

/** Returns the headers that say who asks. */
export function credentials(env: NodeJS.ProcessEnv): Record<string, string> {
  const key = env[KEY_VARIABLE] ?? "";
  return key === "" ? {} : { authorization: `Bearer ${key}` };
}

/** Asks for JSON, with POST where there is a body. Throws unavailable, unauthenticated, forbidden, request_invalid. */
export async function askHub<T>(url: string, env: NodeJS.ProcessEnv, body?: unknown): Promise<T> {
  const post = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
  let response: Response;
  try {
    response = await fetch(url, {
      ...post,
      headers: { ...credentials(env), ...(body !== undefined && { "content-type": "application/json" }) },
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
  } catch (cause) {
    throw unreachable(url, cause);
  }
  if (response.ok) return (await response.json()) as T;
  throw refusal(response.status, await reasonOf(response));
}

/** Returns the error for a hub that doesn't answer at `url`. */
export function unreachable(url: string, cause: unknown): AppError {
  if (isCertificateFault(cause)) {
    const remedy =
      "name it in NODE_EXTRA_CA_CERTS=FILE, and an address it is for with -E http.host=… -E dashboard.host=…";
    return new AppError("unavailable", `the certificate of ${new URL(url).host} isn't trusted; ${remedy}`, {
      cause,
    });
  }
  const remedy = "start the hub, or name its address with -c hub.yml, -E http.port=… or -E dashboard.port=…";
  return new AppError("unavailable", `no hub answers at ${new URL(url).host}; ${remedy}`, { cause });
}

/** Returns the error for an answer with `status`. */
export function refusal(status: number, reason: string): AppError {
  if (status === 401) {
    return new AppError(
      "unauthenticated",
      `the hub asks who you are (${reason}); put an API key into ${KEY_VARIABLE}`,
    );
  }
  return new AppError(status === 403 ? "forbidden" : "request_invalid", `the hub refused: ${reason}`);
}

/** Returns `text` in one line; control characters of a log must not steer the terminal. */
export function printable(text: string): string {
  return text.replaceAll(/[\p{Cc}]/gu, " ");
}

/** Both interfaces name a reason, in places of their own. */
async function reasonOf(response: Response): Promise<string> {
  const answer = (await response.json().catch(() => ({}))) as {
    error?: { reason?: string; message?: string };
  };
  return answer.error?.reason ?? answer.error?.message ?? `status ${response.status}`;
}

/** fetch hides the reason in a cause, a WebSocket gives it as it is. */
function isCertificateFault(error: unknown): boolean {
  const code = systemCode((error as { cause?: unknown }).cause) || systemCode(error);
  return /CERT|SELF_SIGNED|VERIFY|ALTNAME/.test(code);
}
