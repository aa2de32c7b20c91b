import assert from "node:assert/strict";
import { once } from "node:events";
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { createServer as createPlainServer } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo, Server } from "node:net";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { loadHubSettings } from "#hub/node/settings/hub-settings.ts";
import { loadCommandSettings, writeReach } from "#hub/node/settings/reach-file.ts";
import { FolderLock } from "#proto/kit/files/folder-lock.ts";
import { type CertificateFiles, issueCertificate, makeAuthority } from "#test/harness/certificates.ts";
import { Workspace } from "#test/harness/workspace.ts";
import { parseSearchCommand, runSearchCommand } from "./search.ts";

const ADDRESSES = { http: "https://127.0.0.1:19200", dashboard: "https://127.0.0.1:15601" };
const FOUND = JSON.stringify({ hits: { hits: [{ _source: { message: "found" } }] } });

/** A data folder on which a hub has run with TLS, and the settings of commands that name it and `more`. */
function folderOfHub(t: TestContext, certificate = "/etc/tailrace/hub.pem") {
  const { folder } = new Workspace(t);
  const overrides = [
    "network.host=0.0.0.0",
    `tls.certificate=${certificate}`,
    "public.url=https://logs.example",
  ];
  writeReach(folder, loadHubSettings({ file: undefined, overrides }, {}), ADDRESSES);
  const load = (more: readonly string[], file?: string) =>
    loadCommandSettings({ file, overrides: [`path.data=${folder}`, ...more] }, {});
  return { folder, load };
}

test("a command finds a hub by the addresses in its data folder", (t) => {
  const { load } = folderOfHub(t);
  const settings = load([]);
  assert.deepEqual(
    [settings["http.port"], settings["dashboard.port"], settings["tls.certificate"], settings["public.url"]],
    [19_200, 15_601, "/etc/tailrace/hub.pem", "https://logs.example"],
  );
});

test("addresses of the command line take precedence over those of the hub", (t) => {
  const { load } = folderOfHub(t);
  const settings = load(["http.port=1", "network.host=hub.example", "tls.ca=/ca.pem"]);
  assert.deepEqual(
    [settings["http.port"], settings["dashboard.port"], settings["http.host"], settings["tls.certificate"]],
    [1, 15_601, "", ""],
  );
});

test("a settings file takes precedence over the addresses of a stopped hub", (t) => {
  const { folder, load } = folderOfHub(t);
  const file = join(folder, "hub.yml");
  writeFileSync(file, "http.port: 2\n");
  assert.equal(load([], file)["http.port"], 2);
  const lock = FolderLock.acquire(folder, "hub");
  t.after(() => lock.release());
  assert.equal(load([], file)["http.port"], 19_200);
});

test("the folder of npm start stands for the hub's folder within it, unless it is a hub's itself", (t) => {
  const { folder, load } = folderOfHub(t);
  const { folder: outer } = new Workspace(t);
  const inner = join(outer, "hub");
  cpSync(folder, inner, { recursive: true });
  const found = (path: string) =>
    loadCommandSettings({ file: undefined, overrides: [`path.data=${path}`] }, {})["path.data"];
  assert.equal(found(outer), inner);
  assert.equal(load([])["path.data"], folder);
  writeFileSync(join(outer, "reach.json"), "{}");
  assert.equal(found(outer), outer);
  const lock = FolderLock.acquire(inner, "hub");
  assert.equal(found(outer), inner, "the hub that runs");
  lock.release();
});

test("a damaged note counts for nothing", (t) => {
  const { folder, load } = folderOfHub(t);
  writeFileSync(join(folder, "reach.json"), '{"http.port":"9"}');
  assert.equal(load([])["http.port"], 9_200);
});

/** Starts a server and returns the options that lead `search` to it. */
async function at(t: TestContext, server: Server): Promise<string[]> {
  t.after(() => server.close());
  await once(server.listen(0, "127.0.0.1"), "listening");
  return ["-E", `http.port=${(server.address() as AddressInfo).port}`];
}

function secureServer({ certificate, key }: CertificateFiles): Server {
  const tls = { cert: readFileSync(certificate), key: readFileSync(key) };
  return createServer(tls, (request, response) => {
    request.resume();
    response.end(FOUND);
  });
}

async function search(args: readonly string[]): Promise<string> {
  const outcome = await runSearchCommand(
    parseSearchCommand(args),
    { TAILRACE_API_KEY: "secret" },
    Date.now(),
  );
  return outcome.output;
}

test("the certificate that the settings name is trusted at an address that isn't in it, and no other of its authority", async (t) => {
  const { folder } = new Workspace(t);
  const authority = makeAuthority(folder);
  const own = issueCertificate(folder, "own", authority, ["hub.example.net"]);
  const other = issueCertificate(folder, "other", authority, ["hub.example.net"]);
  const chain = join(folder, "chain.pem");
  writeFileSync(chain, readFileSync(own.certificate, "utf8") + readFileSync(authority.certificate, "utf8"));
  const settings = [...(await at(t, secureServer(own))), "-E", `tls.certificate=${chain}`];
  assert.equal(await search(settings), "found\n");
  const forged = [...(await at(t, secureServer(other))), "-E", `tls.certificate=${chain}`];
  await assert.rejects(search(forged), { code: "unavailable", message: /is not trusted .*-c hub\.yml/ });
});

test("a command with the wrong protocol reports it, with the option to set", async (t) => {
  const { folder } = new Workspace(t);
  const own = issueCertificate(folder, "own", makeAuthority(folder), ["localhost"]);
  await assert.rejects(search(await at(t, secureServer(own))), {
    code: "unavailable",
    message: /does not speak plain HTTP.*-c hub\.yml/,
  });
  const plain = await at(
    t,
    createPlainServer((_, response) => response.end(FOUND)),
  );
  await assert.rejects(search([...plain, "-E", `tls.certificate=${own.certificate}`]), {
    code: "unavailable",
    message: /does not speak TLS/,
  });
});
