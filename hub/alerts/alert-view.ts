/** Alert rules with their states, as the interface shows them. */

import { type AlertState, FIRST_STATE, presentState } from "./alert-state.ts";
import { type AlertRule, checkRule } from "./rule.ts";
import type { StoredRule, UnreadableRule } from "./rule-store.ts";

export interface Alert {
  readonly id: string;
  readonly revision: number;
  readonly rule: AlertRule;
  /** Without its `reach`: the writer's grants are not for all who see the rule. */
  readonly state: AlertState;
  /** What people should do about a rule that runs; "". */
  readonly notice: string;
}

const NO_WRITER =
  "it isn't known who saved this rule: it counts in the indices that were allowed then; save it again to run it with your rights";

/** `hasWriters`: people sign in, so that each rule that is saved has a writer. */
export function alertView(stored: StoredRule, state: AlertState, hasWriters: boolean): Alert {
  const { id, revision, rule, writer } = stored;
  const notice = hasWriters && writer === undefined ? NO_WRITER : "";
  return { id, revision, rule, state: { ...presentState(state, stored), reach: undefined }, notice };
}

/** Returns a placeholder for a rule that can't be read, so that it can be found and deleted. */
export function unreadableView({ id, revision, fault }: UnreadableRule): Alert {
  const rule = checkRule({ title: `${id} (can't be read)`, enabled: false });
  return { id, revision, rule, state: { ...FIRST_STATE, fault }, notice: "" };
}
