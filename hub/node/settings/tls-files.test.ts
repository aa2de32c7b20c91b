import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { Type } from "#proto/kit/schema.ts";
import { checkSettings } from "#proto/kit/settings/settings.ts";
import { Workspace } from "#test/harness/workspace.ts";
import { readTlsFiles, type TlsSettings, tlsProperties } from "./tls-files.ts";

function settings(given: Partial<TlsSettings>): TlsSettings {
  const entries = Object.entries(given).map(([key, value]) => [key, { value, place: "test" }] as const);
  return checkSettings(Type.Object(tlsProperties), new Map(entries));
}

function file(t: TestContext, content: string): string {
  const path = join(new Workspace(t).folder, "file.pem");
  writeFileSync(path, content);
  return path;
}

test("without a certificate the listeners speak plain HTTP", () => {
  assert.equal(readTlsFiles(settings({})), undefined);
  assert.equal(readTlsFiles(settings({ "tls.terminated_upstream": true })), undefined);
});

for (const [what, given, message] of [
  ["a certificate without a key", { "tls.certificate": "a.pem" }, /must be set together/],
  ["a key without a certificate", { "tls.key": "a.key" }, /must be set together/],
  ["client certificates without authorities", { "tls.client_authentication": "required" }, /needs .*tls\.ca/],
  [
    "a file that isn't there",
    { "tls.certificate": "/nonexistent/a.pem", "tls.key": "/nonexistent/a.key" },
    /tls\.certificate: cannot read \/nonexistent\/a\.pem/,
  ],
] as const) {
  test(`${what} is refused with the setting`, () => {
    assert.throws(() => readTlsFiles(settings(given)), { code: "settings_invalid", message });
  });
}

test("a file that holds no certificate is refused before anything listens", (t) => {
  const path = file(t, "no certificate");
  assert.throws(() => readTlsFiles(settings({ "tls.certificate": path, "tls.key": path })), {
    code: "settings_invalid",
    message: /tls\.certificate: .* has no certificate/,
  });
});
