/** Alert rules with their states, as the interface shows them. */

import { type AlertState, FIRST_STATE, presentState } from "./alert-state.ts";
import { type AlertRule, checkRule } from "./rule.ts";
import type { StoredRule, UnreadableRule, Writer } from "./rule-store.ts";

export interface Alert {
  readonly id: string;
  readonly revision: number;
  readonly rule: AlertRule;
  /** Without its `reach`: the writer's grants are not for all who see the rule. */
  readonly state: AlertState;
  /** What people should do about a rule that runs; "". */
  readonly notice: string;
  /** Whose rights the rule has; for administrators only. */
  readonly writer?: Pick<Writer, "kind" | "name">;
}

/** What a view depends on besides the rule. */
export interface ViewOptions {
  /** People sign in, so that each rule that is saved has a writer. */
  readonly hasWriters: boolean;
  readonly isAdministrator: boolean;
}

const NO_WRITER =
  "it isn't known who saved this rule: it counts in the indices that were allowed then; save it again to run it with your rights";

export function alertView(stored: StoredRule, state: AlertState, options: ViewOptions): Alert {
  const { id, revision, rule, writer } = stored;
  const notice = options.hasWriters && writer === undefined ? NO_WRITER : "";
  const view = { id, revision, rule, state: { ...presentState(state, stored), reach: undefined }, notice };
  if (writer === undefined || !options.isAdministrator) return view;
  return { ...view, writer: { kind: writer.kind, name: writer.name } };
}

/** Returns a placeholder for a rule that can't be read, so that it can be found and deleted. */
export function unreadableView({ id, revision, fault }: UnreadableRule): Alert {
  const rule = checkRule({ title: `${id} (can't be read)`, enabled: false });
  return { id, revision, rule, state: { ...FIRST_STATE, fault }, notice: "" };
}
