import assert from "node:assert/strict";
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { connect } from "node:tls";
import { issueCertificate, issueOwnCertificate, makeAuthority } from "#test/harness/certificates.ts";
import { createTlsServer } from "./tls-server.ts";

/** Returns what lets the server look at its files often enough for changed ones to settle. */
function steppedLooks(t: TestContext): () => void {
  let nowMs = 0;
  t.mock.method(performance, "now", () => nowMs);
  t.mock.timers.enable({ apis: ["setInterval"] });
  return () => {
    for (let look = 0; look < 2; look++) {
      nowMs += 1_000;
      t.mock.timers.tick(1_000);
    }
  };
}

test("a renewed certificate is given to later connections, the first of them too, and a pair of which half is renewed to none", async (t) => {
  const settle = steppedLooks(t);
  const folder = mkdtempSync(join(tmpdir(), "tailrace-tls-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const [first, second] = ["first", "second"].map((name) => issueOwnCertificate(folder, name, ["127.0.0.1"]));
  const [certificate, key] = [join(folder, "used.pem"), join(folder, "used.key")];
  copyFileSync(first!.certificate, certificate);
  copyFileSync(first!.key, key);
  const faults: unknown[] = [];
  const onFault = (error: unknown): void => void faults.push(error);
  const server = createTlsServer({ certificate, key, onConnection: (socket) => socket.end(), onFault });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => new Promise((resolve) => server.close(resolve)));
  const { port } = server.address() as AddressInfo;
  /** Returns the name in the certificate that a new connection gets. */
  const named = (): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const ca = [first!, second!].map((files) => readFileSync(files.certificate));
      const socket = connect({ port, host: "127.0.0.1", ca }, () => {
        resolve(socket.getPeerCertificate().subject.CN);
        socket.destroy();
      });
      socket.once("error", reject);
    });
  assert.equal(await named(), "first");
  copyFileSync(second!.certificate, certificate);
  settle();
  assert.equal(await named(), "first");
  assert.equal(faults.length, 1);
  copyFileSync(second!.key, key);
  settle();
  assert.equal(await named(), "second");
  rmSync(key);
  settle();
  assert.equal(await named(), "second");
  assert.equal(faults.length, 2);
});

test("authorities of clients that are half written replace none", async (t) => {
  const settle = steppedLooks(t);
  const folder = mkdtempSync(join(tmpdir(), "tailrace-tls-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const authority = makeAuthority(folder);
  const own = issueOwnCertificate(folder, "own", ["127.0.0.1"]);
  const sender = issueCertificate(folder, "sender", authority, ["sender"]);
  const ca = join(folder, "used.pem");
  copyFileSync(authority.certificate, ca);
  const faults: unknown[] = [];
  const server = createTlsServer({
    ...own,
    ca,
    onConnection: (socket) => socket.end("taken"),
    onFault: (error) => faults.push(error),
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => new Promise((resolve) => server.close(resolve)));
  const { port } = server.address() as AddressInfo;
  /** Returns what a sender with a certificate of the authority gets. */
  const answer = async (): Promise<string> => {
    const socket = connect({
      port,
      host: "127.0.0.1",
      ca: readFileSync(own.certificate),
      cert: readFileSync(sender.certificate),
      key: readFileSync(sender.key),
    });
    return Buffer.concat(await socket.toArray()).toString();
  };
  assert.equal(await answer(), "taken");
  for (const length of [0, 300]) {
    writeFileSync(ca, readFileSync(authority.certificate).subarray(0, length));
    settle();
    assert.equal(await answer(), "taken");
  }
  assert.equal(faults.length, 2);
});
