/** Hosts as URLs write them: an IPv6 address stands in brackets there, and nowhere else. */

/** Returns a host without the brackets of a URL. */
export function plainHost(host: string): string {
  return host.replace(/^\[|\]$/g, "");
}

/** Returns a host as it stands in a URL or before a port: an IPv6 address in brackets. */
export function urlHost(host: string): string {
  return host.includes(":") ? `[${host}]` : host;
}
