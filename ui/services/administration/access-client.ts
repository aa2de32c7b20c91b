/**
 * The client for access: accounts, keys, OAuth clients, agents' credentials and connected accounts. All calls throw
 * HubError.
 */

import { callHub } from "#ui/services/hub/hub-client.ts";

export const ROLES = ["viewer", "editor", "admin", "ingest"] as const;

export interface Account {
  readonly id: string;
  readonly name: string;
  readonly role: string;
  readonly indices: readonly string[];
  /** ms since 1970. */
  readonly createdAt: number;
}

export interface ApiKey {
  readonly id: string;
  readonly name: string;
  readonly role: string;
  readonly indices: readonly string[];
  readonly createdBy: string;
  readonly createdAt: number;
  readonly firstUsedAt: number | null;
  readonly expiresAt: number | null;
}

export interface Session {
  readonly key: string;
  readonly current: boolean;
  /** ISO times. */
  readonly created_at: string;
  readonly seen_at: string;
  readonly ip: string;
  readonly user_agent: string;
}

/** What the reader has allowed an application. */
export interface Consent {
  readonly clientId: string;
  readonly name: string;
  /** Resource URLs. */
  readonly scopes: readonly string[];
  /** ms since 1970. */
  readonly grantedAt: number;
}

export interface OAuthClient {
  readonly clientId: string;
  readonly name: string;
  readonly kind: string;
  readonly redirectUris: readonly string[];
  readonly scopes?: readonly string[];
  readonly createdAt: number;
  /** Good secrets: 2 during a rotation. */
  readonly secrets: number;
  /** When it last got a code without PKCE, ms since 1970; absent: never. */
  readonly withoutPkceAt?: number;
}

export interface AgentKey {
  readonly public_key: string;
  readonly name: string;
  readonly agent_id: string;
  readonly issued_at: string;
  readonly issued_by: string;
}

export interface Enrolment {
  readonly id: string;
  readonly created_by: string;
  readonly expires_at: string;
}

/** Addresses at which agents reach the hub. */
export interface Reach {
  readonly dashboard: string;
  readonly nats: readonly string[];
}

/** Returns true where at least one address is a loopback address, so that another machine can't enrol. */
export function isLocalReach({ dashboard, nats }: Reach): boolean {
  return [dashboard, ...nats].some((address) => {
    const host = URL.parse(address)?.hostname ?? "";
    return host === "localhost" || host === "[::1]" || host.startsWith("127.");
  });
}

export interface Provider {
  readonly id: string;
  readonly definition: {
    readonly name: string;
    readonly scope: string;
    readonly api_hosts: readonly string[];
  };
}

export interface ConnectedAccount {
  readonly id: string;
  readonly name: string;
  readonly providerId: string;
  readonly state: "connected" | "reconnect";
  readonly reason?: string;
  readonly scope: string;
  readonly connectedAt: number;
  readonly refreshedAt?: number;
  readonly expiresAt: number | null;
}

/** Returns what the hub answers below /api, taken for `T`. */
export async function getAccess<T>(path: string, signal: AbortSignal): Promise<T> {
  return (await callHub("GET", `/api/${path}`, undefined, signal)) as T;
}

/** Changes something below /api and returns the answer as `T`. */
export async function changeAccess<T>(
  method: "POST" | "PATCH" | "PUT" | "DELETE",
  path: string,
  body?: unknown,
): Promise<T> {
  return (await callHub(method, `/api/${path}`, body)) as T;
}
