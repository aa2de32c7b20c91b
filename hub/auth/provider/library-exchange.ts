/**
 * One request and its answer in the form that oidc-provider, a Koa application, needs. The library writes to an answer
 * in memory, so that the routes of the provider return answers as all others do.
 */

import { type IncomingHttpHeaders, type IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import type { Provider } from "oidc-provider";

/** The parts of a request that the library reads. */
export interface LibraryRequest {
  readonly method: "GET" | "POST";
  /** Path and query. */
  readonly uri: string;
  readonly headers: IncomingHttpHeaders;
  /** Address of the client. */
  readonly ip: string;
  readonly body?: Buffer;
}

/** What the library answered. */
export interface LibraryAnswer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly text: string;
}

export class LibraryExchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly #answer: AnswerInMemory;

  /** `publicUrl` replaces the request's own address, which is never used (RFC 9700 section 4.12 on proxies and Host). */
  constructor({ method, uri, headers, ip, body = Buffer.alloc(0) }: LibraryRequest, publicUrl: string) {
    const { protocol, host } = new URL(publicUrl);
    const request = Object.assign(Readable.from(body.length === 0 ? [] : [body], { objectMode: false }), {
      method,
      url: uri,
      httpVersion: "1.1",
      httpVersionMajor: 1,
      httpVersionMinor: 1,
      socket: { encrypted: protocol === "https:", remoteAddress: ip },
      headers: {
        ...headers,
        host,
        "x-forwarded-proto": protocol.slice(0, -1),
        "x-forwarded-host": host,
        "x-forwarded-for": ip,
      },
    });
    // The library reads only these fields of a message.
    this.request = request as unknown as IncomingMessage;
    this.#answer = new AnswerInMemory(this.request);
    this.response = this.#answer;
  }

  /** Returns the library's answer. */
  async answer(provider: Provider): Promise<LibraryAnswer> {
    await provider.callback()(this.request, this.response);
    const headers: Record<string, string | string[]> = {};
    for (const [name, value] of Object.entries(this.#answer.getHeaders())) {
      if (value !== undefined) headers[name] = typeof value === "number" ? String(value) : value;
    }
    return { status: this.#answer.statusCode, headers, text: this.#answer.text };
  }
}

/** A response without a connection. */
class AnswerInMemory extends ServerResponse {
  text = "";

  override write(chunk: unknown): boolean {
    this.text += String(chunk);
    return true;
  }

  override end(chunk?: unknown): this {
    if (typeof chunk === "string" || Buffer.isBuffer(chunk)) this.text += String(chunk);
    this.finished = true;
    this.emit("finish");
    return this;
  }
}
