import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { makeAuthority } from "#test/harness/certificates.ts";
import { readCertificates } from "./certificates.ts";

test("a file of whole certificates is read, and one that is cut or has none is refused", (t) => {
  const folder = mkdtempSync(join(tmpdir(), "tailrace-certificates-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const [one, two] = ["one", "two"].map((name) =>
    readFileSync(makeAuthority(folder, name).certificate, "utf8"),
  );
  const path = join(folder, "used.pem");
  const read = (text: string): string => {
    writeFileSync(path, text);
    return readCertificates(path).toString();
  };
  for (const text of [one!, `# ours\n${one}\n${two}`, `${one}${two}`.replaceAll("\n", "\r\n")])
    assert.equal(read(text), text);
  for (const [text, message] of [
    ["", /has no certificate/],
    [one!.slice(0, 200), /has no certificate/],
    [one! + two!.slice(0, 200), /without its end/],
    [one! + two!.slice(0, -4), /without its end/],
    [one!.replace(/\n[^-\n]{10}/, "\nAAAA"), /certificate 1 of .* can't be read/],
  ] as const)
    assert.throws(() => read(text), message);
  rmSync(path);
  assert.throws(() => readCertificates(path), { code: "ENOENT" });
});
