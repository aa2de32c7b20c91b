/**
 * `tailrace-hub user …`, `api-key …`, `client …` and `agent …`: manages accounts, API keys, OAuth clients and agents'
 * credentials.
 */

import { enrolCommand } from "#hub/auth/accounts/agent-credentials.ts";
import type { AuditEvent } from "#hub/auth/audit/audit.ts";
import type { ClientView } from "#hub/auth/provider/clients.ts";
import { openStores, type Stores } from "#hub/auth/stores.ts";
import { AUTH_BUCKET } from "#hub/node/access/access.ts";
import { certificateFingerprint } from "#hub/node/access/agent-access.ts";
import type { HubSettings } from "#hub/node/settings/hub-settings.ts";
import { advertisedAddresses, loadCommandSettings } from "#hub/node/settings/reach-file.ts";
import { withState } from "#hub/node/wiring/state-session.ts";
import { systemClock } from "#proto/kit/clock.ts";
import type { Logger } from "#proto/kit/log.ts";
import { printableJson } from "#proto/kit/printable.ts";
import { parseDuration } from "#proto/kit/units.ts";
import type { AgentCommand, ApiKeyCommand, ClientCommand, UserCommand } from "./admin-arguments.ts";
import { addressOf } from "./running-hub.ts";
import { listTable, readPassword } from "./terminal.ts";

/** Actor in the audit log. */
const ACTOR = "command line";

export type AdminCommand = UserCommand | ApiKeyCommand | ClientCommand | AgentCommand;

/** Runs the command and returns its output. Throws AppErrors with the remedy. */
export async function runAdminCommand(command: AdminCommand, log: Logger): Promise<string> {
  const settings = loadCommandSettings({ file: command.config, overrides: command.overrides }, process.env);
  const needsPassword = command.name === "user" && ["add", "passwd"].includes(command.action);
  const password = needsPassword ? await readPassword(command.subject) : "";
  return withState(settings, log, AUTH_BUCKET, async (bucket) => {
    const audit = (event: AuditEvent): void => log.info({ audit: event }, "access was changed");
    const stores = openStores(bucket, systemClock, audit, log);
    const answer = await answerOf(stores, command, password, settings);
    return command.json ? `${printableJson(answer.data)}\n` : answer.text;
  });
}

interface Answer {
  readonly data: unknown;
  readonly text: string;
}

function answerOf(
  stores: Stores,
  command: AdminCommand,
  password: string,
  settings: HubSettings,
): Promise<Answer> {
  switch (command.name) {
    case "user":
      return onUsers(stores, command, password);
    case "api-key":
      return onApiKeys(stores, command);
    case "client":
      return onClients(stores, command);
    case "agent":
      return onAgents(stores, command, settings);
  }
}

async function onUsers(
  { accounts, setPassword, removeAccount }: Stores,
  { action, subject, role, indices }: UserCommand,
  password: string,
): Promise<Answer> {
  switch (action) {
    case "add": {
      const account = await accounts.add({ name: subject, password, role, indices }, ACTOR);
      return { data: account, text: `account ${account.name} (${role}) was added\n` };
    }
    case "passwd":
      await setPassword(subject, password, ACTOR);
      return { data: {}, text: `the password of ${subject} was changed; its sessions and tokens are over\n` };
    case "remove":
      await removeAccount(subject, ACTOR);
      return { data: {}, text: `account ${subject} was removed\n` };
    case "list": {
      const all = await accounts.list();
      const rows = all.map((each) => [each.name, each.role, each.indices.join(",")]);
      return {
        data: all,
        text: listTable(
          ["NAME", "ROLE", "INDICES"],
          rows,
          "no account yet; user add NAME --role ROLE adds one",
        ),
      };
    }
  }
}

async function onApiKeys(
  { apiKeys }: Stores,
  { action, subject, role, indices, expiresIn }: ApiKeyCommand,
): Promise<Answer> {
  switch (action) {
    case "add": {
      const end = expiresIn === "" ? {} : { expiresAt: systemClock.now() + parseDuration(expiresIn) };
      const { key, view } = await apiKeys.issue({ name: subject, role, indices, ...end }, ACTOR);
      return {
        data: { ...view, key },
        text: `id   ${view.id}\nkey  ${key}  (shown this once; commands of a terminal take it from TAILRACE_API_KEY)\n`,
      };
    }
    case "revoke":
      await apiKeys.revoke(subject, ACTOR);
      return { data: {}, text: `API key ${subject} was revoked\n` };
    case "list": {
      const all = await apiKeys.list();
      const rows = all.map((each) => [
        each.id,
        each.name,
        each.role,
        each.indices.join(","),
        each.expiresAt === null ? "never" : new Date(each.expiresAt).toISOString(),
      ]);
      return {
        data: all,
        text: listTable(
          ["ID", "NAME", "ROLE", "INDICES", "ENDS"],
          rows,
          "no API key yet; api-key add NAME makes one",
        ),
      };
    }
  }
}

async function onClients(
  { clients }: Stores,
  { action, subject, kind, redirectUris, scopes }: ClientCommand,
): Promise<Answer> {
  switch (action) {
    case "add": {
      const wanted = { name: subject, kind, redirectUris, ...(scopes.length > 0 && { scopes }) };
      const { clientId, clientSecret } = await clients.register(wanted, ACTOR);
      return credentials(clientId, clientSecret);
    }
    case "rotate": {
      const { clientId, clientSecret } = await clients.rotate(subject, ACTOR);
      return credentials(clientId, clientSecret);
    }
    case "remove":
      await clients.remove(subject, ACTOR);
      return { data: {}, text: `client ${subject} was removed with everything issued to it\n` };
    case "list": {
      const all = await clients.list();
      const rows = all.map((each) => [
        each.clientId,
        each.name,
        each.kind,
        each.redirectUris.join(" "),
        pkceOf(each),
      ]);
      return {
        data: all,
        text: listTable(
          ["CLIENT_ID", "NAME", "KIND", "REDIRECT_URIS", "LAST_WITHOUT_PKCE"],
          rows,
          "no OAuth client yet; client add NAME --redirect-uri URI registers one",
        ),
      };
    }
  }
}

async function onAgents(
  { agents }: Stores,
  { action, subject, agentId, expiresIn }: AgentCommand,
  settings: HubSettings,
): Promise<Answer> {
  switch (action) {
    case "invite": {
      const lifeMs = expiresIn === "" ? undefined : parseDuration(expiresIn);
      const { token, expiresAt } = await agents.newEnrolmentToken(ACTOR, lifeMs);
      const command = enrolCommand(dashboardUrl(settings), token, certificateFingerprint(settings));
      const until = new Date(expiresAt).toISOString();
      const data = { token, expires_at: until, command };
      return { data, text: `Run this on the agent's machine, once and until ${until}:\n  ${command}\n` };
    }
    case "add": {
      const { seed, credential } = await agents.issue(subject, ACTOR, agentId === "" ? undefined : agentId);
      const data = { seed, agent_id: credential.agentId, public_key: credential.publicKey };
      return {
        data,
        text: `id        ${credential.agentId}  (agent.yml: id)\nseed      ${seed}  (shown this once; into the file of output.pipeline.nkey_seed_file)\n`,
      };
    }
    case "revoke":
      await agents.revoke(subject, ACTOR);
      return { data: {}, text: `agent ${subject} was revoked; a running hub ends its connection\n` };
    case "list": {
      const all = await agents.list();
      const rows = all.map((each) => [each.name, each.agentId, each.publicKey, each.issuedBy]);
      return {
        data: all,
        text: listTable(
          ["NAME", "ID", "KEY", "ISSUED_BY"],
          rows,
          "no agent has credentials of its own yet; agent invite prints the line that connects one",
        ),
      };
    }
  }
}

/** Returns the dashboard's address for the agent's machine. */
function dashboardUrl(settings: HubSettings): string {
  return advertisedAddresses(settings, {
    http: addressOf(settings, "http"),
    dashboard: addressOf(settings, "dashboard"),
  }).dashboard;
}

/** Returns the day on which a client last got a code without PKCE; empty: never. */
function pkceOf({ withoutPkceAt }: ClientView): string {
  return withoutPkceAt === undefined ? "" : new Date(withoutPkceAt).toISOString().slice(0, 10);
}

function credentials(clientId: string, clientSecret: string | undefined): Answer {
  const secret = clientSecret === undefined ? "" : `client_secret  ${clientSecret}  (shown this once)\n`;
  return {
    data: { client_id: clientId, ...(clientSecret !== undefined && { client_secret: clientSecret }) },
    text: `client_id      ${clientId}\n${secret}`,
  };
}
