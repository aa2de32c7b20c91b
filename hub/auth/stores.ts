/** Stores for the command line: accounts, API keys, clients and agents in the state bucket, without a vault or background tasks. */

import { Accounts } from "#hub/auth/accounts/accounts.ts";
import { AgentCredentials } from "#hub/auth/accounts/agent-credentials.ts";
import { ApiKeys } from "#hub/auth/accounts/api-keys.ts";
import { Passwords } from "#hub/auth/accounts/passwords.ts";
import type { AuditSink } from "#hub/auth/audit/audit.ts";
import type { Clock } from "#proto/kit/clock.ts";
import type { Logger } from "#proto/kit/log.ts";
import type { StateBucket } from "#proto/kit/state-bucket.ts";
import { cleanUp } from "./account-cleanup.ts";
import { Clients } from "./provider/clients.ts";
import { Consents } from "./provider/consents.ts";
import { TokenFamilies } from "./provider/tokens.ts";

export interface Stores {
  readonly accounts: Accounts;
  readonly apiKeys: ApiKeys;
  readonly clients: Clients;
  readonly agents: AgentCredentials;
  /** Sets an account's password; its sessions, codes and tokens end. Throws not_found, request_invalid. */
  readonly setPassword: (name: string, password: string, actor: string) => Promise<void>;
  /** Removes an account with its consents; its sessions end. Throws not_found, request_invalid. */
  readonly removeAccount: (name: string, actor: string) => Promise<void>;
}

/** Returns the stores of the state in `bucket`. */
export function openStores(bucket: StateBucket, clock: Clock, audit: AuditSink, log: Logger): Stores {
  const store = { bucket, clock };
  const families = new TokenFamilies(store);
  const accounts = new Accounts(store, new Passwords(), audit);
  const consents = new Consents(store, families, audit);
  // The dashboard's own client is not stored, and no command uses it.
  const clients = new Clients(store, families, audit, () => ({ redirectUri: "", scope: "", secret: "" }));
  return {
    accounts,
    apiKeys: new ApiKeys(store, audit),
    clients,
    agents: new AgentCredentials(store, audit),
    setPassword: async (name, password, actor) => {
      const found = await accounts.find(name);
      await accounts.setPassword(name, password, actor);
      if (found !== null) await cleanUp(log, consents.endTokens(found.id));
    },
    removeAccount: async (name, actor) => {
      const { id } = await accounts.remove(name, actor);
      await cleanUp(log, consents.forget(id));
    },
  };
}
