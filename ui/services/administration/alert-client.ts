/** Alert rules at the hub. All calls throw HubError. */

import { callHub } from "#ui/services/hub/hub-client.ts";

export type Channel =
  | { readonly type: "webhook"; readonly url: string }
  | { readonly type: "email"; readonly to: readonly string[] };

export interface AlertRule {
  readonly title: string;
  readonly enabled: boolean;
  readonly index: string;
  readonly query: string;
  readonly condition: "above" | "below";
  readonly threshold: number;
  /** `5m` */
  readonly window: string;
  readonly every: string;
  readonly channels: readonly Channel[];
  readonly muted_until: string | null;
}

export interface AlertEvent {
  /** ISO time. */
  readonly at: string;
  readonly event: "firing" | "resolved" | "failed" | "undelivered";
  readonly count: number;
  readonly note: string;
}

export interface Alert {
  readonly id: string;
  readonly revision: number;
  readonly rule: AlertRule;
  readonly state: {
    readonly condition: "ok" | "firing" | "unknown";
    readonly since: string;
    readonly evaluated: string;
    readonly count: number;
    readonly fault: string;
    /** Its writer is gone or may not search: it doesn't run until it is saved again. */
    readonly stopped: boolean;
    readonly deliveries: readonly { readonly fault: string }[];
    readonly events: readonly AlertEvent[];
  };
  /** What to do about a rule that runs; "". */
  readonly notice: string;
  /** Whose rights the rule has; only administrators get it. */
  readonly writer?: { readonly kind: "user" | "api_key" | "access_token"; readonly name: string };
}

export interface PreviewPoint {
  /** ISO time. */
  readonly at: string;
  readonly count: number;
  readonly firing: boolean;
}

export async function listAlerts(signal?: AbortSignal): Promise<readonly Alert[]> {
  const { alerts } = (await callHub("GET", "/api/alerts", undefined, signal)) as { alerts: Alert[] };
  return alerts.map(readAlert);
}

/** Returns an alert that a hub sent. Those of earlier versions send no `notice` and no `stopped`. */
export function readAlert(alert: Alert): Alert {
  const { state, notice = "" } = alert as Partial<Alert>;
  return { ...alert, notice, state: { ...alert.state, stopped: state?.stopped ?? false } };
}

/** Creates a rule, or changes the one with an id unless it was changed meanwhile. */
export async function saveAlert(rule: AlertRule, known?: Pick<Alert, "id" | "revision">): Promise<Alert> {
  if (known === undefined) return (await callHub("POST", "/api/alerts", rule)) as Alert;
  return (await callHub("PUT", `/api/alerts/${known.id}?revision=${known.revision}`, rule)) as Alert;
}

/**
 * Turns a rule on or off, or mutes it, unless it was changed meanwhile. It keeps the rights of the user who saved it.
 */
export async function switchAlert(
  part: Partial<Pick<AlertRule, "enabled" | "muted_until">>,
  { id, revision }: Pick<Alert, "id" | "revision">,
): Promise<void> {
  await callHub("PATCH", `/api/alerts/${id}?revision=${revision}`, part);
}

export async function deleteAlert({ id }: Pick<Alert, "id">): Promise<void> {
  await callHub("DELETE", `/api/alerts/${id}`);
}

/** Returns what the rule would have counted. */
export async function previewAlert(
  rule: AlertRule,
  span: string,
  signal: AbortSignal,
): Promise<readonly PreviewPoint[]> {
  const answer = await callHub("POST", `/api/alerts/_preview?span=${span}`, rule, signal);
  return (answer as { points: PreviewPoint[] }).points;
}

/** Sends a test over a channel. */
export async function testChannel(channel: Channel): Promise<void> {
  await callHub("POST", "/api/alerts/_test", channel);
}
