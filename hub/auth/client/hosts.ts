/** Which hosts may see an access token. */

import { AppError } from "#proto/kit/errors.ts";
import { isLoopbackHost } from "#proto/kit/loopback.ts";

const PATTERN = /^(\*\.)?([A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*|\[[0-9a-fA-F:]+\])(:\d{1,5})?$/;

/** Throws request_invalid where `pattern` is no host. "*.example.com" covers the hosts below it, not itself. */
export function checkHostPattern(pattern: string): void {
  if (PATTERN.test(pattern) && pattern !== "*") return;
  throw new AppError(
    "request_invalid",
    `api_hosts: "${pattern}" is no host; write api.example.com or *.example.com`,
  );
}

/**
 * Throws forbidden where a token must not be sent to `url`: the host isn't in `patterns` (the port counts; without one
 * it is the scheme's own), or it isn't https (http only on loopback).
 */
export function checkTokenTarget(url: URL, patterns: readonly string[]): void {
  if (url.username !== "" || url.password !== "") {
    throw new AppError("forbidden", `the address of an API must not name a user: ${url.host}`);
  }
  const secure = url.protocol === "https:" || (url.protocol === "http:" && isLoopbackHost(url.hostname));
  if (!secure)
    throw new AppError("forbidden", `no access token goes to ${url.protocol}//${url.host}: it isn't https`);
  checkTokenHost(url.host, patterns);
}

/** Throws forbidden where `host`, with its port unless that is the scheme's own, isn't in `patterns`. */
export function checkTokenHost(host: string, patterns: readonly string[]): void {
  if (patterns.some((pattern) => covers(pattern.toLowerCase(), host.toLowerCase()))) return;
  throw new AppError(
    "forbidden",
    `no access token goes to ${host.slice(0, 200)}; allowed are ${patterns.join(", ")} (api_hosts of the provider)`,
  );
}

function covers(pattern: string, host: string): boolean {
  if (!pattern.startsWith("*.")) return pattern === host;
  return host.endsWith(pattern.slice(1)) && host.length > pattern.length - 1;
}
