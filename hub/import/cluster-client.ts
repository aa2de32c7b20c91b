/**
 * Requests to a search cluster, which may be busy or unreachable for a while: requests that may succeed later are
 * repeated.
 */

import {
  Agent as HttpAgent,
  request as httpRequest,
  type IncomingMessage,
  type RequestOptions,
} from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { checkNesting, parseJson } from "#hub/search/options/json.ts";
import { writeJson } from "#hub/search/options/json-writer.ts";
import { addPart } from "#proto/kit/byte-parts.ts";
import { type Clock, systemClock } from "#proto/kit/clock.ts";
import { AppError } from "#proto/kit/errors.ts";
import { isObject, type JsonObject } from "#proto/kit/json.ts";
import type { OwnCertificateTrust } from "#proto/kit/net/json-request.ts";

export interface ClusterOptions {
  /** Base URL; a path is kept as a prefix. */
  readonly url: string;
  /** Credentials. */
  readonly headers: Readonly<Record<string, string>>;
  /** A certificate to trust besides the system's authorities. */
  readonly trust?: OwnCertificateTrust | undefined;
  readonly signal: AbortSignal;
  readonly clock?: Clock;
}

export interface ClusterAnswer {
  readonly status: number;
  /** {} if the body isn't a JSON object. */
  readonly body: JsonObject;
  /** A body that is a list. */
  readonly list: readonly unknown[];
}

type Method = "GET" | "POST" | "PUT" | "DELETE";

/** Time that one answer may take. */
const TIMEOUT_MS = 120_000;
/** Largest answer. */
const MAX_ANSWER_BYTES = 256 * 1024 * 1024;
/**
 * Maximum number of values in one answer: several hundred MiB once they are parsed. A page of documents has a tenth of
 * them.
 */
const MAX_ANSWER_VALUES = 8_000_000;
/** Pauses between repetitions, about a minute and a half in total: enough for a restart of the other side. */
export const RETRY_PAUSES_MS = [500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000];
const BUSY: ReadonlySet<number> = new Set([429, 502, 503, 504]);
/** Connections kept open; there are as many concurrent requests as copies that run in parallel. */
const MAX_SOCKETS = 16;

/** A cluster of any version, or a hub. */
export class ClusterClient {
  /** Host and port, for messages. */
  readonly host: string;
  readonly #options: ClusterOptions;
  readonly #base: string;
  readonly #clock: Clock;
  readonly #agent: HttpAgent | HttpsAgent;
  /** Shared by the clients of a cluster. */
  readonly #contact: { isMade: boolean };

  constructor(options: ClusterOptions, contact = { isMade: false }) {
    this.#options = options;
    this.#contact = contact;
    this.#base = options.url.replace(/\/+$/, "");
    this.host = new URL(options.url).host;
    this.#clock = options.clock ?? systemClock;
    const keep = { keepAlive: true, maxSockets: MAX_SOCKETS };
    this.#agent = this.#base.startsWith("https:") ? new HttpsAgent(keep) : new HttpAgent(keep);
  }

  /** Returns a client of the same cluster whose requests are aborted by another signal. It must be closed too. */
  until(signal: AbortSignal): ClusterClient {
    return new ClusterClient({ ...this.#options, signal }, this.#contact);
  }

  /** Closes idle connections. */
  close(): void {
    this.#agent.destroy();
  }

  /** Returns the JSON object of a 2xx answer. Throws request_invalid with the refusal, unavailable, unauthenticated. */
  async ask(method: Method, path: string, body?: JsonObject | string): Promise<JsonObject> {
    return (await this.#checked(method, path, body)).body;
  }

  /** Sends a request only once because it takes effect even if its answer is lost. Throws as `ask`. */
  async askOnce(method: Method, path: string, body?: JsonObject): Promise<JsonObject> {
    let answer: ClusterAnswer;
    try {
      answer = await this.#once(method, path, body);
    } catch (error) {
      this.#options.signal.throwIfAborted();
      throw this.#unreachable(error);
    }
    return this.#accept(answer, path).body;
  }

  /** Returns the list of a 2xx answer. Throws as `ask`. */
  async list(path: string): Promise<readonly unknown[]> {
    return (await this.#checked("GET", path)).list;
  }

  /**
   * Returns the JSON object, or undefined if the cluster has neither the path nor the object that it names. Throws as
   * `ask`.
   */
  async find(path: string): Promise<JsonObject | undefined> {
    const answer = await this.send("GET", path);
    // Versions without an interface answer 400, 404 or 405 to its path; a hub 501.
    if ([400, 404, 405, 501].includes(answer.status)) return undefined;
    return this.#accept(answer, path).body;
  }

  /**
   * Returns the answer with any status. Throws unavailable if all repetitions fail, and at once if nothing has ever answered
   * at the address: it is probably wrong.
   */
  async send(method: Method, path: string, body?: JsonObject | string): Promise<ClusterAnswer> {
    const { signal } = this.#options;
    for (let attempt = 0; ; attempt++) {
      const pauseMs = RETRY_PAUSES_MS[attempt];
      try {
        const answer = await this.#once(method, path, body);
        if (!BUSY.has(answer.status) || pauseMs === undefined) return answer;
      } catch (error) {
        signal.throwIfAborted();
        const isFinal = error instanceof AppError || isCertificateFault(error) || !this.#contact.isMade;
        if (isFinal || pauseMs === undefined) throw this.#unreachable(error);
      }
      await this.#clock.sleep(pauseMs, signal);
      signal.throwIfAborted();
    }
  }

  async #checked(method: Method, path: string, body?: JsonObject | string): Promise<ClusterAnswer> {
    return this.#accept(await this.send(method, path, body), path);
  }

  #accept(answer: ClusterAnswer, path: string): ClusterAnswer {
    const { status, body } = answer;
    if (status < 300) return answer;
    const text = `${this.host} answered ${status} to ${path}: ${refusalOf(body)}`;
    if (status === 401) throw new AppError("unauthenticated", text);
    throw new AppError(BUSY.has(status) ? "unavailable" : "request_invalid", text);
  }

  async #once(method: Method, path: string, body?: JsonObject | string): Promise<ClusterAnswer> {
    const { headers, trust, signal } = this.#options;
    const text = body === undefined ? undefined : typeof body === "string" ? body : writeJson(body);
    const options: RequestOptions = {
      method,
      headers: {
        ...headers,
        accept: "application/json",
        ...(text !== undefined && { "content-type": typesOf(body) }),
      },
      agent: this.#agent,
      signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
    };
    const url = `${this.#base}${path}`;
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    const request = url.startsWith("https:")
      ? httpsRequest(url, { ...options, ...trust }, resolve)
      : httpRequest(url, options, resolve);
    request.on("error", reject);
    request.end(text);
    const response = await promise;
    this.#contact.isMade = true;
    const read = this.#parsed(await readText(response, this.host));
    return {
      status: response.statusCode ?? 0,
      body: isObject(read) ? read : {},
      list: Array.isArray(read) ? (read as unknown[]) : [],
    };
  }

  /** Undefined for a body that isn't JSON, such as a proxy's page. */
  #parsed(text: string): unknown {
    try {
      checkNesting(text, MAX_ANSWER_VALUES);
      return parseJson(text);
    } catch (error) {
      if (error instanceof AppError && error.code === "request_too_large")
        throw new AppError(error.code, `${this.host} sent more than ${MAX_ANSWER_VALUES} values at once`);
      return undefined;
    }
  }

  #unreachable(error: unknown): AppError {
    if (error instanceof AppError) return error;
    const remedy = isCertificateFault(error) ? "; name its authority in NODE_EXTRA_CA_CERTS=FILE" : "";
    const message = `${this.host} doesn't answer: ${(error as Error).message}${remedy}`;
    return new AppError("unavailable", message, { cause: error });
  }
}

/**
 * Returns a name from a cluster as a path segment. Throws request_invalid for a name that would lead to another path, or to
 * none.
 */
export function segmentOf(name: string): string {
  if (name === "" || name === "." || name === ".." || !name.isWellFormed())
    throw new AppError("request_invalid", `"${name.toWellFormed()}" is not a valid name in a cluster`);
  return encodeURIComponent(name);
}

/** Returns the objects of a list in an answer. Other members are left out; a value that isn't a list gives none. */
export function objectsIn(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** Returns the reason of a refusal in the form of either interface of a hub or cluster. */
export function refusalOf(body: JsonObject): string {
  const { error } = body;
  if (typeof error === "string") return error;
  if (!isObject(error)) return "no reason given";
  return String((error["reason"] ?? error["message"] ?? error["type"]) as string);
}

function typesOf(body: JsonObject | string | undefined): string {
  return typeof body === "string" ? "application/x-ndjson" : "application/json";
}

function isCertificateFault(error: unknown): boolean {
  return /CERT|SELF_SIGNED|VERIFY|ALTNAME/.test(String((error as { code?: unknown }).code));
}

async function readText(response: IncomingMessage, host: string): Promise<string> {
  const chunks: Uint8Array[] = [];
  let sizeBytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    sizeBytes += chunk.length;
    if (sizeBytes > MAX_ANSWER_BYTES)
      throw new AppError("request_too_large", `${host} sent more than ${MAX_ANSWER_BYTES} bytes at once`);
    addPart(chunks, chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}
