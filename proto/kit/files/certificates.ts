/** Reads files of certificates: a server's own with its chain, and those of trusted authorities. */

import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";

const CERTIFICATE = /-----BEGIN ((?:X509 |TRUSTED )?CERTIFICATE)-----[^-]+-----END \1-----/g;
const BEGIN = /-----BEGIN /g;
const END = /-----END [^-\n]+-----/g;

/**
 * Returns the content of a PEM file. Throws an error of the file system, or one that says what is wrong if the file has no
 * certificate, or a part of one: TLS takes that for a file with fewer certificates, so that a file of authorities that is
 * being written would be one without any.
 */
export function readCertificates(path: string): Buffer {
  const content = readFileSync(path);
  const text = content.toString("latin1");
  const blocks = text.match(CERTIFICATE) ?? [];
  if (blocks.length === 0) throw new Error(`${path} has no certificate`);
  if (text.match(BEGIN)!.length !== text.match(END)!.length)
    throw new Error(`${path} has a certificate without its end`);
  for (const [at, block] of blocks.entries()) {
    try {
      new X509Certificate(block);
    } catch (error) {
      throw new Error(`certificate ${at + 1} of ${path} can't be read: ${(error as Error).message}`, {
        cause: error,
      });
    }
  }
  return content;
}

/** Returns the certificates of a PEM file that `readCertificates` has read. */
export function certificatesIn(content: Buffer): X509Certificate[] {
  const blocks = content.toString("latin1").match(CERTIFICATE) ?? [];
  return blocks.map((block) => new X509Certificate(block));
}
