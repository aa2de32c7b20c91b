/** As much of a browser as the flows need: cookies with paths, no redirects followed by itself, forms sent. */

interface Cookie {
  readonly value: string;
  readonly path: string;
}

/** What came back, with the body read. */
export interface Page {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Where a redirect leads, whole. */
  readonly location: string | null;
  readonly url: string;
}

export class Browser {
  readonly #cookies = new Map<string, Cookie>();
  /** Set-Cookie headers seen, as they came. */
  readonly setCookies: string[] = [];

  get(url: string, headers: Record<string, string> = {}): Promise<Page> {
    return this.#ask(url, { headers });
  }

  post(url: string, fields: Record<string, string>, headers: Record<string, string> = {}): Promise<Page> {
    return this.#ask(url, { method: "POST", body: new URLSearchParams(fields), headers });
  }

  /** Follows redirects as long as they lead to `origin`; returns the page at the end, or the redirect that leaves. */
  async follow(page: Page, origin: string): Promise<Page> {
    let at = page;
    for (let count = 0; count < 10; count++) {
      if (at.location === null || new URL(at.location).origin !== origin) return at;
      at = await this.get(at.location);
    }
    throw new Error("too many redirects");
  }

  /**
   * Sends the form of `page` whose action ends with `action`, with its hidden fields and `fields`. That of the sign-in has
   * none, and goes to its page's address.
   */
  submit(page: Page, action: string, fields: Record<string, string> = {}): Promise<Page> {
    for (const [form = ""] of page.text.matchAll(/<form[\s\S]*?<\/form>/g)) {
      const target = /action="([^"]+)"/.exec(form)?.[1] ?? page.url;
      if (!target.endsWith(action) && !(action === "/sign-in" && target === page.url)) continue;
      const hidden = [...form.matchAll(/type="hidden" name="([^"]+)" value="([^"]*)"/g)];
      const values = Object.fromEntries(hidden.map(([, name = "", value = ""]) => [name, value]));
      return this.post(new URL(target, page.url).href, { ...values, ...fields });
    }
    throw new Error(`the page has no form ${action}: ${page.text.slice(0, 500)}`);
  }

  cookie(name: string): string | undefined {
    return this.#cookies.get(name)?.value;
  }

  setCookie(name: string, value: string, path = "/"): void {
    this.#cookies.set(name, { value, path });
  }

  async #ask(
    url: string,
    init: { method?: string; body?: URLSearchParams; headers: Record<string, string> },
  ): Promise<Page> {
    const { pathname } = new URL(url);
    const pairs = [...this.#cookies].filter(([, { path }]) => covers(path, pathname));
    const cookie = pairs.map(([name, { value }]) => `${name}=${value}`).join("; ");
    const headers = { accept: "text/html,*/*;q=0.8", ...(cookie === "" ? {} : { cookie }), ...init.headers };
    const answer = await fetch(url, { ...init, headers, redirect: "manual" });
    for (const line of answer.headers.getSetCookie()) this.#store(line);
    const location = answer.headers.get("location");
    return {
      status: answer.status,
      headers: answer.headers,
      text: await answer.text(),
      location: location === null ? null : new URL(location, url).href,
      url,
    };
  }

  #store(line: string): void {
    this.setCookies.push(line);
    const [pair = "", ...attributes] = line.split(";").map((part) => part.trim());
    const at = pair.indexOf("=");
    const name = pair.slice(0, at);
    const value = pair.slice(at + 1);
    const path = attributes.find((each) => each.toLowerCase().startsWith("path="))?.slice(5) ?? "/";
    const over = attributes.some((each) => /^max-age=0$|^expires=thu, 01 jan 1970/i.test(each));
    if (over) this.#cookies.delete(name);
    else this.#cookies.set(name, { value, path });
  }
}

function covers(path: string, pathname: string): boolean {
  return pathname === path || pathname.startsWith(path.endsWith("/") ? path : `${path}/`);
}
