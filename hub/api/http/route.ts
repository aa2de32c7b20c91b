/**
 * Routes. Each file of `routes/` exports functions that return lists of routes, which `search-interface.ts` and `server.ts`
 * join. The dispatcher does parsing, limits, errors and formats.
 */

import type { Principal } from "#hub/api/ports/indices.ts";
import type { Action, ApiRequest, Method } from "./request.ts";

/** What may stand in a body: a JSON value, lines of JSON, or text as it is. */
export type BodyKind = "json" | "ndjson" | "any";

/** One operation of an interface. */
export interface Route {
  readonly methods: readonly Method[];
  /** Each with leading slash; `{name}` stands for one segment: "/{index}/_doc/{id}". */
  readonly paths: readonly string[];
  /** Query parameters, without those that every route takes. */
  readonly params: readonly string[];
  /** True: parameters aren't checked. */
  readonly takesAnyParams?: boolean;
  /** The right that the route needs; several: all of them. */
  readonly action: Action | readonly Action[];
  /** Largest body, packed and unpacked, bytes; otherwise by the right, see bodyLimitOf. */
  readonly maxBodyBytes?: number;
  /** One sentence for the interface's description. */
  readonly summary: string;
  /** Default "json". */
  readonly body?: BodyKind;
  /** Returns the answer or throws an AppError, from which the error body is made. */
  handle(request: ApiRequest): ApiResponse | Promise<ApiResponse>;
}

/** Answers of a route. Exactly one of `json`, `text` and `bytes`, or none for an empty body. */
export interface ApiResponse {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** A value for `writeJson`: may hold RawJson and bigint. */
  readonly json?: unknown;
  readonly text?: string;
  readonly bytes?: Uint8Array;
}

/** Resolves the principal of a request. Throws unauthenticated or forbidden. */
export interface AccessControl {
  authenticate(request: IncomingCredentials): Promise<Principal>;
  /** Throws forbidden where `principal` may not do `action`. */
  authorize(principal: Principal, action: Action): void;
}

/** The parts of a request that authentication uses. */
export interface IncomingCredentials {
  readonly method: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly ip: string;
}

/** Returns the rights that a route needs. */
export function rightsOf({ action }: Route): readonly Action[] {
  return typeof action === "string" ? [action] : action;
}

const MIB = 1024 * 1024;
/** Largest body of any route: http.max_content_length of 6.5. */
export const MAX_BODY_BYTES = 100 * MIB;
/** Searches list ids and terms, definitions of indices list fields. */
const LARGE_BODY_BYTES = 10 * MIB;

/** Returns the largest body that a route takes, bytes. */
export function bodyLimitOf(route: Route): number {
  const { maxBodyBytes } = route;
  if (maxBodyBytes !== undefined) return maxBodyBytes;
  const isLarge = rightsOf(route).some((action) => action === "search" || action === "index_manage");
  return isLarge ? LARGE_BODY_BYTES : MIB;
}

/** Returns an answer with a JSON body. */
export function json(value: unknown, status = 200): ApiResponse {
  return { status, json: value };
}

/** Returns an answer without a body. */
export function empty(status: number): ApiResponse {
  return { status };
}
