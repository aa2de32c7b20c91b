/** Detects replaced certificate files, so that listeners use the new certificate without a restart. */

import type { X509Certificate } from "node:crypto";
import type { Clock } from "#proto/kit/clock.ts";
import { AppError, toAppError } from "#proto/kit/errors.ts";
import { certificatesIn } from "#proto/kit/files/certificates.ts";
import { BackgroundTask, type Component } from "#proto/kit/lifecycle.ts";
import type { Logger } from "#proto/kit/log.ts";
import { readTlsFiles, type TlsOptions, type TlsSettings } from "./tls-files.ts";

/** Renewal programs act weeks ahead, and reading three small files costs nothing. */
const LOOK_EVERY_MS = 5_000;

/** Looks in a row that find files which can't be used before this is reported: they may be written during one. */
const REPORTED_LOOKS = 2;

export interface CertificateWatchOptions {
  readonly settings: TlsSettings;
  /** Called with the new files once they are complete and no longer change. Must not throw. */
  readonly onChange: (tls: TlsOptions) => void;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Polls the files: a file watch misses switched symbolic links, which certbot and Kubernetes use. */
export class CertificateWatch implements Component {
  readonly #options: CertificateWatchOptions;
  readonly #task = new BackgroundTask();
  #known: TlsOptions | undefined;
  /** Changed files at the last look. */
  #changed: TlsOptions | undefined;
  /** Looks in a row that found files which can't be used. */
  #failedLooks = 0;
  #problem = "";

  constructor(options: CertificateWatchOptions) {
    this.#options = options;
  }

  /** The files that the listeners use; undefined without TLS and before `start`. */
  get current(): TlsOptions | undefined {
    return this.#known;
  }

  /** Why changed files are not in use; empty without a reason. */
  get problem(): string {
    return this.#problem;
  }

  /** Throws settings_invalid. */
  start(): Promise<void> {
    this.#known = readTlsFiles(this.#options.settings);
    if (this.#known !== undefined) this.#task.start((signal) => this.#look(signal));
    return Promise.resolve();
  }

  async stop(): Promise<void> {
    await this.#task.stop();
  }

  async #look(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    while (!signal.aborted) {
      await clock.sleep(LOOK_EVERY_MS, signal);
      if (!signal.aborted) this.#lookOnce();
    }
  }

  #lookOnce(): void {
    const { settings, log, onChange } = this.#options;
    try {
      const found = readTlsFiles(settings)!;
      const known = this.#known!;
      const isKnown = isSame(found, known);
      if (!isKnown) checkChain(found, known, settings["tls.certificate"]);
      this.#failedLooks = 0;
      this.#problem = "";
      // A file that is being written may end between two certificates.
      const isSettled = this.#changed !== undefined && isSame(found, this.#changed);
      this.#changed = isKnown || isSettled ? undefined : found;
      if (isKnown || !isSettled) return;
      this.#known = found;
      onChange(found);
      log.info({ certificate: settings["tls.certificate"] }, "the listeners use the new certificate");
    } catch (error) {
      // Certificate and key may be written one after the other; the old pair stays in use until they match.
      this.#changed = undefined;
      if (++this.#failedLooks < REPORTED_LOOKS) return;
      this.#problem = toAppError(error).message;
      if (this.#failedLooks === REPORTED_LOOKS)
        log.warn(`the old certificate stays in use: ${this.#problem}`);
    }
  }
}

/**
 * Throws settings_invalid if a file that has changed holds one certificate alone, which others issued, and the file had a chain
 * before: its writer was probably cut off, and most clients would refuse the listeners. A certificate of an authority that was
 * at the end of the chain needs no other.
 */
function checkChain(found: TlsOptions, known: TlsOptions, path: string): void {
  const [own, ...chain] = certificatesIn(found.cert);
  const before = certificatesIn(known.cert).slice(1);
  if (own === undefined || chain.length > 0 || before.length === 0 || isSelfSigned(own)) return;
  if (before.some((one) => one.subject === own.issuer && isSelfSigned(one))) return;
  throw new AppError(
    "settings_invalid",
    `tls.certificate ${path} ends after the first certificate; before, its chain followed. That of its issuer may be missing: ${own.issuer.replaceAll("\n", ", ")}. Write the whole chain to the file, or restart the hub to use the certificate anyway`,
  );
}

function isSelfSigned(certificate: X509Certificate): boolean {
  return certificate.checkIssued(certificate);
}

function isSame(one: TlsOptions, other: TlsOptions): boolean {
  return one.cert.equals(other.cert) && one.key.equals(other.key) && sameCa(one.ca, other.ca);
}

function sameCa(one: Buffer | undefined, other: Buffer | undefined): boolean {
  return one === undefined || other === undefined ? one === other : one.equals(other);
}
