/** Known vulnerabilities of the shipped packages, from the registry. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { run } from "./tools.ts";

interface Audit {
  /** In place of all else where the registry was not reached or offers no such service. */
  readonly error?: unknown;
  readonly message?: string;
  readonly vulnerabilities?: Readonly<Record<string, { readonly severity: string }>>;
}

test("no shipped package has a known vulnerability of high severity", (t) => {
  const { stdout } = run("npm", ["audit", "--omit=dev", "--json"]);
  const audit = JSON.parse(stdout || '{"message":"npm printed nothing"}') as Audit;
  if (audit.vulnerabilities === undefined) {
    t.skip(`the registry gives no audit: ${audit.message ?? JSON.stringify(audit.error)}`);
    return;
  }
  const found = Object.entries(audit.vulnerabilities).filter(([, { severity }]) =>
    ["high", "critical"].includes(severity),
  );
  assert.deepEqual(found, []);
});
