/**
 * The rules of deploy/monitoring/alerts.yml over two scrapes of /metrics: which ones fire. Knows as much of PromQL as the
 * rules use: comparisons of a metric, of its growth (increase, rate, deriv) and of durations, joined by "and" and "or".
 */

import { readFileSync } from "node:fs";
import { parse } from "yaml";

const FILE = new URL("../../deploy/monitoring/alerts.yml", import.meta.url);

export interface AlertRule {
  readonly alert: string;
  readonly expr: string;
  /** How long the condition must hold: "2m". */
  readonly for?: string;
}

/** Samples by metric, summed up by nothing: each with its labels. */
export type Scrape = ReadonlyMap<string, readonly { readonly labels: string; readonly value: number }[]>;

export function readAlertRules(): readonly AlertRule[] {
  const { groups } = parse(readFileSync(FILE, "utf8")) as { groups: { rules: AlertRule[] }[] };
  return groups.flatMap(({ rules }) => rules);
}

/** Parses the text format. */
export function readScrape(text: string): Scrape {
  const rows = [...text.matchAll(/^([a-z_]+)(\{[^}]*\})? (\S+)$/gm)];
  return Map.groupBy(
    rows.map(([, name, labels = "", value]) => ({ name: name!, labels, value: Number(value) })),
    ({ name }) => name,
  );
}

/** Returns the names of the rules whose condition holds, with how long it must hold: "TailraceHubFailing (2m)". */
export function firingAlerts(rules: readonly AlertRule[], before: Scrape, now: Scrape): string[] {
  const holds = (expr: string): boolean =>
    expr.split(" or ").some((one) => one.split(" and ").every((clause) => clauseHolds(clause, before, now)));
  return rules
    .filter(({ expr }) => holds(expr))
    .map((rule) => (rule.for === undefined ? rule.alert : `${rule.alert} (${rule.for})`));
}

const CLAUSE = /^(?:(increase|rate|deriv)\()?([a-z_]+)(\{[^}]*\})?(?:\[\w+\]\))? (==|>|<) ([\d.e+-]+)$/;

function clauseHolds(clause: string, before: Scrape, now: Scrape): boolean {
  const [, change, name, labels = "", operator, limit] = CLAUSE.exec(clause.trim()) ?? [];
  if (name === undefined) throw new Error(`this test can't evaluate "${clause}"`);
  const old = before.get(name) ?? [];
  return (now.get(name) ?? [])
    .filter((sample) => sample.labels.includes(labels.slice(1, -1)))
    .some((sample) => {
      const earlier = old.find((each) => each.labels === sample.labels)?.value ?? 0;
      const value = change === undefined ? sample.value : sample.value - earlier;
      if (operator === "==") return value === Number(limit);
      return operator === ">" ? value > Number(limit) : value < Number(limit);
    });
}
