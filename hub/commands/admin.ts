/** `tailrace-hub user …`, `client …` and `agent …`: accounts, OAuth clients and agents' credentials from a terminal. */

import { hostname } from "node:os";
import { enrolCommand } from "#hub/auth/agent-routes.ts";
import { openStores, type Stores } from "#hub/auth/stores.ts";
import { systemClock } from "#proto/kit/clock.ts";
import type { Logger } from "#proto/kit/log.ts";
import { parseDuration } from "#proto/kit/units.ts";
import { certificateFingerprint } from "../agent-access.ts";
import { type HubSettings, loadHubSettings } from "../config.ts";
import { AUTH_BUCKET } from "../open-access.ts";
import { withState } from "../state-session.ts";
import type { AgentCommand, ClientCommand, UserCommand } from "./admin-arguments.ts";
import { readPassword } from "./password-prompt.ts";
import { table } from "./table.ts";

/** Who did it, in the log. */
const ACTOR = "command line";

/** Does the command and returns what to print. Throws AppErrors with the remedy. */
export async function runAdminCommand(
  command: UserCommand | ClientCommand | AgentCommand,
  log: Logger,
): Promise<string> {
  const settings = loadHubSettings({ file: command.config, overrides: command.overrides }, process.env);
  const needsPassword = command.name === "user" && ["add", "passwd"].includes(command.action);
  const password = needsPassword ? await readPassword(command.subject) : "";
  return withState(settings, log, AUTH_BUCKET, async (bucket) => {
    const stores = openStores(bucket, systemClock, (event) =>
      log.info({ audit: event }, "access was changed"),
    );
    const answer = await answerOf(stores, command, password, settings);
    return command.json ? `${JSON.stringify(answer.data)}\n` : answer.text;
  });
}

interface Answer {
  readonly data: unknown;
  readonly text: string;
}

function answerOf(
  stores: Stores,
  command: UserCommand | ClientCommand | AgentCommand,
  password: string,
  settings: HubSettings,
): Promise<Answer> {
  switch (command.name) {
    case "user":
      return onUsers(stores, command, password);
    case "client":
      return onClients(stores, command);
    case "agent":
      return onAgents(stores, command, settings);
  }
}

async function onUsers(
  { accounts, removeAccount }: Stores,
  { action, subject, role, indices }: UserCommand,
  password: string,
): Promise<Answer> {
  switch (action) {
    case "add": {
      const account = await accounts.add({ name: subject, password, role, indices }, ACTOR);
      return { data: account, text: `account ${account.name} (${role}) was added\n` };
    }
    case "passwd":
      await accounts.setPassword(subject, password, ACTOR);
      return { data: {}, text: `the password of ${subject} was changed; its sessions are over\n` };
    case "remove":
      await removeAccount(subject, ACTOR);
      return { data: {}, text: `account ${subject} was removed\n` };
    case "list": {
      const all = await accounts.list();
      const rows = all.map((each) => [each.name, each.role, each.indices.join(",")]);
      return { data: all, text: table(["NAME", "ROLE", "INDICES"], rows) };
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
      const rows = all.map((each) => [each.clientId, each.name, each.kind, each.redirectUris.join(" ")]);
      return { data: all, text: table(["CLIENT_ID", "NAME", "KIND", "REDIRECT_URIS"], rows) };
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
      return { data: all, text: table(["NAME", "ID", "KEY", "ISSUED_BY"], rows) };
    }
  }
}

/** Where the dashboard is by the settings alone; a running hub on a port of the system's choice is asked by its page. */
function dashboardUrl(settings: HubSettings): string {
  if (settings["public.url"] !== "") return settings["public.url"];
  const host = settings["dashboard.host"] || settings["network.host"];
  const scheme = settings["tls.certificate"] === "" ? "http" : "https";
  const name = host === "0.0.0.0" || host === "::" ? hostname() : host;
  return `${scheme}://${name.includes(":") ? `[${name}]` : name}:${settings["dashboard.port"]}`;
}

function credentials(clientId: string, clientSecret: string | undefined): Answer {
  const secret = clientSecret === undefined ? "" : `client_secret  ${clientSecret}  (shown this once)\n`;
  return {
    data: { client_id: clientId, ...(clientSecret !== undefined && { client_secret: clientSecret }) },
    text: `client_id      ${clientId}\n${secret}`,
  };
}
