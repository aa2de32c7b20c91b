/** A TLS server whose certificate, key and authorities are read again when their files change. */

import { readFileSync } from "node:fs";
import type { Socket } from "node:net";
import { createServer, type Server } from "node:tls";
import { AppError } from "#proto/kit/errors.ts";
import { readCertificates } from "#proto/kit/files/certificates.ts";
import { FileChanges } from "#proto/kit/files/file-changes.ts";

/** Looking at three small files costs nothing. */
const LOOK_EVERY_MS = 1_000;

export interface TlsServerOptions {
  readonly certificate: string;
  readonly key: string;
  /** Absent: clients need no certificate. */
  readonly ca?: string | undefined;
  readonly onConnection: (socket: Socket) => void;
  /** Called when changed files can't be used, once for each change: connections get the certificate of before. */
  readonly onFault: (error: unknown) => void;
}

/** Returns the server. Throws settings_invalid if a file can't be read. */
export function createTlsServer({ certificate, key, ca, ...calls }: TlsServerOptions): Server {
  const changes = new FileChanges([certificate, key, ...(ca === undefined ? [] : [ca])]);
  const contents = () => ({
    cert: readTlsFile(certificate, readCertificates),
    key: readTlsFile(key),
    ...(ca === undefined ? {} : { ca: readTlsFile(ca, readCertificates) }),
  });
  const mustName = ca === undefined ? {} : { requestCert: true, rejectUnauthorized: true };
  const server = createServer({ ...contents(), ...mustName }, calls.onConnection);
  // Not with each connection: one that comes rarely would get what has been replaced long ago.
  const look = (): void => changes.take(() => server.setSecureContext(contents()), calls.onFault);
  server.once("listening", () => {
    const timer = setInterval(look, LOOK_EVERY_MS).unref();
    server.once("close", () => clearInterval(timer));
  });
  return server;
}

function readTlsFile(path: string, read: (path: string) => Buffer = readFileSync): Buffer {
  try {
    return read(path);
  } catch (error) {
    throw new AppError("settings_invalid", `cannot read ${path}: ${(error as Error).message}`, {
      cause: error,
    });
  }
}
