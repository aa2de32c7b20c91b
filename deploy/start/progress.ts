/** Progress of `npm start`, and the address of the lines it has read. */

import { systemClock } from "#proto/kit/clock.ts";
import { requestJson, trustOwnCertificate } from "#proto/kit/net/json-request.ts";
import { DAY_MS } from "#proto/kit/units.ts";
import type { Sources } from "./sources.ts";
import type { AgentReady, HubReady, Stack } from "./stack.ts";
import { endProgress, progress, say } from "./terminal.ts";

interface TimeRange {
  readonly first: Date;
  readonly last: Date;
}

const TIMEOUT_MS = 30_000;
const POLL_MS = 250;
/** This many polls with hardly any news mean that all there was is searchable: two seconds, a refresh and a scan. */
const QUIET_POLLS = 8;
/** Before the first line there is more to wait for: the scan, the pipeline's start, the first index. */
const EMPTY_POLLS = 20;
/** Polls after which the link is printed, though gigabytes are still being read. */
const LINK_POLLS = 60;
/** Bytes that are unread, or arrive in a poll, where logs are written continuously; more is work from before the start. */
const BUSY_BYTES = 64 * 1024;
const BUSY_LINES = 500;
/** Logs that end so long ago are of the past: a link that ends now would show little but emptiness. */
const PAST_MS = DAY_MS;

/** Starts the agent and prints how many lines are searchable, until all existing ones are; then prints the address. */
export async function follow(hub: HubReady, stack: Stack, sources: Sources): Promise<void> {
  const isOpen = !(await asksForSignIn(hub));
  const before = isOpen ? await documents(hub, "") : 0;
  const agent = stack.stopping ? undefined : await stack.startAgent(hub, sources);
  if (agent === undefined) return;
  const dashboard = hub.shown.dashboard;
  if (!isOpen) {
    say(`sign in to look at them: ${dashboard}/`);
    return;
  }
  if (before > 0) say(`${lines(before)} of earlier starts are kept here too`);
  const { query } = sources;
  let linked = false;
  let last = 0;
  for (let quiet = 0, polls = 0; quiet < (last === 0 ? EMPTY_POLLS : QUIET_POLLS); polls++) {
    if (stack.stopping) return;
    const count = await documents(hub, query);
    const isCalm = count - last <= BUSY_LINES && ((await lagBytes(agent)) ?? Infinity) < BUSY_BYTES;
    quiet = isCalm ? quiet + 1 : 0;
    last = count;
    progress(`${lines(count)} searchable`);
    if (polls === LINK_POLLS && count > 0) {
      linked = true;
      endProgress();
      await sayWhere(hub, query, "reading goes on; what is there already:");
    }
    await systemClock.sleep(POLL_MS);
  }
  endProgress();
  if (last === 0) say(`nothing to read so far; new lines appear here: ${dashboard}/#/live`);
  else if (linked) say(`all ${lines(last)} are searchable; Ctrl-C stops`);
  else await sayWhere(hub, query, `${lines(last)} to look at here:`);
}

/** The link shows the lines of the files that were named, beside which others may be kept. */
async function sayWhere(hub: HubReady, query: string, words: string): Promise<void> {
  const { dashboard } = hub.shown;
  const range = await timeRange(hub, query);
  if (range === undefined) {
    say(`${words} ${dashboard}/`);
    return;
  }
  const from = new Date(Math.floor(range.first.getTime() / 1000) * 1000).toISOString();
  const isPast = systemClock.now() - range.last.getTime() > PAST_MS;
  const to = isPast ? new Date(range.last.getTime() + 1000).toISOString() : "now";
  const only = query === "" ? "" : `q=${encodeURIComponent(query)}&`;
  say(`${words} ${dashboard}/#/discover?${only}from=${from}&to=${to}`);
  say(`new lines as they are written:  ${dashboard}/#/live   (Ctrl-C stops)`);
}

function lines(count: number): string {
  return `${count.toLocaleString("en")} line${count === 1 ? "" : "s"}`;
}

/** Returns true where `auth.mode` is required: then only people who sign in may count lines. */
async function asksForSignIn(hub: HubReady): Promise<boolean> {
  try {
    return (await request(hub, "/")).status === 401;
  } catch {
    return false;
  }
}

/** Returns how many bytes the agent has found that the hub has not confirmed; undefined while it isn't known. */
async function lagBytes(agent: AgentReady): Promise<number | undefined> {
  try {
    const response = await fetch(`http://127.0.0.1:${agent.status_port}/metrics`);
    const values = (await response.text()).matchAll(/^tailrace_agent_lag_bytes\{.*\} (\d+)$/gm);
    return [...values].reduce((sum, [, value]) => sum + Number(value), 0);
  } catch {
    return undefined;
  }
}

async function documents(hub: HubReady, query: string): Promise<number> {
  const answer = await ask<{ count: number }>(hub, "/logs-*/_count", { query: clauseOf(query) });
  return answer?.count ?? 0;
}

/** Returns the first and last time of the indexed lines. */
async function timeRange(hub: HubReady, query: string): Promise<TimeRange | undefined> {
  const aggs = { first: { min: { field: "@timestamp" } }, last: { max: { field: "@timestamp" } } };
  const answer = await ask<{
    aggregations?: { first: { value: number | null }; last: { value: number | null } };
  }>(hub, "/logs-*/_search", { size: 0, query: clauseOf(query), aggs });
  const first = answer?.aggregations?.first.value;
  const last = answer?.aggregations?.last.value;
  if (typeof first !== "number" || typeof last !== "number") return undefined;
  return { first: new Date(first), last: new Date(last) };
}

function clauseOf(query: string): object {
  return query === "" ? { match_all: {} } : { query_string: { query } };
}

async function ask<T>(hub: HubReady, path: string, body: unknown): Promise<T | undefined> {
  try {
    const { status, body: answer } = await request(hub, path, body);
    return status === 200 ? (answer as T) : undefined;
  } catch {
    return undefined;
  }
}

function request({ http, certificate }: HubReady, path: string, body?: unknown) {
  const trust = certificate === "" ? undefined : trustOwnCertificate(certificate);
  return requestJson(`${http}${path}`, { body, timeoutMs: TIMEOUT_MS, trust });
}
