/** Finds the route of a path: plain segments go before named ones, segment by segment. */

import { AppError } from "#proto/kit/errors.ts";
import type { Method, Route } from "./route.ts";

/** A route with the segments that its path took. */
export interface Match {
  readonly route: Route;
  readonly path: Readonly<Record<string, string>>;
}

/** What a path leads to with a method. */
export type Found =
  | ({ readonly kind: "route" } & Match)
  | { readonly kind: "other_methods"; readonly allowed: readonly Method[] }
  | { readonly kind: "nothing" };

interface Endpoint {
  readonly route: Route;
  /** Names of the path's named segments, in order. */
  readonly names: readonly string[];
}

interface Node {
  readonly plain: Map<string, Node>;
  named: Node | undefined;
  readonly endpoints: Map<Method, Endpoint>;
}

export class Router {
  readonly #root = makeNode();

  /** Throws Error where two routes have the same method and path. */
  constructor(routes: Iterable<Route>) {
    for (const route of routes) {
      for (const path of route.paths) this.#add(route, path);
    }
  }

  /** Finds the route of a raw path (without the query; segments still encoded). Throws request_invalid for wrong encoding. */
  find(method: string, path: string): Found {
    const segments = path.split("/").filter((segment) => segment !== "");
    const allowed = new Set<Method>();
    for (const { node, values } of walk(this.#root, segments, 0, [])) {
      const endpoint = node.endpoints.get(method as Method);
      if (endpoint !== undefined) return { kind: "route", ...matched(endpoint, values) };
      for (const each of node.endpoints.keys()) allowed.add(each);
    }
    return allowed.size === 0 ? { kind: "nothing" } : { kind: "other_methods", allowed: [...allowed] };
  }

  #add(route: Route, path: string): void {
    const names: string[] = [];
    let node = this.#root;
    for (const segment of path.split("/").filter((part) => part !== "")) {
      if (segment.startsWith("{")) {
        names.push(segment.slice(1, -1));
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
      node.endpoints.set(method, { route, names });
    }
  }
}

function makeNode(): Node {
  return { plain: new Map(), named: undefined, endpoints: new Map() };
}

interface Place {
  readonly node: Node;
  readonly values: readonly string[];
}

/** All nodes with endpoints that the segments lead to, the plainest first. */
function* walk(
  node: Node,
  segments: readonly string[],
  at: number,
  values: readonly string[],
): Iterable<Place> {
  const segment = segments[at];
  if (segment === undefined) {
    if (node.endpoints.size > 0) yield { node, values };
    return;
  }
  const plain = node.plain.get(segment);
  if (plain !== undefined) yield* walk(plain, segments, at + 1, values);
  if (node.named !== undefined) yield* walk(node.named, segments, at + 1, [...values, segment]);
}

function matched({ route, names }: Endpoint, values: readonly string[]): Match {
  return {
    route,
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
