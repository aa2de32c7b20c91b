/** Asks another hub for its description. */

import { connect, type TLSSocket } from "node:tls";
import { systemCode } from "#proto/kit/errors.ts";
import type { ClusterCertificate } from "./cluster-credentials.ts";
import { decodeHello, type Hello, LONGEST_HELLO_BYTES } from "./hello.ts";

/** Time for an answer: a machine that is down doesn't refuse the connection. */
const TIMEOUT_MS = 3_000;

/** Codes of node:tls for a certificate of another authority. */
const OF_ANOTHER = new Set([
  "SELF_SIGNED_CERT_IN_CHAIN",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "CERT_SIGNATURE_FAILURE",
  "ERR_SSL_TLSV1_ALERT_UNKNOWN_CA",
  "ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED",
  "ERR_SSL_TLSV1_ALERT_DECRYPT_ERROR",
]);

/** Host and port of a hub. */
export interface HubAddress {
  readonly host: string;
  readonly port: number;
}

/** `away`: no hub answers there. `foreign`: it has another secret. */
export type HelloAnswer =
  | { readonly kind: "hub"; readonly hello: Hello }
  | { readonly kind: "away" | "foreign"; readonly reason: string };

/** Never rejects; an aborted `signal` gives `away`. */
export async function callHub(
  { host, port }: HubAddress,
  { authority, certificate, key }: ClusterCertificate,
  signal: AbortSignal,
): Promise<HelloAnswer> {
  const socket = connect({
    host,
    port,
    ca: authority,
    cert: certificate,
    key,
    minVersion: "TLSv1.3",
    checkServerIdentity: () => undefined, // a holder of the secret may be reached by any name
  });
  const abort = (): void => void socket.destroy(new Error("the hub is stopping"));
  const timer = setTimeout(() => socket.destroy(new Error(`no answer within ${TIMEOUT_MS} ms`)), TIMEOUT_MS);
  signal.addEventListener("abort", abort, { once: true });
  if (signal.aborted) abort();
  try {
    return { kind: "hub", hello: decodeHello(await readLine(socket)) };
  } catch (error) {
    const kind = isOfAnother(error) ? "foreign" : "away";
    return { kind, reason: (error as Error).message };
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", abort);
    socket.destroy();
  }
}

/** Returns whether an error of a connection means that the other hub has another secret. */
export function isOfAnother(error: unknown): boolean {
  return OF_ANOTHER.has(systemCode(error));
}

async function readLine(socket: TLSSocket): Promise<string> {
  let text = "";
  for await (const chunk of socket) {
    text += (chunk as Buffer).toString("utf8");
    if (text.length > LONGEST_HELLO_BYTES) throw new Error("the answer is too long");
    if (text.endsWith("\n")) return text;
  }
  throw new Error("it ended the connection");
}
