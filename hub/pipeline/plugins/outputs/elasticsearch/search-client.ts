/** Sends requests to the hosts of another search engine; if one doesn't answer, the next is tried. */

import { type IncomingMessage, type RequestOptions, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import type { ConnectionOptions } from "node:tls";
import { promisify } from "node:util";
import { gunzip, gzip } from "node:zlib";
import { type HttpAgents, httpAgents } from "#hub/pipeline/connections/http-agents.ts";
import { addPart } from "#proto/kit/byte-parts.ts";
import { AppError } from "#proto/kit/errors.ts";
import { plainHost } from "#proto/kit/net/host.ts";

const pack = promisify(gzip);
const unpack = promisify(gunzip);

/** Longest answer: of a bulk request it has a line for each document. Bytes. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

export interface SearchClientOptions {
  /** With the path that precedes all others. */
  readonly hosts: readonly URL[];
  readonly headers: Readonly<Record<string, string>>;
  /** Returns what is sent for sign-in to a host; `rejected`: after it refused the last one. */
  readonly authorization: (host: URL, isRejected: boolean) => Promise<string | undefined>;
  readonly tls: ConnectionOptions | undefined;
  readonly timeoutMs: number;
  /** Level of gzip; 0: bodies go as they are. */
  readonly compressionLevel: number;
  readonly checkTarget: (host: string) => void;
}

export interface SearchAnswer {
  readonly status: number;
  readonly body: string;
  /** The body, unpacked. */
  readonly bytes: Uint8Array;
}

export class SearchClient {
  readonly #options: SearchClientOptions;
  readonly #agents: HttpAgents;
  #host = 0;

  constructor(options: SearchClientOptions) {
    this.#options = options;
    this.#agents = httpAgents(options.tls);
  }

  close(): void {
    this.#agents.http.destroy();
    this.#agents.https.destroy();
  }

  /** Sends to one host; where that one can't be reached, the next request goes to another. Throws unavailable, forbidden. */
  async request(
    method: string,
    path: string,
    body: { readonly type: string; readonly data: Uint8Array } | undefined,
    signal: AbortSignal,
    more: Readonly<Record<string, string>> = {},
  ): Promise<SearchAnswer> {
    const { hosts, checkTarget, compressionLevel: level } = this.#options;
    const host = hosts[this.#host % hosts.length]!;
    checkTarget(host.hostname);
    const packed = body === undefined || level === 0 ? body?.data : await pack(body.data, { level });
    const headers = {
      ...more,
      ...(body !== undefined && { "Content-Type": body.type, "Content-Length": packed!.length }),
      ...(body !== undefined && level > 0 && { "Content-Encoding": "gzip" }),
    };
    try {
      const answer = await this.#sendSignedIn(
        host,
        { method, path: `${host.pathname.replace(/\/$/, "")}${path}`, headers },
        packed,
        signal,
      );
      if (answer.status >= 500 || answer.status === 429) this.#host++;
      return answer;
    } catch (error) {
      this.#host++;
      if (error instanceof AppError) throw error;
      throw new AppError("unavailable", `${host.host} can't be reached: ${(error as Error).message}`, {
        cause: error,
      });
    }
  }

  async #sendSignedIn(
    host: URL,
    options: RequestOptions,
    body: Uint8Array | undefined,
    signal: AbortSignal,
  ): Promise<SearchAnswer> {
    const { authorization } = this.#options;
    const first = await authorization(host, false);
    const answer = await this.#send(host, options, first, body, signal);
    if (answer.status !== 401) return answer;
    const second = await authorization(host, true);
    return second === undefined || second === first
      ? answer
      : this.#send(host, options, second, body, signal);
  }

  async #send(
    host: URL,
    { headers, ...options }: RequestOptions,
    authorization: string | undefined,
    body: Uint8Array | undefined,
    signal: AbortSignal,
  ): Promise<SearchAnswer> {
    const isTls = host.protocol === "https:";
    const request = (isTls ? requestHttps : requestHttp)({
      ...options,
      hostname: plainHost(host.hostname),
      port: host.port,
      agent: isTls ? this.#agents.https : this.#agents.http,
      signal: AbortSignal.any([signal, AbortSignal.timeout(this.#options.timeoutMs)]),
      headers: {
        Accept: "application/json",
        "Accept-Encoding": "gzip",
        ...this.#options.headers,
        ...(headers as Record<string, string>),
        ...(authorization !== undefined && { Authorization: authorization }),
      },
    });
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    request.once("response", resolve);
    request.once("error", reject);
    request.end(body);
    const response = await promise;
    const bytes = await answerBytes(response);
    return { status: response.statusCode ?? 0, body: bytes.toString(), bytes };
  }
}

async function answerBytes(response: IncomingMessage): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_ANSWER_BYTES) throw new Error(`the answer has more than ${MAX_ANSWER_BYTES} bytes`);
    addPart(chunks, chunk);
  }
  const whole = Buffer.concat(chunks);
  if (response.headers["content-encoding"] !== "gzip") return whole;
  return unpack(whole, { maxOutputLength: MAX_ANSWER_BYTES });
}
