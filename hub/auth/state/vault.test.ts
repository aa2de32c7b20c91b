import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, suite, test } from "node:test";
import { systemClock } from "#proto/kit/clock.ts";
import { MemoryBucket } from "#test/support/kit/memory-bucket.ts";
import type { Store } from "./records.ts";
import {
  checkVault,
  hasSealed,
  loadInstallationKeys,
  loadVaultKeys,
  parseVaultKeys,
  Vault,
} from "./vault.ts";

const K1 = { id: "k1", secret: Buffer.alloc(32, 1) };
const K2 = { id: "k2", secret: Buffer.alloc(32, 2) };

function newStore(): Store {
  return { bucket: new MemoryBucket(), clock: systemClock };
}

suite("vault", () => {
  test("opens what it sealed for the same record only, and never seals alike twice", () => {
    const vault = new Vault([K1]);
    const sealed = vault.seal("secret ü", "account:1");
    assert.match(sealed, /^v1\.k1\./);
    assert.notEqual(vault.seal("secret ü", "account:1"), sealed);
    assert.equal(vault.open(sealed, "account:1"), "secret ü");
    assert.throws(() => vault.open(sealed, "account:2"), { code: "data_corrupt", message: /k1.*account:2/ });
  });

  test("notices every changed character", () => {
    const vault = new Vault([K1]);
    const sealed = vault.seal("secret", "p");
    for (let at = 0; at < sealed.length; at++) {
      const other = sealed[at] === "A" ? "B" : "A";
      const changed = sealed.slice(0, at) + other + sealed.slice(at + 1);
      // The last character of a base64url part may hold unused bits.
      if (decoded(changed) === decoded(sealed)) continue;
      assert.throws(() => vault.open(changed, "p"), { code: "data_corrupt" }, String(at));
    }
    for (const short of ["", "v1", "v1.k1", "v1.k1...", sealed.slice(0, -4)]) {
      assert.throws(() => vault.open(short, "p"), { code: "data_corrupt" }, short);
    }
  });

  test("opens what older keys sealed, and reports that it is old", () => {
    const sealed = new Vault([K1]).seal("secret", "p");
    const rotated = new Vault([K2, K1]);
    assert.equal(rotated.open(sealed, "p"), "secret");
    assert.equal(rotated.isOld(sealed), true);
    assert.equal(rotated.isOld(rotated.seal("secret", "p")), false);
  });

  test("refuses to start with a missing or different key, naming it", async () => {
    const store = newStore();
    assert.equal(await checkVault(store, new Vault([K1])), "first");
    assert.equal(await checkVault(store, new Vault([K1])), "known");
    for (const wrong of [[K2], [{ ...K1, secret: Buffer.alloc(32, 9) }]]) {
      await assert.rejects(checkVault(store, new Vault(wrong)), {
        code: "settings_invalid",
        message: /"k1"/,
      });
    }
    assert.equal(await checkVault(store, new Vault([K2, K1])), "renewed");
    assert.equal(await checkVault(store, new Vault([K2])), "known");
  });

  test("keeps the installation's keys through a rotation", async () => {
    const store = newStore();
    const first = await loadInstallationKeys(store, new Vault([K1]));
    const again = await loadInstallationKeys(store, new Vault([K2, K1]));
    assert.deepEqual(again, first);
    assert.deepEqual(await loadInstallationKeys(store, new Vault([K2])), first);
    assert.notDeepEqual(first.cookie, first.form);
  });
});

suite("vault keys", () => {
  const folder = mkdtempSync(join(tmpdir(), "tailrace-vault-"));
  const path = join(folder, "vault.keys");
  after(() => rmSync(folder, { recursive: true, force: true }));
  const line = (id: string, fill: number): string => `${id}:${Buffer.alloc(32, fill).toString("base64")}`;

  test("are generated once, readable by their owner only, and not again where something is sealed", async () => {
    await assert.rejects(
      loadVaultKeys(path, {}, () => Promise.resolve(false)),
      { code: "settings_invalid", message: /missing/ },
    );
    const [made] = await loadVaultKeys(path, {}, () => Promise.resolve(true));
    assert.equal(statSync(path).mode & 0o777, 0o600);
    assert.ok(readFileSync(path, "utf8").startsWith(`${made?.id}:`));
    const [again] = await loadVaultKeys(path, {}, () => Promise.resolve(false));
    assert.deepEqual(again, made);
    chmodSync(path, 0o644);
    await assert.rejects(
      loadVaultKeys(path, {}, () => Promise.resolve(true)),
      { message: /chmod 600/ },
    );
  });

  test("come from the environment first", async () => {
    const env = { TAILRACE_VAULT_KEYS: `${line("new", 3)} ${line("old", 4)}` };
    const ring = await loadVaultKeys(path, env, () => Promise.resolve(false));
    assert.deepEqual(
      ring.map(({ id }) => id),
      ["new", "old"],
    );
  });

  test("that are malformed are refused without being shown", () => {
    for (const text of [
      "",
      "nokey",
      "a:c2hvcnQ=",
      `a b:${line("c", 1)}`,
      `${line("a", 1)},${line("a", 2)}`,
    ]) {
      assert.throws(
        () => parseVaultKeys(text, "TAILRACE_VAULT_KEYS"),
        (error: Error) => error.message.includes("TAILRACE_VAULT_KEYS") && !error.message.includes("c2hvcnQ"),
        text,
      );
    }
  });

  test("a file of keys that was cut or emptied is refused with the remedy", () => {
    for (const text of ["", line("a", 1).slice(0, 30)])
      assert.throws(
        () => parseVaultKeys(text, "vault.keys"),
        /^AppError: vault\.keys.*restore the keys from a backup/,
      );
  });

  test("hasSealed finds a sealed record in the state", async () => {
    const store = newStore();
    assert.equal(await hasSealed(store), false);
    await checkVault(store, new Vault([K1]));
    assert.equal(await hasSealed(store), true);
    writeFileSync(path, "");
  });
});

function decoded(sealed: string): string {
  return sealed
    .split(".")
    .map((part, index) => (index < 2 ? part : Buffer.from(part, "base64url").toString("hex")))
    .join(".");
}
