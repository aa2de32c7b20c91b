/**
 * Trust in a hub of this very machine: it presents the certificate of its settings, and is reached at an address that
 * the certificate need not contain.
 */

import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { checkServerIdentity, getCACertificates, type PeerCertificate } from "node:tls";

/** Options of a TLS client; the names are those of node:tls. */
export interface OwnCertificateTrust {
  readonly ca: string[];
  readonly allowPartialTrustChain: true;
  readonly checkServerIdentity: (host: string, certificate: PeerCertificate) => Error | undefined;
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
