/**
 * Refuses requests from other sites' pages. The Host header reveals a name that was pointed at 127.0.0.1 (DNS rebinding),
 * the Origin a form or fetch of another site, Fetch Metadata (W3C) an embedded image or script.
 */

import { AppError } from "#proto/kit/errors.ts";
import { isLoopbackHost } from "#proto/kit/net/loopback.ts";

/** The parts of a request that the guard checks. */
export interface GuardedRequest {
  readonly method?: string | undefined;
  readonly headers: {
    readonly host?: string | undefined;
    readonly origin?: string | undefined;
    readonly "sec-fetch-site"?: string | string[] | undefined;
    readonly "sec-fetch-dest"?: string | string[] | undefined;
  };
  /** Names and values alternately, as received. */
  readonly rawHeaders?: readonly string[];
}

export interface RequestGuardOptions {
  /** Address that the listener is bound to. */
  readonly host: string;
  /** Origins whose pages may send requests that change state: the dashboard's. */
  readonly origins: () => readonly string[];
}

/** Methods that don't change state (RFC 9110 section 9.2.1). */
const SAFE: ReadonlySet<string | undefined> = new Set(["GET", "HEAD", "OPTIONS"]);
/** Values of Sec-Fetch-Site for pages of other origins. "none" is a typed address or a bookmark. */
const FOREIGN: ReadonlySet<unknown> = new Set(["cross-site", "same-site"]);

export class RequestGuard {
  readonly #options: RequestGuardOptions;
  readonly #onLoopback: boolean;

  constructor(options: RequestGuardOptions) {
    this.#options = options;
    this.#onLoopback = isLoopbackName(options.host);
  }

  /** Throws forbidden for a foreign Host, Origin or page, request_invalid for two hosts. */
  check({ method, headers, rawHeaders = [] }: GuardedRequest): void {
    if (isNamedTwice(rawHeaders, "host"))
      throw new AppError("request_invalid", "the request has two Host headers; send one");
    if (this.#onLoopback && !this.#isOwnHost(headers.host)) {
      throw new AppError(
        "forbidden",
        `the Host header [${printable(headers.host)}] isn't an address of this hub; use localhost, or set public.url to the name in use`,
      );
    }
    const { origin } = headers;
    if (origin !== undefined && this.#options.origins().includes(origin)) return;
    if (origin !== undefined && !SAFE.has(method)) {
      throw new AppError(
        "forbidden",
        `pages of the origin [${printable(origin)}] may change nothing here; set public.url to the dashboard's address`,
      );
    }
    // Links from other sites are allowed, embedding isn't.
    if (FOREIGN.has(headers["sec-fetch-site"]) && headers["sec-fetch-dest"] !== "document") {
      throw new AppError(
        "forbidden",
        "pages of other origins may not send requests here; set public.url to the dashboard's address",
      );
    }
  }

  /** HTTP/1.0 clients may send no Host; browsers always do. */
  #isOwnHost(header: string | undefined): boolean {
    if (header === undefined) return true;
    const name = hostName(header);
    return (
      isLoopbackName(name) ||
      this.#options.origins().some((origin) => hostName(new URL(origin).host) === name)
    );
  }
}

/** Returns true for names and addresses that only this machine can reach; browsers never look up names under `.localhost`. */
function isLoopbackName(host: string): boolean {
  return isLoopbackHost(host) || host.toLowerCase().endsWith(".localhost");
}

function hostName(header: string): string {
  return header.replace(/:\d+$/, "").toLowerCase();
}

function isNamedTwice(rawHeaders: readonly string[], name: string): boolean {
  let count = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const each = rawHeaders[at]!;
    if (each.length === name.length && each.toLowerCase() === name) count++;
  }
  return count > 1;
}

function printable(text: string | undefined): string {
  return (text ?? "").slice(0, 100).replaceAll(/[^\x20-\x7e]/g, "?");
}
