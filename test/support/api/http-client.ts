/** For tests: sends requests exactly as written, with headers that fetch would change. */

import { request as httpRequest, type IncomingHttpHeaders } from "node:http";
import { gzipSync } from "node:zlib";

/** An answer as a client sees it. */
export interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The body as JSON, looked into at any depth; undefined where it is none. */
  readonly body: Json;
}

export type Json = { readonly [key: string]: Json } & {
  readonly [at: number]: Json;
  readonly length: number;
};

export interface Sent {
  readonly body?: string | Buffer;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A client of one address. A body without a content type is sent as JSON; objects are written as JSON. */
export function clientOf(url: () => string) {
  return (
    method: string,
    path: string,
    body?: string | Buffer | object,
    headers: Sent["headers"] = {},
  ): Promise<Reply> => {
    const bytes =
      body === undefined || typeof body === "string" || Buffer.isBuffer(body) ? body : JSON.stringify(body);
    const type =
      bytes === undefined || "content-type" in headers ? {} : { "content-type": "application/json" };
    return send(method, url(), path, {
      headers: { ...type, ...headers },
      ...(bytes !== undefined && { body: bytes }),
    });
  };
}

function send(method: string, url: string, path: string, { body, headers = {} }: Sent): Promise<Reply> {
  const { promise, resolve, reject } = Promise.withResolvers<Reply>();
  const { hostname, port } = new URL(url);
  const length =
    body === undefined || "transfer-encoding" in headers
      ? {}
      : { "content-length": String(Buffer.byteLength(body)) };
  const sent = httpRequest(
    { method, hostname, port, path, agent: false, headers: { ...length, ...headers } },
    (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("error", reject);
      response.on("end", () => {
        const text = Buffer.concat(chunks).toString();
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text, body: parse(text) });
      });
    },
  );
  sent.on("error", reject);
  sent.end(body);
  return promise;
}

function parse(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined as unknown as Json;
  }
}

/** Bytes that one part of a bomb unpacks to. */
const BOMB_PART_BYTES = 1024 * 1024;

/** Returns a gzip body that unpacks to at least `bytes` of one character. Its parts are alike, so that one is packed only. */
export function gzipBomb(bytes: number, character: string): Buffer {
  const part = gzipSync(Buffer.alloc(BOMB_PART_BYTES, character), { level: 9 });
  return Buffer.concat(new Array<Buffer>(Math.ceil(bytes / BOMB_PART_BYTES)).fill(part));
}
