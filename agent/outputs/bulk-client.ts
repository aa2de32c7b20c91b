/** Sends bulk bodies to a search engine over connections that stay open, and reads the answers. */

import type { ClientRequest, IncomingMessage, Agent as PlainAgent } from "node:http";
import { request as httpsRequest, Agent as SecureAgent } from "node:https";
import { gzipSync } from "node:zlib";
import { addPart } from "#proto/kit/byte-parts.ts";
import { AppError } from "#proto/kit/errors.ts";
import { readCertificates } from "#proto/kit/files/certificates.ts";
import { FileChanges } from "#proto/kit/files/file-changes.ts";
import { Agent, request as httpRequest } from "#proto/kit/net/node-http.ts";

export interface SearchSettings {
  /** host:port or URLs. */
  readonly hosts: readonly string[];
  /** Name of the index; %{+yyyy.MM.dd} is replaced by the day, UTC. */
  readonly index: string;
  readonly username?: string | undefined;
  readonly password?: string | undefined;
  readonly apiKey?: string | undefined;
  readonly bearerToken?: string | undefined;
  /** True: requests are compressed. */
  readonly gzip?: boolean;
  readonly tlsCa?: string | undefined;
}

export interface BulkClientOptions {
  readonly settings: SearchSettings;
  /** Connections at most. */
  readonly connections: number;
  readonly timeoutMs: number;
  /** Ends all requests. */
  readonly signal: AbortSignal;
  /** Called when a changed file with authorities can't be used, once for each change: those of before stay in use. */
  readonly onFault: (error: unknown) => void;
}

export interface Answer {
  readonly status: number;
  readonly body: string;
}

/** One item of a bulk answer that was not stored. */
export interface ItemError {
  readonly status: number;
  readonly reason: string;
}

interface BulkAnswer {
  readonly errors?: boolean;
  readonly items?: readonly {
    readonly index?: { readonly status?: number; readonly error?: { readonly reason?: string } };
  }[];
}

/** A bulk answer names each document; larger ones are a fault of the receiver. */
const ANSWER_BYTES_MAX = 16 * 1_024 * 1_024;
/** Smaller bodies aren't worth the time. */
const GZIP_BYTES_MIN = 1_024;
/** The part of an answer that is read: a fifth of its bytes. The status keeps each item at its position. */
const FILTER = "filter_path=errors,items.*.status,items.*.error.reason";
const BAD_REQUEST = 400;
/** Beginning of an answer without failed items; numbers and null may come before. */
const NO_ERRORS = /^\s*\{(?:\s*"\w+"\s*:\s*(?:\d+|null)\s*,)*\s*"errors"\s*:\s*false\s*[,}]/;

export class BulkClient {
  readonly #options: BulkClientOptions;
  readonly #agent: PlainAgent;
  readonly #secureAgent: SecureAgent;
  readonly #authorities: { readonly path: string; readonly changes: FileChanges } | undefined;
  #ca: Buffer | undefined;
  readonly #headers: Readonly<Record<string, string>>;
  #host = 0;
  #filters = true;

  /** Throws settings_invalid if the file with the authorities can't be read. */
  constructor(options: BulkClientOptions) {
    this.#options = options;
    const { tlsCa } = options.settings;
    const common = { keepAlive: true, maxSockets: options.connections };
    this.#agent = new Agent(common);
    this.#secureAgent = new SecureAgent(common);
    if (tlsCa !== undefined) {
      this.#authorities = { path: tlsCa, changes: new FileChanges([tlsCa]) };
      this.#ca = authoritiesOf(tlsCa);
    }
    this.#headers = {
      "content-type": "application/x-ndjson",
      ...authorizationOf(options.settings),
    };
  }

  /** Takes the next host for the following requests. */
  nextHost(): void {
    this.#host++;
  }

  close(): void {
    this.#agent.destroy();
    this.#secureAgent.destroy();
  }

  /** Sends a body. Throws if there is no answer. */
  async post(body: Buffer): Promise<Answer> {
    const answer = await this.#request(body, this.#filters);
    if (answer.status !== BAD_REQUEST || !this.#filters) return answer;
    // A server without support for the parameter refuses the request.
    const plain = await this.#request(body, false);
    if (plain.status !== BAD_REQUEST) this.#filters = false;
    return plain;
  }

  /** Returns the authorities, read again if their file has changed; those of before while it can't be used. */
  #currentAuthorities(): Buffer | undefined {
    const { path, changes } = this.#authorities!;
    changes.take(() => (this.#ca = authoritiesOf(path)), this.#options.onFault);
    return this.#ca;
  }

  #request(plain: Buffer, filters: boolean): Promise<Answer> {
    const { settings, timeoutMs, signal } = this.#options;
    const { hosts, gzip } = settings;
    const compressed = gzip === true && plain.length >= GZIP_BYTES_MIN;
    const body = compressed ? gzipSync(plain, { level: 1 }) : plain;
    const host = hosts[this.#host % hosts.length]!;
    const url = new URL(
      filters ? `/_bulk?${FILTER}` : "/_bulk",
      /^https?:/.test(host) ? host : `http://${host}`,
    );
    const secure = url.protocol === "https:";
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    const request = (secure ? httpsRequest : httpRequest)(url, {
      method: "POST",
      agent: secure ? this.#secureAgent : this.#agent,
      ...(secure && this.#ca !== undefined ? { ca: this.#currentAuthorities() } : {}),
      timeout: timeoutMs,
      signal,
      headers: {
        ...this.#headers,
        "content-length": body.length,
        ...(compressed ? { "content-encoding": "gzip" } : {}),
      },
    });
    request.on("timeout", () => request.destroy(new Error(`no answer within ${timeoutMs} ms`)));
    request.on("error", reject);
    request.on("response", (response) => {
      response.on("error", reject);
      readAnswer(request, response, resolve);
    });
    request.end(body);
    return promise;
  }
}

function authoritiesOf(path: string): Buffer {
  try {
    return readCertificates(path);
  } catch (error) {
    throw new AppError("settings_invalid", `output.search.tls.ca: ${(error as Error).message}`, {
      cause: error,
    });
  }
}

/** Aborts the request if the answer is too long. */
function readAnswer(
  request: ClientRequest,
  response: IncomingMessage,
  resolve: (answer: Answer) => void,
): void {
  const chunks: Uint8Array[] = [];
  let length = 0;
  response.on("data", (chunk: Buffer) => {
    length += chunk.length;
    if (length > ANSWER_BYTES_MAX) request.destroy(new Error("the answer is too long"));
    else addPart(chunks, chunk);
  });
  response.on("end", () =>
    resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString() }),
  );
}

/** Returns the failed items of a bulk answer by their index, or null if it isn't a bulk answer. */
export function itemErrors(body: string): Map<number, ItemError> | null {
  const errors = new Map<number, ItemError>();
  if (NO_ERRORS.test(body) && body.trimEnd().endsWith("}")) return errors;
  let answer: BulkAnswer | null;
  try {
    answer = JSON.parse(body) as BulkAnswer | null;
  } catch {
    return null;
  }
  if (answer?.errors === false) return errors;
  if (answer?.errors !== true || !Array.isArray(answer.items)) return null;
  for (const [place, { index }] of answer.items.entries()) {
    const status = index?.status ?? 500;
    if (status >= 300) errors.set(place, { status, reason: index?.error?.reason ?? "" });
  }
  return errors;
}

function authorizationOf({ username, password, apiKey, bearerToken }: SearchSettings): {
  authorization?: string;
} {
  if (apiKey !== undefined) return { authorization: `ApiKey ${apiKey}` };
  if (bearerToken !== undefined) return { authorization: `Bearer ${bearerToken}` };
  if (username === undefined) return {};
  return { authorization: `Basic ${Buffer.from(`${username}:${password ?? ""}`).toString("base64")}` };
}
