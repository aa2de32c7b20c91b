/** Reads and writes cookies; their names depend on the transport (RFC 6265bis). */

/** Attributes besides HttpOnly and SameSite=Lax, which all cookies here have. */
export interface CookieOptions {
  readonly path?: string;
  /** Absent: until the browser closes. 0: delete. */
  readonly maxAgeSeconds?: number;
}

/**
 * Writes and reads the cookies of one origin. Over https their names begin with `__Host-`, which browsers bind to this
 * host and to `Secure`. Over http on loopback browsers refuse that, so the plain name is used.
 */
export class Cookies {
  readonly #secure: boolean;

  constructor(publicUrl: string) {
    this.#secure = publicUrl.startsWith("https:");
  }

  /** Returns the full name. `pathBound` cookies can't be `__Host-` (which demands Path=/). */
  nameOf(name: string, pathBound = false): string {
    if (!this.#secure) return name;
    return `${pathBound ? "__Secure-" : "__Host-"}${name}`;
  }

  /** Returns the value of a cookie in a Cookie header, or undefined. If there are several, the first one counts. */
  read(header: string | undefined, name: string, pathBound = false): string | undefined {
    const wanted = `${this.nameOf(name, pathBound)}=`;
    const pair = header?.split(";").find((each) => each.trim().startsWith(wanted));
    return pair?.trim().slice(wanted.length);
  }

  /** Returns a Set-Cookie header's value. `value` must be of [A-Za-z0-9._-]. */
  write(name: string, value: string, { path, maxAgeSeconds }: CookieOptions = {}): string {
    const parts = [`${this.nameOf(name, path !== undefined)}=${value}`, `Path=${path ?? "/"}`];
    if (maxAgeSeconds !== undefined) parts.push(`Max-Age=${maxAgeSeconds}`);
    parts.push("HttpOnly", "SameSite=Lax");
    if (this.#secure) parts.push("Secure");
    return parts.join("; ");
  }

  /** Returns the Set-Cookie header's value that deletes a cookie. */
  clear(name: string, path?: string): string {
    return this.write(name, "", { maxAgeSeconds: 0, ...(path === undefined ? {} : { path }) });
  }
}
