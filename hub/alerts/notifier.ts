/**
 * Sends an alert's message over its channel: a POST with JSON, or a mail. A webhook must not reach the hub's own
 * machine, its network, or the metadata services of clouds unless settings allow it: a rule could otherwise send
 * requests to services that trust the hub's network (SSRF).
 */

import { type LookupAddress, lookup } from "node:dns";
import { request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { isIP, type LookupFunction } from "node:net";
import type { Transporter } from "nodemailer";
import { AppError } from "#proto/kit/errors.ts";
import { AddressSet } from "#proto/kit/net/address-set.ts";
import { plainHost } from "#proto/kit/net/host.ts";
import type { Channel } from "./rule.ts";

/** IANA special-purpose address registries: everything not globally reachable, and the forms that hold an IPv4 address. */
const PRIVATE = new AddressSet([
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/4",
  "240.0.0.0/4",
  "::/96",
  "::ffff:0:0:0/96",
  "64:ff9b::/96",
  "64:ff9b:1::/48",
  "100::/64",
  "2001::/23",
  "2001:db8::/32",
  "2002::/16",
  "fc00::/7",
  "fe80::/10",
  "fec0::/10",
  "ff00::/8",
]);

/**
 * Resolves a name and refuses private addresses. The connection is made to the address that was checked, so a name that
 * resolves differently the second time (DNS rebinding) gains nothing.
 */
const publicLookup: LookupFunction = (hostname, options, callback) => {
  lookup(hostname, { ...options, all: true }, (error, addresses: LookupAddress[]) => {
    if (error !== null) return callback(error, []);
    const found = addresses.find(({ address }) => isPrivateAddress(address));
    if (found !== undefined) return callback(refused(hostname), []);
    if (options.all === true) return callback(null, addresses);
    callback(null, addresses[0]!.address, addresses[0]!.family);
  });
};

/** The content of a message. */
export interface Notice {
  readonly id: string;
  readonly title: string;
  readonly event: "firing" | "resolved" | "test";
  /** Identity of the message, the same in each attempt: a receiver can drop repeats. */
  readonly key: string;
  readonly count: number;
  readonly condition: string;
  readonly at: string;
  /** Address of the lines in Discover. */
  readonly link: string;
}

export interface NotifierOptions {
  /** Whether webhooks may reach private addresses. */
  readonly allowPrivate: boolean;
  /** `smtp://user:password@host:587`; empty: no mail. */
  readonly smtpUrl: string;
  /** Sender of mails. */
  readonly smtpFrom: string;
}

const TIMEOUT_MS = 10_000;

export class Notifier {
  readonly #options: NotifierOptions;
  #mail: Transporter | undefined;

  constructor(options: NotifierOptions) {
    this.#options = options;
  }

  /** Resolves when the receiver has accepted the message. Throws forbidden, not_offered, unavailable. */
  async send(channel: Channel, notice: Notice): Promise<void> {
    if (channel.type === "webhook") await this.#post(channel.url, notice);
    else await this.#write(channel.to, notice);
  }

  /** Closes the connections that are kept open. */
  close(): void {
    this.#mail?.close();
  }

  #post(address: string, notice: Notice): Promise<void> {
    const url = new URL(address);
    const { allowPrivate } = this.#options;
    if (!allowPrivate) checkHost(url);
    const body = Buffer.from(JSON.stringify({ ...notice, text: textOf(notice) }));
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const start = url.protocol === "https:" ? requestHttps : requestHttp;
    const sent = start(url, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        "content-length": body.length,
        "idempotency-key": notice.key,
        "user-agent": "tailrace",
      },
      signal: AbortSignal.timeout(TIMEOUT_MS),
      // A new connection each time: a kept one would be reused without a check of its address.
      agent: false,
      ...(allowPrivate ? {} : { lookup: publicLookup }),
    });
    sent.on("response", (response) => {
      response.resume();
      const { statusCode = 0 } = response;
      if (statusCode >= 200 && statusCode < 300) resolve();
      else if (statusCode >= 300 && statusCode < 400)
        reject(
          failure(`${url.host} answered with a redirect, which isn't followed; use the address it leads to`),
        );
      else reject(failure(`${url.host} answered with status ${statusCode}`));
    });
    sent.on("error", (error) =>
      reject(
        error instanceof AppError ? error : failure(`${url.host} can't be reached: ${error.message}`, error),
      ),
    );
    sent.end(body);
    return promise;
  }

  async #write(to: readonly string[], notice: Notice): Promise<void> {
    const { smtpUrl, smtpFrom } = this.#options;
    if (smtpUrl === "")
      throw new AppError("not_offered", "no mail server is set; set alerts.smtp.url and alerts.smtp.from");
    this.#mail ??= await openMail(smtpUrl);
    try {
      await this.#mail.sendMail({
        from: smtpFrom,
        to: [...to],
        subject: `[${notice.event}] ${notice.title}`,
        text: `${textOf(notice)}\n\n${notice.link}\n`,
        messageId: `<${notice.key.replaceAll("/", ".")}@tailrace>`,
      });
    } catch (error) {
      throw failure(`the mail server refused the message: ${(error as Error).message}`, error);
    }
  }
}

function textOf({ title, event, count, condition, at }: Notice): string {
  const lines = `${count} ${count === 1 ? "line" : "lines"}`;
  if (event === "test") return `${title}: a test of this channel`;
  return event === "firing"
    ? `${title}: ${lines}, ${condition} (${at})`
    : `${title} is over: ${lines} (${at})`;
}

function failure(message: string, cause?: unknown): AppError {
  return new AppError("unavailable", message, { cause });
}

/** The mail library is loaded with the first mail because few hubs send any. */
async function openMail(smtpUrl: string): Promise<Transporter> {
  const { createTransport } = await import("nodemailer");
  const timeouts = { connectionTimeout: TIMEOUT_MS, socketTimeout: TIMEOUT_MS };
  return createTransport(smtpUrl, timeouts as object);
}

/** Returns true for an address that isn't on the public internet, also for IPv4 in IPv6. */
export function isPrivateAddress(address: string): boolean {
  return isIP(address) === 0 || PRIVATE.has(address);
}

/** Throws forbidden if the host is itself a private address; names are checked when they are looked up. */
function checkHost({ hostname }: URL): void {
  const bare = plainHost(hostname);
  if (isIP(bare) !== 0 && isPrivateAddress(bare)) throw refused(bare);
}

function refused(host: string): AppError {
  return new AppError(
    "forbidden",
    `${host} is an address of the hub's own network; set alerts.webhook.allow_private to true to allow it`,
  );
}
