/** Connections of HTTP clients: with TLS settings of their own, and by the proxy that the environment names. */

import { Agent as HttpAgent, type IncomingMessage } from "node:http";
import { Agent as HttpsAgent, request } from "node:https";
import { pipeline, Readable } from "node:stream";
import type { ReadableStream } from "node:stream/web";
import type { ConnectionOptions } from "node:tls";
import {
  type BrotliDecompress,
  constants,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  type Gunzip,
  type Inflate,
} from "node:zlib";
import type { Static } from "typebox";
import { optional, options, refused, text, withoutEffect } from "#proto/kit/options.ts";
import { Type } from "#proto/kit/schema.ts";
import { clientTls, TLS_CLIENT, TLS_VERSIONS } from "./tls.ts";

/** Agents that keep their connections. */
export interface HttpAgents {
  readonly http: HttpAgent;
  readonly https: HttpsAgent;
}

/** Returns agents; they heed HTTPS_PROXY, HTTP_PROXY and NO_PROXY where NODE_USE_ENV_PROXY is 1, as the runtime's own do. */
export function httpAgents(tls: ConnectionOptions | undefined): HttpAgents {
  const { env } = process;
  const common = { keepAlive: true, ...(env["NODE_USE_ENV_PROXY"] === "1" && { proxyEnv: env }) };
  return { http: new HttpAgent(common), https: new HttpsAgent({ ...common, ...tls }) };
}

const PEM_KEY = "write ssl_certificate => and ssl_key => with PEM files";
const PEM_AUTHORITIES = "write ssl_certificate_authorities => with PEM files";
const ONE_TIMEOUT = "request_timeout bounds a request from its beginning";
const AGENT_POOL = "connections are opened as needed, and kept";
const OFF = Type.Boolean({ default: false });

/** Options of existing configurations for their HTTP client. */
const FORMER_CLIENT = {
  automatic_retries: withoutEffect("failed requests are tried again, with waits that grow"),
  connect_timeout: withoutEffect(ONE_TIMEOUT),
  cookies: withoutEffect("cookies aren't kept", OFF),
  follow_redirects: withoutEffect("redirects aren't followed: write the address that they lead to", OFF),
  keepalive: withoutEffect(AGENT_POOL),
  keystore: refused(PEM_KEY),
  keystore_password: refused(PEM_KEY),
  keystore_type: refused(PEM_KEY),
  pool_max: withoutEffect(AGENT_POOL),
  pool_max_per_route: withoutEffect(AGENT_POOL),
  proxy: refused("set HTTPS_PROXY, HTTP_PROXY and NODE_USE_ENV_PROXY=1 for the hub"),
  retry_non_idempotent: withoutEffect("failed requests are tried again, with waits that grow"),
  socket_timeout: withoutEffect(ONE_TIMEOUT),
  ssl_keystore_password: refused(PEM_KEY),
  ssl_keystore_path: refused(PEM_KEY),
  ssl_keystore_type: refused(PEM_KEY),
  ssl_truststore_password: refused(PEM_AUTHORITIES),
  ssl_truststore_path: refused(PEM_AUTHORITIES),
  ssl_truststore_type: refused(PEM_AUTHORITIES),
  truststore: refused(PEM_AUTHORITIES),
  truststore_password: refused(PEM_AUTHORITIES),
  truststore_type: refused(PEM_AUTHORITIES),
  validate_after_inactivity: withoutEffect(AGENT_POOL),
};

/** Options of clients whose addresses say whether TLS is to be used. */
export const HTTPS_CLIENT = {
  ...FORMER_CLIENT,
  ssl_certificate: TLS_CLIENT.ssl_certificate,
  ssl_key: TLS_CLIENT.ssl_key,
  ssl_key_passphrase: TLS_CLIENT.ssl_key_passphrase,
  ssl_certificate_authorities: TLS_CLIENT.ssl_certificate_authorities,
  ssl_verification_mode: TLS_CLIENT.ssl_verification_mode,
  ssl_supported_protocols: TLS_CLIENT.ssl_supported_protocols,
  ssl_cipher_suites: TLS_CLIENT.ssl_cipher_suites,
  cacert: optional(text("like ssl_certificate_authorities with one file")),
  client_cert: optional(text("the former name of ssl_certificate")),
  client_key: optional(text("the former name of ssl_key")),
};

const CLIENT = options(HTTPS_CLIENT);

/**
 * Returns the settings of `values`; undefined where none is written. Throws for a file that can't be read, and for a
 * certificate or a key without the other.
 */
export function httpsTls(
  values: Static<typeof CLIENT>,
  resolvePath: (path: string) => string,
): ConnectionOptions | undefined {
  const { cacert, client_cert, client_key, ...written } = values;
  const certificate = written.ssl_certificate ?? client_cert;
  const key = written.ssl_key ?? client_key;
  const authorities = cacert === undefined ? written.ssl_certificate_authorities : [cacert];
  if ((certificate === undefined) !== (key === undefined))
    throw new Error("ssl_certificate and ssl_key go together: write both, or neither");
  if (key === undefined && written.ssl_key_passphrase !== undefined)
    throw new Error("ssl_key_passphrase needs ssl_certificate and ssl_key");
  const isPlain =
    certificate === undefined &&
    authorities.length === 0 &&
    written.ssl_verification_mode === "full" &&
    written.ssl_cipher_suites.length === 0 &&
    written.ssl_supported_protocols.length === TLS_VERSIONS.length;
  if (isPlain) return undefined;
  return clientTls(
    {
      ...written,
      ssl_enabled: true,
      ssl_certificate_authorities: authorities,
      ...(certificate !== undefined && { ssl_certificate: certificate }),
      ...(key !== undefined && { ssl_key: key }),
    },
    resolvePath,
  );
}

/** Some servers refuse requests without one. */
const USER_AGENT = "tailrace";

/** What is asked of a server. */
export interface FetchInit {
  readonly method: string;
  readonly headers: Headers | Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  readonly redirect: "manual";
  readonly body?: string | Uint8Array;
}

/** Statuses whose answers have no body. */
const WITHOUT_BODY: readonly number[] = [204, 205, 304];

/** Sends like `fetch`, which has no TLS settings: addresses of https go by an agent that has them. */
export class TlsFetch {
  readonly #agent: HttpsAgent | undefined;

  /** Without settings `fetch` sends everything. */
  constructor(tls: ConnectionOptions | undefined) {
    this.#agent = tls === undefined ? undefined : httpAgents(tls).https;
  }

  close(): void {
    this.#agent?.destroy();
  }

  async fetch(url: URL, init: FetchInit): Promise<Response> {
    const { method, signal, body } = init;
    const agent = this.#agent;
    const headers = new Headers(init.headers);
    if (!headers.has("User-Agent")) headers.set("User-Agent", USER_AGENT);
    if (agent === undefined || url.protocol !== "https:") return fetch(url, { ...init, headers });
    if (!headers.has("Accept-Encoding")) headers.set("Accept-Encoding", "gzip");
    const sent = request(url, { method, headers: Object.fromEntries(headers), signal, agent });
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    sent.once("response", resolve);
    sent.once("error", reject);
    sent.end(body);
    const answer = await promise;
    const status = answer.statusCode ?? 0;
    const isEmpty = method === "HEAD" || WITHOUT_BODY.includes(status);
    if (isEmpty) answer.resume();
    return new Response(
      isEmpty ? null : (Readable.toWeb(unpacked(answer)) as ReadableStream<Uint8Array<ArrayBuffer>>),
      {
        status,
        headers: Object.entries(answer.headers).map(([name, value]): [string, string] => [
          name,
          String(value),
        ]),
      },
    );
  }
}

/** The body of an answer that needn't be read, and the time for it, for which its connection is kept. */
const MAX_DISCARDED_BYTES = 65_536;
const DISCARD_MS = 1_000;

/**
 * Reads what is left of an answer, so that its connection serves the next request. Ends the connection of one that is long
 * or slow. Never throws: who calls this needs no more of the answer.
 */
export async function discardBody({ body }: Response): Promise<void> {
  if (body === null) return;
  const reader = body.getReader();
  const cancel = (): void => void reader.cancel().catch(() => undefined);
  const timer = setTimeout(cancel, DISCARD_MS);
  try {
    let bytes = 0;
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      bytes += read.value.length;
      if (bytes > MAX_DISCARDED_BYTES) cancel();
    }
  } catch {
    // The connection ended first.
  } finally {
    clearTimeout(timer);
  }
}

/** Takes a body without bytes as an empty one, as `fetch` does. */
const EMPTY_ENDS = { finishFlush: constants.Z_SYNC_FLUSH };

/** Undoes the Content-Encoding of an answer, if `fetch` does. */
function unpacked(answer: IncomingMessage): Readable {
  const unpacker = unpackerOf(answer.headers["content-encoding"]?.trim().toLowerCase());
  // A failure ends the stream that is read.
  return unpacker === undefined ? answer : pipeline(answer, unpacker, () => undefined);
}

function unpackerOf(encoding: string | undefined): Gunzip | Inflate | BrotliDecompress | undefined {
  switch (encoding) {
    case "gzip":
    case "x-gzip":
      return createGunzip(EMPTY_ENDS);
    case "deflate":
      return createInflate(EMPTY_ENDS);
    case "br":
      return createBrotliDecompress({ finishFlush: constants.BROTLI_OPERATION_FLUSH });
    default:
      return undefined;
  }
}
