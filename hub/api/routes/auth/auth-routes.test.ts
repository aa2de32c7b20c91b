import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import { describeRoutes } from "#hub/api/http/openapi.ts";
import { type Route, rightsOf } from "#hub/api/http/route.ts";
import { authRoutes } from "#hub/api/routes/auth/all.ts";
import { silentLogger } from "#proto/kit/log.ts";
import { World } from "#test/conformance/oauth/auth-server.ts";

/** Routes that check a one-time secret, a client's secret or a form's token themselves. */
const OPEN = [
  "GET /.well-known/oauth-authorization-server",
  "GET /api/auth/callback",
  "GET /api/auth/login",
  "GET /api/auth/setup/{token}",
  "GET /api/connections/callback",
  "GET /introspect",
  "GET /o/oauth2/v2/auth",
  "GET /o/oauth2/v2/auth/{uid}",
  "GET /o/oauth2/v2/prompt/{uid}",
  "GET /revoke",
  "GET /token",
  "POST /api/agents/enroll",
  "POST /api/auth/setup/{token}",
  "POST /introspect",
  "POST /o/oauth2/v2/prompt/{uid}",
  "POST /o/oauth2/v2/prompt/{uid}/cancel",
  "POST /o/oauth2/v2/prompt/{uid}/consent",
  "POST /revoke",
  "POST /token",
];
/** Routes that every signed-in principal may call. */
const SIGNED_IN = ["GET /api/auth/me", "HEAD /api/auth/me", "POST /api/auth/logout", "POST /api/auth/ticket"];

suite("routes of authentication", () => {
  let world: World;
  let routes: Route[];
  before(async () => {
    world = await World.start();
    routes = authRoutes(world.auth, silentLogger());
  });
  after(() => world.stop());

  function namesOf(wanted: (route: Route) => boolean): string[] {
    const rows = routes.filter(wanted);
    return rows.flatMap(({ methods, paths }) => methods.map((method) => `${method} ${paths[0]}`)).sort();
  }

  test("those without a sign-in, and those for everybody signed in, are exactly the known ones", () => {
    assert.deepEqual(
      namesOf(({ caller }) => caller === "anybody"),
      OPEN,
    );
    assert.deepEqual(
      namesOf((route) => route.caller === undefined && rightsOf(route).length === 0),
      SIGNED_IN,
    );
  });

  test("all have a body limit of at most 64 KiB where they take a body", () => {
    const large = routes.filter(
      ({ methods, maxBodyBytes = Infinity }) => methods.includes("POST") && maxBodyBytes > 65_536,
    );
    assert.deepEqual(large, []);
  });

  test("the interface's description has their bodies and parameters", () => {
    const { paths } = describeRoutes("1", [{ prefix: "", tag: "authentication", routes }]);
    const found = JSON.stringify(paths);
    for (const path of ["/o/oauth2/v2/auth", "/token", "/api/auth/accounts", "/api/connections"])
      assert.ok(Object.hasOwn(paths as object, path), path);
    assert.match(found, /"application\/x-www-form-urlencoded"/);
    assert.match(found, /"redirect_uris":\{"type":"array"/);
    assert.match(found, /"name":"code_challenge","in":"query"/);
  });
});
