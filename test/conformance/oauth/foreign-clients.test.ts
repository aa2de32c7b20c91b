/** Clients written by others go through the whole flow at our provider: prompt, exchange, API call, refresh. */

import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import { OAuth2Client } from "google-auth-library";
import * as oauth from "oauth4webapi";
import * as openid from "openid-client";
import { AuthorizationCode } from "simple-oauth2";
import { REDIRECT_URI, type TestClient, World } from "./auth-server.ts";

suite("clients written by others", () => {
  let world: World;
  let client: TestClient;
  let scope: string;
  before(async () => {
    world = await World.start();
    await world.addPerson();
    world.browser = await world.signedInBrowser();
    client = await world.addClient();
    scope = world.scope("logs.read");
  });
  after(() => world.stop());

  /** Sends the browser to `url`, approves, and returns where it is sent back to. */
  async function callback(url: string): Promise<URL> {
    const page = await world.approve(world.browser, url);
    assert.ok(page.location?.startsWith(REDIRECT_URI), page.text.slice(0, 300));
    return new URL(page.location ?? "");
  }

  test("google-auth-library", async () => {
    const google = new OAuth2Client({
      client_id: client.clientId,
      client_secret: client.clientSecret,
      redirectUri: REDIRECT_URI,
      endpoints: {
        oauth2AuthBaseUrl: `${world.origin}/o/oauth2/v2/auth`,
        oauth2TokenUrl: `${world.origin}/token`,
      },
    });
    const url = google.generateAuthUrl({
      access_type: "offline",
      prompt: "consent",
      include_granted_scopes: true,
      scope: [scope],
      state: "s1",
    });
    const answer = await callback(url);
    const { tokens } = await google.getToken(answer.searchParams.get("code") ?? "");
    assert.equal(await world.apiStatus(tokens.access_token ?? ""), 200);
    google.setCredentials({ refresh_token: tokens.refresh_token ?? "" });
    const { token } = await google.getAccessToken();
    assert.notEqual(token, tokens.access_token);
    assert.equal(await world.apiStatus(token ?? ""), 200);
  });

  for (const authorizationMethod of ["body", "header"] as const) {
    test(`simple-oauth2, credentials in the ${authorizationMethod}`, async () => {
      const simple = new AuthorizationCode({
        client: { id: client.clientId, secret: client.clientSecret },
        auth: {
          tokenHost: world.origin,
          tokenPath: "/token",
          authorizePath: "/o/oauth2/v2/auth",
          revokePath: "/revoke",
        },
        options: { authorizationMethod },
      });
      const answer = await callback(simple.authorizeURL({ redirect_uri: REDIRECT_URI, scope, state: "s2" }));
      const code = answer.searchParams.get("code") ?? "";
      const token = await simple.getToken({ code, redirect_uri: REDIRECT_URI });
      assert.equal(await world.apiStatus(String(token.token["access_token"])), 200);
      const next = await token.refresh();
      assert.equal(await world.apiStatus(String(next.token["access_token"])), 200);
      await next.revoke("refresh_token");
      assert.equal(await world.apiStatus(String(next.token["access_token"])), 401);
    });
  }

  test("oauth4webapi, with metadata, PKCE and iss", async () => {
    const insecure = { [oauth.allowInsecureRequests]: true };
    const issuer = new URL(world.origin);
    const found = await oauth.discoveryRequest(issuer, { ...insecure, algorithm: "oauth2" });
    const server = await oauth.processDiscoveryResponse(issuer, found);
    const me: oauth.Client = { client_id: client.clientId };
    const secret = oauth.ClientSecretPost(client.clientSecret);
    const verifier = oauth.generateRandomCodeVerifier();
    const url = new URL(server.authorization_endpoint ?? "");
    const parameters = {
      client_id: client.clientId,
      redirect_uri: REDIRECT_URI,
      response_type: "code",
      scope,
      state: "s3",
      code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
      code_challenge_method: "S256",
    };
    for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
    const answer = oauth.validateAuthResponse(server, me, await callback(url.href), "s3");
    const exchanged = await oauth.authorizationCodeGrantRequest(
      server,
      me,
      secret,
      answer,
      REDIRECT_URI,
      verifier,
      insecure,
    );
    const tokens = await oauth.processAuthorizationCodeResponse(server, me, exchanged);
    assert.equal(await world.apiStatus(tokens.access_token), 200);
    const refreshed = await oauth.refreshTokenGrantRequest(
      server,
      me,
      secret,
      tokens.refresh_token ?? "",
      insecure,
    );
    const next = await oauth.processRefreshTokenResponse(server, me, refreshed);
    assert.equal(await world.apiStatus(next.access_token), 200);
  });

  test("openid-client", async () => {
    const config = await openid.discovery(
      new URL(world.origin),
      client.clientId,
      client.clientSecret,
      openid.ClientSecretBasic(client.clientSecret),
      { algorithm: "oauth2", execute: [openid.allowInsecureRequests] },
    );
    const verifier = openid.randomPKCECodeVerifier();
    const url = openid.buildAuthorizationUrl(config, {
      redirect_uri: REDIRECT_URI,
      scope,
      state: "s4",
      code_challenge: await openid.calculatePKCECodeChallenge(verifier),
      code_challenge_method: "S256",
    });
    const checks = { pkceCodeVerifier: verifier, expectedState: "s4" };
    const tokens = await openid.authorizationCodeGrant(config, await callback(url.href), checks);
    assert.equal(await world.apiStatus(tokens.access_token), 200);
    const next = await openid.refreshTokenGrant(config, tokens.refresh_token ?? "");
    assert.equal(await world.apiStatus(next.access_token), 200);
  });

  test("our own client, by auth_url and token_url", async () => {
    const callbackUri = `${world.origin}/api/connections/callback`;
    const own = await world.addClient([callbackUri]);
    const { connections } = world.auth;
    const providerId = await connections.providers.add(
      {
        name: "Ours",
        auth_url: world.origin,
        token_url: world.origin,
        client_id: own.clientId,
        client_secret: own.clientSecret,
        scope,
        credentials_in: "query",
        api_hosts: [new URL(world.origin).host],
      },
      "ada",
    );
    const url = await connections.connect({ providerId, name: "ada" }, "binding", "ada");
    const form = await world.browser.follow(await world.browser.get(url), world.origin);
    const resumed = await world.browser.submit(form, "/consent");
    const left = await world.browser.get(resumed.location ?? "");
    const { id } = await connections.finish(new URL(left.location ?? "").searchParams, "binding");
    assert.equal((await connections.call(id, { url: `${world.origin}/sample/search` })).status, 200);
  });
});
