/** What the registry says of the packages: known vulnerabilities of the shipped ones, and its signatures of all. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { run } from "./tools.ts";

interface Audit {
  /** In place of all else where the registry was not reached or offers no such service. */
  readonly error?: unknown;
  readonly message?: string;
  readonly vulnerabilities?: Readonly<Record<string, { readonly severity: string }>>;
}

interface SignedPackage {
  readonly name: string;
  readonly version: string;
  readonly registry: string;
  /** `EINTEGRITYSIGNATURE`, `EATTESTATIONVERIFY` */
  readonly code?: string;
}

/** What `npm audit signatures --json` prints. */
interface SignatureAudit {
  /** In place of all else where nothing could be verified. */
  readonly error?: { readonly code?: string | null; readonly summary?: string };
  /** Packages whose signature or attestation isn't of the registry's keys. */
  readonly invalid?: readonly SignedPackage[];
  /** Packages without a signature, though their registry has keys; a registry that copies another may leave them out. */
  readonly missing?: readonly SignedPackage[];
}

interface SignatureOutcome {
  /** Packages whose signature is wrong. */
  readonly invalid: readonly string[];
  /** For people. */
  readonly said: string;
  /** False where nothing was verified. */
  readonly isVerified: boolean;
}

/** A registry that isn't there is asked once, not for a minute. */
const ONE_TRY = ["--fetch-retries=0", "--fetch-timeout=30000"];

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

test("no installed package has a signature that isn't its registry's", (t) => {
  const { invalid, said, isVerified } = signatureOutcome(
    run("npm", ["audit", "signatures", "--json", ...ONE_TRY]).stdout,
  );
  if (!isVerified) {
    t.skip(said);
    return;
  }
  t.diagnostic(said);
  assert.deepEqual(invalid, [], said);
});

const PACKAGE = { name: "ms", version: "2.1.3", registry: "https://registry.example/" };
const PRINTED: readonly (readonly [what: string, printed: string, outcome: Partial<SignatureOutcome>])[] = [
  ["all signatures right", '{"invalid":[],"missing":[]}', { invalid: [], isVerified: true }],
  [
    "a signature that is wrong",
    JSON.stringify({ invalid: [{ ...PACKAGE, code: "EINTEGRITYSIGNATURE" }], missing: [] }),
    { invalid: ["ms@2.1.3 of https://registry.example/: EINTEGRITYSIGNATURE"], isVerified: true },
  ],
  [
    "a signature that is missing",
    JSON.stringify({ invalid: [], missing: [PACKAGE] }),
    {
      invalid: [],
      isVerified: true,
      said: "0 packages with a wrong signature, 1 without one: ms@2.1.3 of https://registry.example/",
    },
  ],
  [
    "no registry",
    '{"error":{"code":"ENOTFOUND","summary":"request to https://example.org failed"}}',
    {
      invalid: [],
      isVerified: false,
      said: "no signature was verified: ENOTFOUND request to https://example.org failed",
    },
  ],
  [
    "a registry without keys",
    '{"error":{"code":null,"summary":"found no dependencies to audit"}}',
    { isVerified: false, said: "no signature was verified: found no dependencies to audit" },
  ],
  ["nothing", "", { isVerified: false, said: "no signature was verified: npm printed nothing" }],
  ["no JSON", "npm: not found", { isVerified: false, said: "no signature was verified: npm: not found" }],
];

for (const [what, printed, wanted] of PRINTED)
  test(`what npm prints of ${what} is read`, () =>
    assert.partialDeepStrictEqual(signatureOutcome(printed), wanted));

function signatureOutcome(printed: string): SignatureOutcome {
  const audit = readAudit(printed);
  if (audit.invalid === undefined || audit.missing === undefined) {
    const { code, summary } = audit.error ?? { summary: "npm printed nothing" };
    const why = [code, summary].filter(Boolean).join(" ");
    return { invalid: [], isVerified: false, said: `no signature was verified: ${why}` };
  }
  const named = ({ name, version, registry, code }: SignedPackage): string =>
    `${name}@${version} of ${registry}${code === undefined ? "" : `: ${code}`}`;
  const missing = audit.missing.map(named);
  const without = `${missing.length} without one${missing.length === 0 ? "" : `: ${missing.join(", ")}`}`;
  return {
    invalid: audit.invalid.map(named),
    isVerified: true,
    said: `${audit.invalid.length} packages with a wrong signature, ${without}`,
  };
}

function readAudit(printed: string): SignatureAudit {
  try {
    return JSON.parse(printed || "{}") as SignatureAudit;
  } catch {
    return { error: { summary: printed.trim() } };
  }
}
