import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, type TestContext, test } from "node:test";
import { silentLogger } from "#proto/kit/log.ts";
import { Type } from "#proto/kit/schema.ts";
import { checkSettings } from "#proto/kit/settings/settings.ts";
import {
  type CertificateFiles,
  issueCertificate,
  issueOwnCertificate,
  makeAuthority,
} from "#test/harness/certificates.ts";
import { Workspace } from "#test/harness/workspace.ts";
import { StillClock } from "#test/support/kit/still-clock.ts";
import { CertificateWatch } from "./certificate-watch.ts";
import { tlsProperties } from "./tls-files.ts";

const LOOK_MS = 5_000;

/** Two pairs of one authority, which all tests read. */
const certificates = mkdtempSync(join(tmpdir(), "tailrace-certificates-"));
const root = makeAuthority(certificates);
const between = issueCertificate(certificates, "between", root, ["between"]);
const [first, second] = ["first", "second"].map((name) =>
  issueCertificate(certificates, name, between, ["localhost"]),
) as [CertificateFiles, CertificateFiles];
after(() => rmSync(certificates, { recursive: true }));

/** A watch of files that have the first pair. */
async function watched(t: TestContext) {
  const workspace = new Workspace(t);
  const { folder } = workspace;
  const [certificate, key] = [join(folder, "used.pem"), join(folder, "used.key")];
  const read = (path: string): string => readFileSync(path, "utf8");
  const chainOf = (files: CertificateFiles): string => read(files.certificate) + read(between.certificate);
  writeFileSync(certificate, chainOf(first));
  copyFileSync(first.key, key);
  const entry = (value: string) => ({ value, place: "test" });
  const entries = new Map([
    ["tls.certificate", entry(certificate)],
    ["tls.key", entry(key)],
  ]);
  const used: string[] = [];
  const warned: unknown[] = [];
  const log = { ...silentLogger(), warn: (text: unknown) => warned.push(text), info: () => undefined };
  const clock = new StillClock();
  const watch = new CertificateWatch({
    settings: checkSettings(Type.Object(tlsProperties), entries),
    onChange: ({ cert }) => used.push(new X509Certificate(cert).subject),
    clock,
    log: log as unknown as ReturnType<typeof silentLogger>,
  });
  await watch.start();
  workspace.defer(() => watch.stop());
  const look = (): Promise<void> => clock.advance(LOOK_MS);
  const text = chainOf(second);
  return {
    watch,
    folder,
    certificate,
    key,
    text,
    end: read(second.certificate).length,
    used,
    warned,
    look,
  };
}

test("a replaced certificate is used once its key matches, and a half exchange keeps the old one", async (t) => {
  const { watch, certificate, key, text, used, warned, look } = await watched(t);
  writeFileSync(certificate, text);
  await look();
  assert.deepEqual([warned.length, watch.problem], [0, ""], "the key may follow");
  for (let looks = 0; looks < 3; looks++) await look();
  assert.match(String(warned[0]), /the old certificate stays in use: .*key/);
  assert.match(watch.problem, /key/);
  copyFileSync(second.key, key);
  for (let looks = 0; looks < 3; looks++) await look();
  assert.deepEqual(used, ["CN=second"]);
  assert.deepEqual([warned.length, watch.problem], [1, ""], "it is logged once");
});

for (const [what, length, message] of [
  ["between two certificates", 0, /ends after the first certificate.* missing: CN=between.* restart the hub/],
  ["in the second certificate", 100, /without its end/],
] as const)
  test(`a file of certificates that is cut ${what} isn't used`, async (t) => {
    const { watch, certificate, key, text, end, used, warned, look } = await watched(t);
    copyFileSync(second.key, key);
    writeFileSync(certificate, text.slice(0, end + length));
    for (let looks = 0; looks < 3; looks++) await look();
    assert.deepEqual(used, []);
    assert.match(watch.problem, message);
    writeFileSync(certificate, text);
    for (let looks = 0; looks < 2; looks++) await look();
    assert.deepEqual(used, ["CN=second"]);
    assert.equal(warned.length, 1);
  });

test("a file that changes between two looks isn't used yet", async (t) => {
  const { certificate, key, text, used, look } = await watched(t);
  copyFileSync(second.key, key);
  for (let parts = 1; parts <= 3; parts++) {
    writeFileSync(certificate, text.repeat(parts));
    await look();
    assert.deepEqual(used, []);
  }
  await look();
  assert.deepEqual(used, ["CN=second"]);
});

test("a lone certificate of an authority that the file didn't have isn't used", async (t) => {
  const { watch, folder, certificate, key, used, look } = await watched(t);
  const other = issueCertificate(folder, "lone", makeAuthority(folder, "next"), ["localhost"]);
  copyFileSync(other.certificate, certificate);
  copyFileSync(other.key, key);
  for (let looks = 0; looks < 3; looks++) await look();
  assert.deepEqual(used, []);
  assert.match(watch.problem, /missing: CN=next\. .*restart the hub/);
});

test("a lone certificate that needs no other is used", async (t) => {
  const { folder, certificate, key, used, look } = await watched(t);
  const direct = issueCertificate(folder, "direct", root, ["localhost"]);
  const own = issueOwnCertificate(folder, "own", ["localhost"]);
  const replace = async (files: CertificateFiles, chain: string): Promise<void> => {
    writeFileSync(certificate, readFileSync(files.certificate, "utf8") + chain);
    copyFileSync(files.key, key);
    for (let looks = 0; looks < 2; looks++) await look();
  };
  const chain = readFileSync(root.certificate, "utf8");
  await replace(direct, chain);
  await replace(direct, "");
  await replace(direct, chain);
  await replace(own, "");
  assert.deepEqual(used, ["CN=direct", "CN=direct", "CN=direct", "CN=own"]);
});
