import assert from "node:assert/strict";
import { hostname } from "node:os";
import { test } from "node:test";
import { loadHubSettings } from "#hub/node/settings/hub-settings.ts";
import { issueOwnCertificate } from "#test/harness/certificates.ts";
import { Workspace } from "#test/harness/workspace.ts";
import { agentAccess } from "./agent-access.ts";

const EVERYWHERE = "nats://0.0.0.0:4222";

function serversOf(natsUrl: string, overrides: readonly string[]): readonly string[] {
  return agentAccess(loadHubSettings({ file: undefined, overrides }, {}), natsUrl).servers;
}

test("without a certificate agents get the bound address, or the machine's name for a wildcard address", () => {
  assert.deepEqual(serversOf("nats://127.0.0.1:4222", []), ["nats://127.0.0.1:4222"]);
  assert.deepEqual(serversOf(EVERYWHERE, []), [`nats://${hostname()}:4222`]);
});

test("with a certificate agents get a host that it names, address or name", (t) => {
  const { folder } = new Workspace(t);
  for (const [named, publicUrl, natsUrl, server] of [
    ["hub.example.net", "https://hub.example.net:5601", EVERYWHERE, "tls://hub.example.net:4222"],
    ["192.0.2.1", "https://hub.example.net", "nats://192.0.2.1:4222", "tls://192.0.2.1:4222"],
    ["hub.example.net", "https://hub.example.net", "nats://192.0.2.1:4222", "tls://hub.example.net:4222"],
    ["2001:db8::1", "https://[2001:db8::1]", EVERYWHERE, "tls://[2001:db8::1]:4222"],
  ] as const) {
    const { certificate } = issueOwnCertificate(folder, "hub", [named]);
    const overrides = [`public.url='${publicUrl}'`, `tls.certificate=${certificate}`];
    assert.deepEqual(serversOf(natsUrl, overrides), [server]);
  }
});
