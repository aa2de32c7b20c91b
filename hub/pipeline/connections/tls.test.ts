import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { options } from "#proto/kit/options.ts";
import { defaultsOf } from "#proto/kit/schema.ts";
import { listenerTls, TLS_LISTENER } from "./tls.ts";

type Values = Parameters<typeof listenerTls>[0];

const DEFAULTS = defaultsOf(options(TLS_LISTENER));

test("TLS is what the options say, also by the names that they had before", (t) => {
  const folder = mkdtempSync(join(tmpdir(), "tls-"));
  t.after(() => rmSync(folder, { recursive: true }));
  for (const name of ["own", "middle", "store"]) writeFileSync(join(folder, name), `${name} file`);
  const of = (written: Partial<Values>) =>
    listenerTls({ ...DEFAULTS, ...written } as Values, (path) => join(folder, path));
  const rows: [Partial<Values>, object][] = [
    [{ ssl_enabled: true }, { requestCert: false, minVersion: "TLSv1.2", maxVersion: "TLSv1.3" }],
    [
      { ssl: true, ssl_verify_mode: "peer" },
      { requestCert: true, rejectUnauthorized: false },
    ],
    [
      { ssl: true, verify_mode: "force_peer" },
      { requestCert: true, rejectUnauthorized: true },
    ],
    [
      { ssl_enable: true, ssl_verify: true },
      { requestCert: true, rejectUnauthorized: true },
    ],
    [{ ssl_enable: true, ssl_verify: false, ssl_client_authentication: "required" }, { requestCert: false }],
    [{ ssl: true, tls_min_version: 1.3 }, { minVersion: "TLSv1.3" }],
    [{ ssl: true, tls_max_version: "1.2" }, { maxVersion: "TLSv1.2" }],
    [{ ssl: true, cipher_suites: ["A", "B"] }, { ciphers: "A:B" }],
    [{ ssl: true, ssl_cert: "own", ssl_extra_chain_certs: ["middle"] }, { cert: "own file\nmiddle file" }],
    [
      { ssl: true, keystore: "store", keystore_password: "pw" },
      { pfx: Buffer.from("store file"), passphrase: "pw" },
    ],
  ];
  for (const [written, expected] of rows)
    assert.partialDeepStrictEqual(of(written), expected, JSON.stringify(written));
  assert.equal(of({}), undefined);
  assert.throws(() => of({ ssl: true, ssl_keystore_path: "x.jks" }), /PKCS12/);
});
