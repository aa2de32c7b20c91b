/**
 * One HTTP request with JSON in and out, for commands and starters: fetch has no option for the certificate to trust.
 * Trust in a hub of this very machine: it presents the certificate of its settings, and is reached at an address that
 * the certificate need not contain.
 */

import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { request as httpRequest, type IncomingMessage, type RequestOptions } from "node:http";
import { request as httpsRequest } from "node:https";
import { checkServerIdentity, getCACertificates, type PeerCertificate } from "node:tls";

/** Options of a TLS client; the names are those of node:tls. */
export interface OwnCertificateTrust {
  readonly ca: string[];
  readonly allowPartialTrustChain: true;
  readonly checkServerIdentity: (host: string, certificate: PeerCertificate) => Error | undefined;
}

export interface JsonRequest {
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent by POST; absent: GET. */
  readonly body?: unknown;
  readonly timeoutMs: number;
  /** Whom to trust besides the system's authorities. */
  readonly trust?: OwnCertificateTrust | undefined;
}

export interface JsonAnswer {
  readonly status: number;
  /** Null where the answer isn't JSON. */
  readonly body: unknown;
}

/** Ten thousand long lines fit; a text of the engine can't be much longer. */
const MAX_ANSWER_BYTES = 256 * 1_024 ** 2;

/** Resolves with the answer, whatever its status. Throws what the connection throws. */
export async function requestJson(url: string, options: JsonRequest): Promise<JsonAnswer> {
  const { headers, body, timeoutMs, trust } = options;
  const text = body === undefined ? undefined : JSON.stringify(body);
  const settings: RequestOptions = {
    method: text === undefined ? "GET" : "POST",
    headers: { ...headers, ...(text !== undefined && { "content-type": "application/json" }) },
    // A kept connection would keep the process as well.
    agent: false,
    signal: AbortSignal.timeout(timeoutMs),
  };
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const request = url.startsWith("https:")
    ? httpsRequest(url, { ...settings, ...trust }, resolve)
    : httpRequest(url, settings, resolve);
  request.on("error", reject);
  request.end(text);
  const response = await promise;
  return { status: response.statusCode ?? 0, body: await readBody(response) };
}

async function readBody(response: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    sizeBytes += chunk.length;
    if (sizeBytes > MAX_ANSWER_BYTES) throw new Error(`the answer has more than ${MAX_ANSWER_BYTES} bytes`);
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString()) as unknown;
  } catch {
    return null;
  }
}

/**
 * Returns options by which a client accepts the first certificate of the PEM file at `path` under any name, since only its
 * owner has the key, and every other one by the system's authorities. Of the file's chain only that first one is
 * trusted: an authority in it has signed others too. Throws where the file can't be read or holds no certificate.
 */
export function trustOwnCertificate(path: string): OwnCertificateTrust {
  const own = new X509Certificate(readFileSync(path));
  return {
    ca: [...getCACertificates("default"), own.toString()],
    allowPartialTrustChain: true,
    checkServerIdentity: (host, certificate) =>
      own.raw.equals(certificate.raw) ? undefined : checkServerIdentity(host, certificate),
  };
}
