/** Reads the certificates of authorities that a connection trusts. */

import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";

const CERTIFICATE = /-----BEGIN ((?:X509 |TRUSTED )?CERTIFICATE)-----[^-]+-----END \1-----/g;
const BEGIN = /-----BEGIN /g;
const END = /-----END [^-\n]+-----/g;

/**
 * Returns the content of a PEM file. Throws an error of the file system, or one that says what is wrong if the file has no
 * certificate, or a part of one: TLS takes that for a file with fewer authorities, so that a file being written would be
 * one without any.
 */
export function readAuthorities(path: string): Buffer {
  const content = readFileSync(path);
  const text = content.toString("latin1");
  const certificates = text.match(CERTIFICATE) ?? [];
  if (certificates.length === 0) throw new Error(`${path} has no certificate`);
  if (text.match(BEGIN)!.length !== text.match(END)!.length)
    throw new Error(`${path} has a certificate without its end`);
  for (const [at, certificate] of certificates.entries()) {
    try {
      new X509Certificate(certificate);
    } catch (error) {
      throw new Error(`certificate ${at + 1} of ${path} can't be read: ${(error as Error).message}`, {
        cause: error,
      });
    }
  }
  return content;
}
