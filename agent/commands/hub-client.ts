/** HTTP client of the commands: sends one request at a time to a hub and checks the hub's certificate. */

import type { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import { isIP } from "node:net";
import { connect as connectSecurely, type TLSSocket } from "node:tls";
import { addPart } from "#proto/kit/byte-parts.ts";
import { AppError } from "#proto/kit/errors.ts";
import { plainHost } from "#proto/kit/net/host.ts";
import { request as httpRequest } from "#proto/kit/net/node-http.ts";
import { systemReason } from "#proto/kit/system-reason.ts";

export interface HubClientOptions {
  /** http:// or https://; host:port means http. */
  readonly url: string;
  /** SHA-256 of the certificate or of one above it, hexadecimal, with or without colons; empty: authorities decide. */
  readonly fingerprint?: string;
  /** File with authorities, PEM. */
  readonly caFile?: string | undefined;
  /** Value of the Authorization header; empty for none. */
  readonly authorization?: string;
}

export interface HubAnswer {
  readonly status: number;
  /** The answer as JSON; null if it is none. */
  readonly body: unknown;
  /** The hub's message for an error; empty without one. */
  readonly message: string;
}

const TIMEOUT_MS = 15_000;
const ANSWER_BYTES_MAX = 4 * 1_024 * 1_024;

export class HubClient {
  readonly #options: HubClientOptions;
  readonly #base: URL;

  /** Throws usage_invalid for an invalid address. */
  constructor(options: HubClientOptions) {
    this.#options = options;
    const text = /^https?:\/\//.test(options.url) ? options.url : `http://${options.url}`;
    if (!URL.canParse(text)) throw new AppError("usage_invalid", `${options.url} isn't the address of a hub`);
    this.#base = new URL(text);
  }

  /** Resolves with the hub's answer, whatever its status. Throws unavailable if it can't be reached. */
  async send(method: string, path: string, body?: object): Promise<HubAnswer> {
    const url = new URL(path, this.#base);
    const text = body === undefined ? "" : JSON.stringify(body);
    const { authorization = "" } = this.#options;
    const headers = {
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      "content-length": Buffer.byteLength(text),
      ...(authorization === "" ? {} : { authorization }),
    };
    try {
      const socket = url.protocol === "https:" ? await this.#connect(url) : undefined;
      const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
      const send = socket === undefined ? httpRequest : httpsRequest;
      const options = { method, headers, timeout: TIMEOUT_MS };
      const request = send(
        url,
        // With an agent the checked connection would be ignored in favour of one of its own.
        socket === undefined ? { ...options, agent: false } : { ...options, createConnection: () => socket },
      );
      request.on("timeout", () => request.destroy(new Error(`no answer within ${TIMEOUT_MS} ms`)));
      request.on("error", reject);
      request.on("response", resolve);
      request.end(text);
      return await readAnswer(await promise);
    } catch (error) {
      if (error instanceof AppError) throw error;
      throw new AppError(
        "unavailable",
        `cannot reach the hub at ${this.#base.origin}: ${systemReason(error)}; is the hub running, and is that the address of its dashboard?`,
        {
          cause: error,
        },
      );
    }
  }

  /** Connects and checks the certificate before anything is sent: what is sent may be a secret. */
  async #connect(url: URL): Promise<TLSSocket> {
    const { fingerprint = "", caFile } = this.#options;
    const host = plainHost(url.hostname);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const socket = connectSecurely(
      {
        host,
        port: Number(url.port || 443),
        // An address isn't a server name (RFC 6066 section 3).
        ...(isIP(host) === 0 && { servername: host }),
        rejectUnauthorized: fingerprint === "",
        ...(caFile === undefined ? {} : { ca: readFileSync(caFile) }),
      },
      resolve,
    );
    socket.setTimeout(TIMEOUT_MS, () => socket.destroy(new Error(`no connection within ${TIMEOUT_MS} ms`)));
    socket.once("error", reject);
    await promise;
    if (fingerprint !== "" && !hasFingerprint(socket.getPeerX509Certificate(), fingerprint)) {
      socket.destroy();
      const found = socket.getPeerCertificate()?.fingerprint256 ?? "none";
      throw new AppError(
        "forbidden",
        `the certificate of ${url.host} isn't the one that --ca-fingerprint names (it is ${found}); nothing was sent`,
      );
    }
    return socket;
  }
}

/**
 * Looks through the chain that the server sent, up to its end. Each certificate must be signed with the key of the
 * next: an impostor can send the right authority along, but has nothing signed by it.
 */
function hasFingerprint(leaf: X509Certificate | undefined, wanted: string): boolean {
  const plain = (text: string): string => text.replaceAll(":", "").toLowerCase();
  for (let each = leaf; each !== undefined; ) {
    if (plain(each.fingerprint256) === plain(wanted)) return true;
    const issuer: X509Certificate | undefined = each.issuerCertificate;
    if (issuer === undefined || issuer.raw.equals(each.raw) || !each.verify(issuer.publicKey)) return false;
    each = issuer;
  }
  return false;
}

async function readAnswer(response: IncomingMessage): Promise<HubAnswer> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > ANSWER_BYTES_MAX) throw new Error("the answer is too long");
    addPart(chunks, chunk);
  }
  const text = Buffer.concat(chunks).toString();
  const status = response.statusCode ?? 0;
  try {
    const body = JSON.parse(text) as { error?: { message?: string; reason?: string } } | null;
    return { status, body, message: body?.error?.message ?? body?.error?.reason ?? "" };
  } catch {
    return { status, body: null, message: text.slice(0, 200) };
  }
}
