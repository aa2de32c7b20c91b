/** Events of the audit log. None holds a secret: a credential is shown as the first 8 characters of its hash. */

export type AuditAction =
  | "sign_in"
  | "sign_out"
  | "session_ended"
  | "account_added"
  | "account_changed"
  | "account_removed"
  | "setup_link_made"
  | "consent"
  | "consent_withdrawn"
  | "code_issued"
  | "code_replayed"
  | "token_issued"
  | "token_refreshed"
  | "token_reused"
  | "token_revoked"
  | "token_refused"
  | "client_registered"
  | "client_rotated"
  | "client_removed"
  | "api_key_issued"
  | "api_key_used_first"
  | "api_key_revoked"
  | "agent_token_made"
  | "agent_token_withdrawn"
  | "agent_issued"
  | "agent_enrolled"
  | "agent_revoked"
  | "request_refused"
  | "pipeline_changed"
  | "pipeline_removed"
  | "provider_defined"
  | "provider_removed"
  | "connection_made"
  | "connection_reconnect"
  | "connection_removed"
  | "vault_key_changed";

/** One event. */
export interface AuditEvent {
  readonly action: AuditAction;
  readonly outcome: "ok" | "refused";
  /** Who acted: an account's name, a client, "system". */
  readonly actor: string;
  /** Address of the request; absent for commands on the machine itself. */
  readonly ip?: string;
  /** The object of the action. */
  readonly subject?: string;
  /** Why the action was refused, or what changed. */
  readonly reason?: string;
}

/** Receives events; must not throw or wait. */
export type AuditSink = (event: AuditEvent) => void;
