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

/** Tells one listener of each change of the address. */
export class Router {
  readonly #onRoute: (route: Route) => void;
  readonly #listen = (): void => this.#onRoute(this.route);

  constructor(onRoute: (route: Route) => void) {
    this.#onRoute = onRoute;
  }

  get route(): Route {
    return parseRoute(location.hash);
  }

  start(): void {
    addEventListener("hashchange", this.#listen);
    this.#listen();
  }

  stop(): void {
    removeEventListener("hashchange", this.#listen);
  }
}

/** Goes to a route; `replace` leaves no entry in the history. */
export function navigate(route: Route, replace = false): void {
  const hash = formatRoute(route);
  if (hash === location.hash) return;
  if (!replace) {
    location.hash = hash;
    return;
  }
  history.replaceState(null, "", hash);
  dispatchEvent(new HashChangeEvent("hashchange"));
}
