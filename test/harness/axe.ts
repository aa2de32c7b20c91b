/** Finds accessibility barriers of a page, by the rules of WCAG 2.2 A and AA that a program can check. */

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";

const SOURCE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];

interface Violation {
  readonly id: string;
  readonly help: string;
  readonly nodes: readonly { readonly target: readonly unknown[]; readonly failureSummary?: string }[];
}

/**
 * Returns a line for each element that breaks a rule; `colours` asks for contrast alone, all that another theme can
 * change. The content security policy doesn't bind what a test evaluates.
 */
export async function findBarriers(page: Page, rules: "all" | "colours" = "all"): Promise<string[]> {
  const only = rules === "all" ? TAGS : { type: "rule", values: ["color-contrast"] };
  await page.evaluate(`if (globalThis.axe === undefined) { ${SOURCE} }`);
  const violations = await page.evaluate<Violation[]>(
    `axe.run(document, { runOnly: ${JSON.stringify(only)}, resultTypes: ["violations"] }).then(({ violations }) => violations)`,
  );
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ target, failureSummary = "" }) => {
      const why = failureSummary.split("\n").slice(1).join(" ").trim();
      return `${id} (${help}) at ${JSON.stringify(target)}: ${why}`;
    }),
  );
}
