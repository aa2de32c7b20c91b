/** The state of a rule: a JSON record beside it. The hub that evaluates the rule changes it by compare-and-set. */

import { MINUTE_MS } from "#proto/kit/units.ts";
import { type AlertRule, type Channel, everyOf } from "./rule.ts";

/** Indices that a rule may count in. */
export interface Reach {
  /** Patterns of index names, `*` for any characters. */
  readonly indices: readonly string[];
  /** Whether the hub's own indices are among them. */
  readonly internal: boolean;
}

/** `unknown`: never evaluated, or the last evaluation failed. */
export type AlertCondition = "ok" | "firing" | "unknown";

/** A message that is still to be sent. */
export interface Delivery {
  readonly channel: Channel;
  readonly event: "firing" | "resolved";
  /** Number of the firing, from 1. */
  readonly firing: number;
  /** Lines counted. */
  readonly count: number;
  /** ISO time of the evaluation. */
  readonly at: string;
  readonly attempts: number;
  /** Earliest time of the next attempt, ms since 1970. */
  readonly notBeforeMs: number;
  /** Why the attempt before failed; "" before the first. */
  readonly fault: string;
}

/** A change of the condition, or a message that was given up. */
export interface AlertEvent {
  /** ISO time. */
  readonly at: string;
  readonly event: "firing" | "resolved" | "failed" | "undelivered";
  readonly count: number;
  readonly note: string;
}

export interface AlertState {
  /** Number of the interval last evaluated: time since 1970 divided by the rule's. Only one hub gets to raise it. */
  readonly slot: number;
  /** The rule's interval by which `slot` counts: hubs of earlier versions read it. */
  readonly every: string;
  /** Revision of the rule that was evaluated last; 0 in states of earlier versions. */
  readonly ruleRevision: number;
  /** Evaluations in this interval that may have failed for a while only, with the one in progress. */
  readonly tries: number;
  /** Earliest time of the next one in this interval, ms since 1970; 0: none is needed. */
  readonly retryAtMs: number;
  readonly condition: AlertCondition;
  /** ISO time at which the condition began; "" if it was never evaluated. */
  readonly since: string;
  readonly evaluated: string;
  /** Lines counted last. */
  readonly count: number;
  /** Why the last evaluation failed; "". */
  readonly fault: string;
  /** Whether evaluations are refused because of the rights of the user who saved the rule; `fault` says why. */
  readonly stopped: boolean;
  /** The reach of the last count. Absent: nothing was counted since reaches are stored here. */
  readonly reach?: Reach | undefined;
  readonly firings: number;
  readonly deliveries: readonly Delivery[];
  /** Newest first. */
  readonly events: readonly AlertEvent[];
}

/** Maximum number of events kept for a rule. */
const MAX_EVENTS = 50;
/** Maximum number of waiting messages of a rule. Beyond it the oldest is dropped, which is recorded as an event. */
const MAX_DELIVERIES = 20;
/** An interval that begins later than this was evaluated by a clock that was set back since, not by another hub's. */
const MAX_AHEAD_MS = 10 * MINUTE_MS;
/** Wait for the first retry within an interval, doubled each time; longer than an evaluation takes. */
const FIRST_RETRY_MS = MINUTE_MS;
/** Evaluations in an interval: after 1, 2, 4 … 64 min, about two hours in total. */
const MAX_TRIES = 8;

export const FIRST_STATE: AlertState = {
  slot: -1,
  every: "",
  ruleRevision: 0,
  tries: 0,
  retryAtMs: 0,
  condition: "unknown",
  since: "",
  evaluated: "",
  count: 0,
  fault: "",
  stopped: false,
  firings: 0,
  deliveries: [],
  events: [],
};

/** The result of one evaluation. */
export interface Finding {
  readonly nowMs: number;
  readonly count: number;
  readonly reach: Reach;
  readonly isBroken: boolean;
  /** Channels that get a message about a change; none while the rule is muted. */
  readonly channels: readonly Channel[];
}

/** A rule as it was stored under a revision. */
export interface RevisedRule {
  readonly rule: AlertRule;
  readonly revision: number;
}

/** Returns whether a rule that is enabled has to be evaluated: in each interval, and once it was changed. */
export function isDue(state: AlertState, { rule, revision }: RevisedRule, nowMs: number): boolean {
  const { slot, ruleRevision, retryAtMs } = state;
  if (ruleRevision !== revision || slot < slotOf(rule, nowMs)) return true;
  if (retryAtMs > 0 && retryAtMs <= nowMs) return true;
  return slot * everyOf(rule) - nowMs > MAX_AHEAD_MS;
}

/** Returns the state of a rule whose evaluation begins. If its hub dies meanwhile, the rule is evaluated again. */
export function claimed(state: AlertState, revised: RevisedRule, nowMs: number): AlertState {
  const { rule, revision } = revised;
  const slot = slotOf(rule, nowMs);
  const isSame = slot === state.slot && revision === state.ruleRevision;
  const tries = isSame ? state.tries + 1 : 1;
  return {
    ...presentState(state, revised),
    slot,
    every: rule.every,
    ruleRevision: revision,
    tries,
    retryAtMs: tries < MAX_TRIES ? nowMs + FIRST_RETRY_MS * 2 ** (tries - 1) : 0,
  };
}

/** Returns the state without the failure of an evaluation of another revision of the rule. */
export function presentState(state: AlertState, { revision }: Pick<RevisedRule, "revision">): AlertState {
  return state.ruleRevision === revision ? state : { ...state, fault: "", stopped: false };
}

function slotOf(rule: AlertRule, nowMs: number): number {
  return Math.floor(nowMs / everyOf(rule));
}

/** Returns the state after an evaluation. */
export function withFinding(state: AlertState, finding: Finding): AlertState {
  const { nowMs, count, reach, isBroken, channels } = finding;
  const at = new Date(nowMs).toISOString();
  const condition: AlertCondition = isBroken ? "firing" : "ok";
  // Users who may read less than the earlier counts came from may see the rule from now on.
  const events = isWithin(state.reach, reach) ? state.events : [];
  const next = {
    ...state,
    events,
    evaluated: at,
    count,
    reach,
    fault: "",
    stopped: false,
    retryAtMs: 0,
    condition,
  };
  const wasFiring = isFiring(state);
  if (isBroken === wasFiring)
    return state.condition === "unknown" && !wasFiring ? { ...next, since: at } : next;
  const event = isBroken ? ("firing" as const) : ("resolved" as const);
  const firings = state.firings + (isBroken ? 1 : 0);
  const added = channels.map((channel) => ({
    channel,
    event,
    firing: firings,
    count,
    at,
    attempts: 0,
    notBeforeMs: nowMs,
    fault: "",
  }));
  const changed = {
    ...next,
    since: at,
    firings,
    deliveries: [...state.deliveries, ...added].slice(-MAX_DELIVERIES),
  };
  return withEvent(changed, { at, event, count, note: "" });
}

/** An evaluation that failed, or that rights refused. */
export interface Fault {
  readonly nowMs: number;
  readonly fault: string;
  readonly isRefused: boolean;
  /** Whether the same evaluation may succeed soon. */
  readonly isRetryable: boolean;
}

/** Returns the state after an evaluation that failed. The condition stays as it was, and a stopped rule stays so. */
export function withFault(state: AlertState, { nowMs, fault, isRefused, isRetryable }: Fault): AlertState {
  const at = new Date(nowMs).toISOString();
  const stopped = isRefused || state.stopped;
  const retryAtMs = isRetryable ? state.retryAtMs : 0;
  const next = { ...state, evaluated: at, fault, stopped, retryAtMs };
  return state.fault === fault
    ? next
    : withEvent(next, { at, event: "failed", count: state.count, note: fault });
}

/** Returns the state with one more event. */
export function withEvent(state: AlertState, event: AlertEvent): AlertState {
  return { ...state, events: [event, ...state.events].slice(0, MAX_EVENTS) };
}

/** Returns whether `next` has all patterns of `before`, or the one of all indices. */
function isWithin(before: Reach | undefined, next: Reach): boolean {
  if (before === undefined) return true;
  const hasIndices =
    next.indices.includes("*") || before.indices.every((each) => next.indices.includes(each));
  return hasIndices && (next.internal || !before.internal);
}

/** A failed evaluation doesn't end a firing. */
function isFiring({ condition }: AlertState): boolean {
  return condition === "firing";
}
