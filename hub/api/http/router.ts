/** Finds the route of a path: plain segments go before named ones, segment by segment. */

import { AppError } from "#proto/kit/errors.ts";
import type { Method } from "./request.ts";
import { type Route, rightsOf } from "./route.ts";

/** A route with the values of its path's named segments. */
export interface Match {
  readonly route: Route;
  readonly path: Readonly<Record<string, string>>;
  /**
   * Names of segments that only other paths of a route have that reads; a request may give them as parameters. One that
   * changes something gets the target by its path, which the audit log names.
   */
  readonly absent: readonly string[];
}

/** The result of a look-up by method and path. */
export type Found =
  | ({ readonly kind: "route" } & Match)
  | { readonly kind: "other_methods"; readonly allowed: readonly Method[] }
  | { readonly kind: "nothing" };

interface Endpoint {
  readonly route: Route;
  /** Names of the path's named segments, in order. */
  readonly names: readonly string[];
  readonly absent: readonly string[];
}

interface Node {
  readonly plain: Map<string, Node>;
  named: Node | undefined;
  readonly endpoints: Map<Method, Endpoint>;
}

export class Router {
  readonly #root = makeNode();

  /** Throws Error if two routes have the same method and path. */
  constructor(routes: Iterable<Route>) {
    for (const route of routes) {
      for (const path of route.paths) this.#add(route, path);
    }
  }

  /** Finds the route of a raw path (without the query; segments still encoded). Throws request_invalid for invalid encoding. */
  find(method: string, path: string): Found {
    const segments = path.split("/").filter((segment) => segment !== "");
    const taken: string[] = [];
    const endpoint = findEndpoint(this.#root, method as Method, segments, 0, taken);
    if (endpoint !== undefined) return { kind: "route", ...matched(endpoint, taken) };
    const allowed = new Set<Method>();
    addMethods(this.#root, segments, 0, allowed);
    return allowed.size === 0 ? { kind: "nothing" } : { kind: "other_methods", allowed: [...allowed] };
  }

  #add(route: Route, path: string): void {
    const names = namesOf(path);
    const others = isReading(route) ? route.paths.flatMap(namesOf) : [];
    const absent = new Set(others).difference(new Set([...names, ...route.params]));
    let node = this.#root;
    for (const segment of path.split("/").filter((part) => part !== "")) {
      if (segment.startsWith("{")) {
        node.named ??= makeNode();
        node = node.named;
      } else {
        let next = node.plain.get(segment);
        if (next === undefined) node.plain.set(segment, (next = makeNode()));
        node = next;
      }
    }
    for (const method of route.methods) {
      if (node.endpoints.has(method)) throw new Error(`two routes for ${method} ${path}`);
      node.endpoints.set(method, { route, names, absent: [...absent] });
    }
  }
}

/** Returns the names of a path's named segments, in order. */
function namesOf(path: string): string[] {
  return Array.from(path.matchAll(/\/\{([^}]+)\}/g), ([, name]) => name!);
}

function isReading(route: Route): boolean {
  return rightsOf(route).every((action) => action === "monitor" || action === "search");
}

function makeNode(): Node {
  return { plain: new Map(), named: undefined, endpoints: new Map() };
}

/**
 * Finds the endpoint for the segments from `at` on, plain segments first; the values of its named segments are left in
 * `taken`.
 */
function findEndpoint(
  node: Node,
  method: Method,
  segments: readonly string[],
  at: number,
  taken: string[],
): Endpoint | undefined {
  const segment = segments[at];
  if (segment === undefined) return node.endpoints.get(method);
  const plain = node.plain.get(segment);
  const found = plain === undefined ? undefined : findEndpoint(plain, method, segments, at + 1, taken);
  if (found !== undefined || node.named === undefined) return found;
  taken.push(segment);
  const named = findEndpoint(node.named, method, segments, at + 1, taken);
  if (named === undefined) taken.pop();
  return named;
}

/** Adds the methods of all endpoints for the segments from `at` on, those with plain segments first. */
function addMethods(node: Node, segments: readonly string[], at: number, methods: Set<Method>): void {
  const segment = segments[at];
  if (segment === undefined) {
    for (const method of node.endpoints.keys()) methods.add(method);
    return;
  }
  const plain = node.plain.get(segment);
  if (plain !== undefined) addMethods(plain, segments, at + 1, methods);
  if (node.named !== undefined) addMethods(node.named, segments, at + 1, methods);
}

function matched({ route, names, absent }: Endpoint, values: readonly string[]): Match {
  return {
    route,
    absent,
    path: Object.fromEntries(names.map((name, at) => [name, decodeSegment(values[at] ?? "")])),
  };
}

function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch (error) {
    throw new AppError("request_invalid", `the path segment [${segment}] is not percent-encoded UTF-8`, {
      cause: error,
    });
  }
}
