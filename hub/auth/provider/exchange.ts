/** The calls of the state that one request to oidc-provider shares: the library looks for the same records several times. */

import { type AdapterPayload, Provider } from "oidc-provider";
import type { Account, Accounts } from "#hub/auth/accounts/accounts.ts";
import type { Stored } from "#hub/auth/state/records.ts";

export interface Exchange {
  /** Records that the request has read, by kind and key. */
  readonly reads: Map<string, Promise<Stored<AdapterPayload> | null>>;
  /** Writes of codes that are under way. None of them is of use before the request's answer. */
  readonly writes: Promise<unknown>[];
  /** Accounts that the request reads, by id. */
  readonly accounts: Map<string, Promise<Account | null>>;
}

const exchanges = new WeakMap<object, Exchange>();

/** Returns the exchange of the request that the library is answering; undefined outside of one. */
export function currentExchange(): Exchange | undefined {
  const context = Provider.ctx;
  if (context === undefined) return undefined;
  let exchange = exchanges.get(context);
  if (exchange === undefined) {
    exchange = { reads: new Map(), writes: [], accounts: new Map() };
    exchanges.set(context, exchange);
  }
  return exchange;
}

/** Returns an account, or null; within a request always as it was read first. */
export function findAccountOf(accounts: Pick<Accounts, "get">, id: string): Promise<Account | null> {
  const under = currentExchange()?.accounts;
  const found = under?.get(id) ?? accounts.get(id);
  under?.set(id, found);
  return found;
}
