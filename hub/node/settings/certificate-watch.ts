/** Detects replaced certificate files, so that listeners use the new certificate without a restart. */

import type { Clock } from "#proto/kit/clock.ts";
import { toAppError } from "#proto/kit/errors.ts";
import { BackgroundTask, type Component } from "#proto/kit/lifecycle.ts";
import type { Logger } from "#proto/kit/log.ts";
import { readTlsFiles, type TlsOptions, type TlsSettings } from "./tls-files.ts";

/** Renewal programs act weeks ahead, and reading three small files costs nothing. */
const LOOK_EVERY_MS = 5_000;

export interface CertificateWatchOptions {
  readonly settings: TlsSettings;
  /** Called with the new files once certificate and key match. Must not throw. */
  readonly onChange: (tls: TlsOptions) => void;
  readonly clock: Clock;
  readonly log: Logger;
  /** ms; default 5 s. */
  readonly lookEveryMs?: number;
}

/** Polls the files: a file watch misses switched symbolic links, which certbot and Kubernetes use. */
export class CertificateWatch implements Component {
  readonly #options: CertificateWatchOptions;
  readonly #task = new BackgroundTask();
  #known: TlsOptions | undefined;
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
    const { clock, lookEveryMs = LOOK_EVERY_MS } = this.#options;
    while (!signal.aborted) {
      await clock.sleep(lookEveryMs, signal);
      if (!signal.aborted) this.#lookOnce();
    }
  }

  #lookOnce(): void {
    const { settings, log, onChange } = this.#options;
    try {
      const found = readTlsFiles(settings);
      this.#problem = "";
      if (found === undefined || isSame(found, this.#known!)) return;
      this.#known = found;
      onChange(found);
      log.info({ certificate: settings["tls.certificate"] }, "the listeners use the new certificate");
    } catch (error) {
      // Certificate and key may be written one after the other; the old pair stays in use until they match.
      const { message } = toAppError(error);
      if (message !== this.#problem) log.warn(`the old certificate stays in use: ${message}`);
      this.#problem = message;
    }
  }
}

function isSame(one: TlsOptions, other: TlsOptions): boolean {
  return one.cert.equals(other.cert) && one.key.equals(other.key) && sameCa(one.ca, other.ca);
}

function sameCa(one: Buffer | undefined, other: Buffer | undefined): boolean {
  return one === undefined || other === undefined ? one === other : one.equals(other);
}
