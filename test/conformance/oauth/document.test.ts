/** The commands of docs/delegated-access.md, run as they stand there against a hub; the prompts are answered in between. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { TestHub } from "#test/harness/hub.ts";
import { Workspace } from "#test/harness/workspace.ts";
import { Browser } from "./browser.ts";

const ROOT = resolve(import.meta.dirname, "../../..");
const PASSWORD = "correct horse battery";

test("each command of the page works, in their order", async (t) => {
  const workspace = new Workspace(t);
  const hub = new TestHub({ dataDir: workspace.path("hub-data"), settings: { "auth.mode": "required" } });
  workspace.defer(() => hub.destroy());
  await hub.start();
  const page = readFileSync(join(ROOT, "docs/delegated-access.md"), "utf8")
    .replaceAll("./data/hub", hub.dataDir)
    .replaceAll("http://127.0.0.1:5601", hub.dashboardUrl)
    .replaceAll("http://127.0.0.1:9200", hub.searchUrl);
  const blocks = [...page.matchAll(/^```sh\n([\s\S]*?)^```/gm)].map(([, text = ""]) => text);
  const env: NodeJS.ProcessEnv = {
    ...process.env,
    PATH: `${join(ROOT, "hub/bin")}:${process.env["PATH"] ?? ""}`,
  };
  /** Runs the block that has `text` among its lines; `input` is typed at its prompt. */
  const run = (text: string, variables: Record<string, string> = {}, input = ""): string => {
    const block = blocks.find((each) => each.includes(text));
    assert.ok(block !== undefined, text);
    const options = { encoding: "utf8", env: { ...env, ...variables }, input } as const;
    const { status, stdout, stderr } = spawnSync("bash", ["-euo", "pipefail", "-c", block], options);
    assert.equal(status, 0, stderr);
    return stdout;
  };
  const printed = run("client add");
  const printedAs = (name: string): string => new RegExp(`${name}\\s+(\\S+)`).exec(printed)?.[1] ?? "";
  const client = { client_id: printedAs("client_id"), client_secret: printedAs("client_secret") };
  run("user add ada", {}, `${PASSWORD}\n`);
  const at = blocks.findIndex((each) => each.includes("ID_PRINTED_ABOVE"));
  blocks[at] = blocks[at]!.replace("ID_PRINTED_ABOVE", client.client_id).replace(
    "SECRET_PRINTED_ABOVE",
    client.client_secret,
  );
  const address = run("/o/oauth2/v2/auth?").trim();
  const variables = { ...client, hub: hub.dashboardUrl, redirect_uri: "http://127.0.0.1:8080/callback" };
  const code = await allow(hub.dashboardUrl, address);
  const tokens = JSON.parse(run("grant_type=authorization_code", { ...variables, code })) as Record<
    string,
    string
  >;
  const { access_token = "", refresh_token = "" } = tokens;
  const used = run("grant_type=refresh_token", { ...variables, access_token, refresh_token });
  assert.match(used, /"hits"/, "the token is taken at the search interface");
  assert.match(used, /"access_token":/, "it can be refreshed");
  const again = await fetch(`${hub.dashboardUrl}/token`, {
    method: "POST",
    body: new URLSearchParams({ grant_type: "refresh_token", refresh_token, ...client }),
  });
  assert.equal(((await again.json()) as { error: string }).error, "invalid_grant", "it is revoked");
});

/** Signs ada in and allows the access; returns the code. */
async function allow(origin: string, address: string): Promise<string> {
  const browser = new Browser();
  let page = await browser.follow(await browser.get(address), origin);
  page = await browser.follow(
    await browser.submit(page, "/sign-in", { name: "ada", password: PASSWORD }),
    origin,
  );
  if (page.text.includes("/consent"))
    page = await browser.follow(await browser.submit(page, "/consent"), origin);
  return new URL(page.location ?? "").searchParams.get("code") ?? "";
}
