/** Requests to the Kubernetes API server with the token of the pod's service account. */

import { readFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { request } from "node:https";
import { isObject, type JsonObject } from "#proto/kit/json.ts";

/** Time without a byte after which a connection counts as dead. */
const TIMEOUT_MS = 5_000;

export interface ApiServerAddress {
  /** host:port of the API server. */
  readonly address: string;
  /** Folder with token and ca.crt. */
  readonly account: string;
}

/** An answer other than 200. */
export class ApiRefusal extends Error {
  readonly status: number;

  constructor(status: number) {
    super(`it answers ${status}`);
    this.status = status;
  }
}

export interface ApiRequestOptions {
  readonly signal: AbortSignal;
  readonly accept?: string;
  /** See TIMEOUT_MS. */
  readonly timeoutMs?: number;
}

/**
 * Resolves to the body's pieces of an answer with status 200. Token and authority are read each time, as they change. Throws
 * ApiRefusal, and the errors of the connection.
 */
export async function openApi(
  { address, account }: ApiServerAddress,
  path: string,
  { signal, accept = "application/json", timeoutMs = TIMEOUT_MS }: ApiRequestOptions,
): Promise<AsyncIterable<string>> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const headers = {
    accept,
    authorization: `Bearer ${readFileSync(`${account}/token`, "utf8").trim()}`,
  };
  const sent = request(
    `https://${address}${path}`,
    { ca: readFileSync(`${account}/ca.crt`), headers, timeout: timeoutMs, signal },
    resolve,
  );
  sent.on("timeout", () => sent.destroy(new Error(`no answer within ${timeoutMs} ms`)));
  sent.on("error", reject);
  sent.end();
  const answer = await promise;
  if (answer.statusCode !== 200) {
    answer.destroy();
    throw new ApiRefusal(answer.statusCode ?? 0);
  }
  answer.setEncoding("utf8");
  return answer as AsyncIterable<string>;
}

/**
 * Resolves to the object of an answer of at most `maxLength` characters, which must be whole before `signal` is aborted.
 * Throws as `openApi`, and for other answers.
 */
export async function askApi(
  place: ApiServerAddress,
  path: string,
  { maxLength, ...options }: ApiRequestOptions & { readonly maxLength: number },
): Promise<JsonObject> {
  let text = "";
  for await (const piece of await openApi(place, path, options)) {
    text += piece;
    if (text.length > maxLength) throw new Error("the answer is too long");
  }
  const answer: unknown = JSON.parse(text);
  if (!isObject(answer)) throw new Error("the answer isn't an object");
  return answer;
}
