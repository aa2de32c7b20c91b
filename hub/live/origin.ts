/** Origins as browsers send them (RFC 6454 section 6.1), compared exactly. */

/** Returns the origin of an address with its default port left out; undefined where it has none. */
export function normaliseOrigin(address: string): string | undefined {
  try {
    const { origin } = new URL(address);
    return origin === "null" ? undefined : origin;
  } catch {
    return undefined;
  }
}

/** Returns a test of Origin headers against `allowed` addresses; never against what the request says of its host. */
export function compileOrigins(allowed: readonly string[]): (origin: string) => boolean {
  const origins = new Set(allowed.map(normaliseOrigin).filter((origin) => origin !== undefined));
  return (origin) => {
    const normal = normaliseOrigin(origin);
    return normal !== undefined && origins.has(normal);
  };
}
