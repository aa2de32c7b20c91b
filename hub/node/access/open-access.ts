/** Opens the room of authentication on the hub's state, with its audit log, as one part of the hub. */

import { Auth } from "#hub/auth/auth.ts";
import type { HubSettings } from "#hub/node/settings/hub-settings.ts";
import { systemClock } from "#proto/kit/clock.ts";
import { type Component, Lifecycle } from "#proto/kit/lifecycle.ts";
import type { Logger } from "#proto/kit/log.ts";
import type { Metrics } from "#proto/kit/metrics.ts";
import type { StateBucket } from "#proto/kit/state-bucket.ts";
import { Access } from "./access.ts";
import { AgentGate, type AgentServer, agentAccess } from "./agent-access.ts";
import { AuditLog, type AuditLogOptions } from "./audit-log.ts";

/** Name of the bucket that holds accounts, sessions, keys, clients and tokens. */
export const AUTH_BUCKET = "auth";

export interface AccessParts {
  readonly settings: HubSettings;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** The hub's data folder, absolute. */
  readonly folder: string;
  readonly bucket: StateBucket;
  /** Where the audit log goes. */
  readonly documents: AuditLogOptions["documents"];
  /** The dashboard's own address; asked once it listens. */
  readonly dashboardUrl: () => string;
  readonly natsServer: AgentServer & { readonly embeds: boolean; readonly address: { readonly url: string } };
}

/** The opened room; to be started before the listeners. */
export interface OpenedAccess extends Component {
  readonly access: Access;
  /** Returns the one-time address that makes the first administrator, or null where nobody needs it. */
  setupLink(): Promise<string | null>;
  /** See Connections.bearer. */
  bearer(connection: string, host: string, rejected?: string): Promise<string>;
}

/** Throws settings_invalid for settings that contradict each other and for vault keys that are missing or wrong. */
export async function openAccess(parts: AccessParts): Promise<OpenedAccess> {
  const { settings, log, metrics, folder, bucket, documents, dashboardUrl, natsServer } = parts;
  const node = settings["node.name"];
  const audit = new AuditLog({ documents, node, clock: systemClock, log, metrics });
  const auth = await Auth.open({
    settings,
    dataPath: folder,
    bucket,
    log,
    metrics,
    audit: audit.record,
    dashboardUrl,
    env: process.env,
    agentAccess: () => (natsServer.embeds ? agentAccess(settings, natsServer.address.url) : null),
  });
  const lifecycle = new Lifecycle((part, error) =>
    log.error({ err: error, part }, "a part of access didn't stop"),
  );
  const required = settings["auth.mode"] === "required";
  return {
    access: new Access(auth, required),
    start: async () => {
      await lifecycle.start("audit log", audit);
      await lifecycle.start("authentication", auth);
      const gate = new AgentGate({ auth, server: natsServer, clock: systemClock, log });
      if (natsServer.embeds) await lifecycle.start("agents' credentials", gate);
    },
    stop: () => lifecycle.stop(),
    bearer: (...asked) => auth.connections.bearer(...asked),
    setupLink: () =>
      required && settings["auth.provider.enabled"] ? auth.setupLink() : Promise.resolve(null),
  };
}
