/** Addresses of pages: `#/discover?q=…`. The address is the only state that a page shares. */

export interface Route {
  /** First part of the path: `discover`. */
  readonly page: string;
  readonly parameters: URLSearchParams;
}

export const HOME_PAGE = "discover";

/** Returns the route of a location's hash; none at all is the home page. */
export function parseRoute(hash: string): Route {
  const text = hash.replace(/^#?\/?/, "");
  const cut = text.indexOf("?");
  const path = cut < 0 ? text : text.slice(0, cut);
  return {
    page: path.replace(/\/+$/, "") || HOME_PAGE,
    parameters: new URLSearchParams(cut < 0 ? "" : text.slice(cut + 1)),
  };
}

/** Returns the hash of a route; what stays readable unescaped is left so. */
export function formatRoute({ page, parameters }: Route): string {
  const query = parameters
    .toString()
    .replaceAll("%3A", ":")
    .replaceAll("%2C", ",")
    .replaceAll("%2F", "/")
    .replaceAll("%40", "@");
  return query === "" ? `#/${page}` : `#/${page}?${query}`;
}

/**
 * Notifies one listener of each change of the address. Browsers send `popstate` with the change and `hashchange` some
 * time after it: an input in between would use the state of the previous page.
 */
export class Router {
  readonly #onRoute: (route: Route) => void;
  #hash: string | undefined;
  readonly #listen = (): void => {
    if (location.hash === this.#hash) return;
    this.#hash = location.hash;
    this.#onRoute(this.route);
  };

  constructor(onRoute: (route: Route) => void) {
    this.#onRoute = onRoute;
  }

  get route(): Route {
    return parseRoute(location.hash);
  }

  start(): void {
    addEventListener("popstate", this.#listen);
    addEventListener("hashchange", this.#listen);
    this.#listen();
  }

  stop(): void {
    removeEventListener("popstate", this.#listen);
    removeEventListener("hashchange", this.#listen);
    this.#hash = undefined;
  }
}

/**
 * Goes to a route; `replace` adds no entry to the history. Listeners are notified before this returns, so that the next
 * input finds the page of this route.
 */
export function navigate(route: Route, replace = false): void {
  const hash = formatRoute(route);
  if (hash === location.hash) return;
  if (replace) history.replaceState(null, "", hash);
  else history.pushState(null, "", hash);
  dispatchEvent(new HashChangeEvent("hashchange"));
}

/** Returns a function that is true while the address is unchanged: a user who has gone elsewhere isn't taken back. */
export function rememberAddress(): () => boolean {
  const { hash } = location;
  return () => location.hash === hash;
}
