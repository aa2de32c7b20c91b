import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import type { Reach } from "#hub/alerts/alert-state.ts";
import type { Writer } from "#hub/alerts/rule-store.ts";
import { ANONYMOUS, actionsOf, type Principal } from "#hub/auth/accounts/principal.ts";
import { IndexCatalog } from "#hub/cluster/catalog/index-catalog.ts";
import { silentLogger } from "#proto/kit/log.ts";
import { World } from "#test/conformance/oauth/auth-server.ts";
import { MemoryBucket } from "#test/support/kit/memory-bucket.ts";
import { indicesWithin, isReadable, presentReach, readableIndices, savedFor } from "./alert-rights.ts";

suite("a rule's writer", () => {
  let world: World;
  before(async () => {
    world = await World.start({ settings: { "auth.roles.viewer.indices": ["public-*"] } });
    await world.auth.accounts.add({ name: "root", role: "admin" }, "test");
  });
  after(() => world.stop());

  async function account(name: string): Promise<Writer> {
    const { id } = await world.auth.accounts.add({ name, role: "admin" }, "test");
    return { kind: "user", id, name };
  }

  const now = (writer: Writer): Promise<Reach> => presentReach(world.auth.authenticator, writer);

  test("has the rights that its account has now", async () => {
    const ada = await account("ada");
    assert.deepEqual(await now(ada), { indices: ["*"], internal: true });
    await world.auth.accounts.setRole("ada", "editor", ["logs-*"], "test");
    assert.deepEqual(await now(ada), { indices: ["logs-*"], internal: false });
    await world.auth.accounts.setRole("ada", "viewer", ["*"], "test");
    assert.deepEqual(await now(ada), { indices: ["public-*"], internal: false }, "of the settings");
    await world.auth.accounts.setRole("ada", "ingest", ["*"], "test");
    await assert.rejects(now(ada), { code: "forbidden", message: /account ada.*may no longer search/ });
    await world.auth.accounts.remove("ada", "test");
    const again = await account("ada");
    const removed = { code: "forbidden", message: /account ada.*was removed; save the rule again/ };
    await assert.rejects(now(ada), removed);
    assert.equal((await now(again)).internal, true, "another account of the name");
  });

  test("is gone with its API key, not with the account that made the key", async () => {
    const { view } = await world.auth.apiKeys.issue(
      { name: "ci", role: "editor", indices: ["ci-*"] },
      "somebody",
    );
    const writer = { kind: "api_key", id: view.id, name: "ci" } as const;
    assert.deepEqual(await now(writer), { indices: ["ci-*"], internal: false });
    await world.auth.apiKeys.revoke(view.id, "test");
    await assert.rejects(now(writer), { code: "forbidden", message: /API key ci.*was revoked/ });
  });
});

test("a rule saved through an application has the rights of the account while it allows the application", async (t) => {
  const world = await World.start();
  t.after(() => world.stop());
  await world.addPerson();
  const client = await world.addClient();
  const { authenticator, provider } = world.auth;
  const savedBy = async (): Promise<Writer> => {
    const { access } = await world.tokens(client);
    const headers = { authorization: `Bearer ${access}` };
    const token = await authenticator.authenticate({ method: "PUT", headers, ip: "192.0.2.1" });
    return savedFor(token).writer!;
  };
  const writer = await savedBy();
  assert.equal(writer.clientId, client.clientId);
  assert.deepEqual(await presentReach(authenticator, writer), { indices: ["*"], internal: false });
  const gone = { code: "forbidden", message: /account ada.*application.*consent/ };
  const { kind, id, name } = writer;
  await assert.rejects(
    presentReach(authenticator, { kind, id, name }),
    gone,
    "stored without its application",
  );
  await provider.consents.withdraw(id, client.clientId, name);
  await assert.rejects(presentReach(authenticator, writer), gone);
  await presentReach(authenticator, await savedBy());
  await presentReach(authenticator, writer);
  await provider.clients.remove(client.clientId, "test");
  await assert.rejects(presentReach(authenticator, writer), gone);
});

test("a rule is saved for the account or key that sends it, for nobody where nobody signs in", () => {
  const sender = { kind: "user", id: "1", name: "ada", role: "editor", indices: ["a-*"] } as const;
  const ada: Principal = { ...sender, actions: actionsOf("editor", ["a-*"]) };
  assert.deepEqual(savedFor(ada), {
    reach: { indices: ["a-*"], internal: false },
    writer: { kind: "user", id: "1", name: "ada" },
  });
  assert.deepEqual(savedFor({ ...ada, kind: "access_token", clientId: "board" }).writer, {
    kind: "access_token",
    id: "1",
    name: "ada",
    clientId: "board",
  });
  assert.deepEqual(savedFor(ANONYMOUS), { reach: { indices: ["*"], internal: true } });
});

test("a rule counts in the indices that a search by its writer would read, and is refused a name beyond", async (t) => {
  const catalog = new IndexCatalog({ bucket: new MemoryBucket(), log: silentLogger(), now: () => 0 });
  await catalog.start();
  t.after(() => catalog.stop());
  const plain = { settings: {}, mappings: {}, aliases: {} };
  for (const name of ["logs-shop", "logs-bank"]) await catalog.create(name, plain);
  const template = { index_patterns: ["*-stream"], composed_of: [], data_stream: {} };
  await catalog.templateCatalog.putComposable("streams", template);
  const stream = await catalog.createDataStream("logs-shop-stream");
  const shop = { indices: ["logs-shop*:read", "logs-bank:write"], internal: false };
  const names = (expression: string): string[] =>
    readableIndices(catalog, expression, shop).map(({ name }) => name);
  assert.deepEqual(names("logs-*").toSorted(), [stream.name, "logs-shop"].toSorted());
  assert.deepEqual(names("logs-shop-later,logs-shop"), ["logs-shop"]);
  assert.deepEqual(names("later-*"), [], "no index matches");
  assert.throws(() => readableIndices(catalog, "logs-*", { indices: ["app-*"], internal: false }), {
    code: "forbidden",
    message:
      "not run: the user who saved it may not search any index of [logs-*]; save the rule again to run it with your rights",
  });
  assert.throws(() => names("logs-shop,logs-bank"), {
    code: "forbidden",
    message:
      "not run: the user who saved it may not search [logs-bank]; save the rule again to run it with your rights",
  });
  assert.ok(isReadable(shop, stream));
  assert.ok(!isReadable(shop, { name: "logs-bank" }));
  assert.equal(readableIndices(catalog, "logs-*", { indices: ["*"], internal: true }).length, 3);
  const within = indicesWithin(catalog, "logs-shop,logs-bank", shop);
  assert.deepEqual(
    within.map(({ name }) => name),
    ["logs-shop"],
  );
  assert.deepEqual(indicesWithin(catalog, "logs-*", { indices: ["app-*"], internal: false }), []);
});
