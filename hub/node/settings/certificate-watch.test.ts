import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { copyFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { systemClock } from "#proto/kit/clock.ts";
import { silentLogger } from "#proto/kit/log.ts";
import { Type } from "#proto/kit/schema.ts";
import { checkSettings } from "#proto/kit/settings/settings.ts";
import { issueCertificate, makeAuthority } from "#test/harness/certificates.ts";
import { until } from "#test/harness/until.ts";
import { Workspace } from "#test/harness/workspace.ts";
import { CertificateWatch } from "./certificate-watch.ts";
import { tlsProperties } from "./tls-files.ts";

test("a replaced certificate is reported once its key matches, and a half exchange keeps the old one", async (t) => {
  const workspace = new Workspace(t);
  const { folder } = workspace;
  const authority = makeAuthority(folder);
  const first = issueCertificate(folder, "first", authority, ["localhost"]);
  const second = issueCertificate(folder, "second", authority, ["localhost"]);
  const [certificate, key] = [join(folder, "used.pem"), join(folder, "used.key")];
  copyFileSync(first.certificate, certificate);
  copyFileSync(first.key, key);
  const entry = (value: string) => ({ value, place: "test" });
  const entries = new Map([
    ["tls.certificate", entry(certificate)],
    ["tls.key", entry(key)],
  ]);
  const reported: string[] = [];
  const warned: unknown[] = [];
  const log = { ...silentLogger(), warn: (text: unknown) => warned.push(text), info: () => undefined };
  const watch = new CertificateWatch({
    settings: checkSettings(Type.Object(tlsProperties), entries),
    onChange: ({ cert }) => reported.push(new X509Certificate(cert).subject),
    clock: systemClock,
    log: log as unknown as ReturnType<typeof silentLogger>,
    lookEveryMs: 5,
  });
  await watch.start();
  workspace.defer(() => watch.stop());
  copyFileSync(second.certificate, certificate);
  await until("the warning", () => warned.length > 0, { everyMs: 5 });
  assert.deepEqual(reported, []);
  assert.match(String(warned[0]), /the old certificate stays in use: .*key/);
  copyFileSync(second.key, key);
  await until("the new certificate", () => reported.length > 0, { everyMs: 5 });
  assert.deepEqual(reported, [new X509Certificate(readFileSync(second.certificate)).subject]);
  assert.equal(warned.length, 1, "it is said once");
});
