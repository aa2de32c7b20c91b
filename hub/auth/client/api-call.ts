/** Calls an API with a Bearer token (RFC 6750): allowed hosts only, one retry after 401. */

import { AppError } from "#proto/kit/errors.ts";
import type { Fetch } from "./endpoints.ts";
import { checkTokenTarget } from "./provider-definition.ts";

/** Maximum number of redirects followed. */
const MAX_REDIRECTS = 5;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
/** Maximum wait for the head of an answer. */
const DEADLINE_MS = 60_000;

export interface ApiRequest {
  readonly url: string;
  /** Absent: GET. */
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array<ArrayBuffer>;
  readonly signal?: AbortSignal;
}

export interface ApiCaller {
  /** See `checkTokenTarget`. */
  readonly hosts: readonly string[];
  readonly fetch: Fetch;
  /** Returns a token. `rejected`: the token that the API has just refused. */
  readonly accessToken: (rejected?: string) => Promise<string>;
}

/** Sends a request and returns the answer with any status. Throws forbidden, unavailable, and what `accessToken` throws. */
export async function callApi(request: ApiRequest, caller: ApiCaller): Promise<Response> {
  checkTokenTarget(new URL(request.url), caller.hosts);
  const token = await caller.accessToken();
  const answer = await followed(request, caller, token);
  if (answer.status !== 401) return answer;
  await answer.body?.cancel();
  return followed(request, caller, await caller.accessToken(token));
}

/** Follows redirects: with the token within one origin, without it to other allowed hosts, and to no other host. */
async function followed(request: ApiRequest, caller: ApiCaller, token: string): Promise<Response> {
  const { headers = {}, signal } = request;
  let { url, method = "GET", body } = request;
  let authorized = true;
  for (let redirects = 0; ; redirects++) {
    const step: ApiRequest = {
      url,
      method,
      headers,
      ...(body === undefined ? {} : { body }),
      ...(signal === undefined ? {} : { signal }),
    };
    const answer = await send(step, caller, authorized ? token : null);
    const location = answer.headers.get("location");
    if (!REDIRECTS.has(answer.status) || location === null) return answer;
    await answer.body?.cancel();
    if (redirects === MAX_REDIRECTS) {
      throw new AppError(
        "unavailable",
        `${new URL(request.url).host} redirects more than ${MAX_REDIRECTS} times`,
      );
    }
    const target = URL.parse(location, url);
    if (target === null) throw new AppError("unavailable", `${new URL(url).host} redirects to no address`);
    checkTokenTarget(target, caller.hosts);
    // After leaving the origin no request gets the token, even if a redirect leads back.
    authorized &&= target.origin === new URL(url).origin;
    url = target.href;
    if (answer.status === 303 || (answer.status < 303 && method === "POST")) {
      method = "GET";
      body = undefined;
    }
  }
}

async function send(request: ApiRequest, { fetch }: ApiCaller, token: string | null): Promise<Response> {
  const { url, method = "GET", headers = {}, body, signal } = request;
  const deadline = AbortSignal.timeout(DEADLINE_MS);
  const given = Object.entries(headers).filter(([name]) => name.toLowerCase() !== "authorization");
  try {
    return await fetch(url, {
      method,
      redirect: "manual",
      headers: {
        ...Object.fromEntries(given),
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      },
      signal: signal === undefined ? deadline : AbortSignal.any([signal, deadline]),
      ...(body === undefined ? {} : { body }),
    });
  } catch (cause) {
    if (signal?.aborted === true)
      throw new AppError("cancelled", `call of ${new URL(url).host} cancelled`, { cause });
    const message = `${new URL(url).host} can't be reached: ${(cause as Error).message}`;
    throw new AppError("unavailable", message, { cause });
  }
}
