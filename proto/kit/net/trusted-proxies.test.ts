import assert from "node:assert/strict";
import { test } from "node:test";
import { TrustedProxies } from "./trusted-proxies.ts";

const PROXIES = new TrustedProxies(["10.0.0.0/8", "192.0.2.7", "2001:db8::/32"]);

const ROWS: readonly (readonly [
  what: string,
  peer: string,
  header: string | string[] | undefined,
  client: string,
])[] = [
  ["nothing forwarded", "10.0.0.1", undefined, "10.0.0.1"],
  ["a proxy's client", "10.0.0.1", "198.51.100.9", "198.51.100.9"],
  ["somebody who isn't a proxy", "203.0.113.5", "198.51.100.9", "203.0.113.5"],
  ["a client that claims to be another one", "10.0.0.1", "203.0.113.66, 198.51.100.9", "198.51.100.9"],
  ["two proxies", "192.0.2.7", "198.51.100.9, 10.1.2.3", "198.51.100.9"],
  ["two headers", "192.0.2.7", ["1.1.1.1", "198.51.100.9, 10.1.2.3"], "198.51.100.9"],
  ["an IPv4 address in a socket for both families", "::ffff:10.0.0.1", "198.51.100.9", "198.51.100.9"],
  ["IPv6", "2001:db8::1", "2001:db9::5", "2001:db9::5"],
  ["what isn't an address", "10.0.0.1", "198.51.100.9, unknown", "10.0.0.1"],
  ["proxies alone", "10.0.0.1", "10.0.0.3, 10.0.0.2", "10.0.0.3"],
  ["nothing in it", "10.0.0.1", "", "10.0.0.1"],
];

for (const [what, peer, header, client] of ROWS)
  test(`the client of ${what}`, () => assert.equal(PROXIES.clientOf(peer, header), client));

for (const proxy of ["balancer", "10.0.0.0/33", "10.0.0.0/8/8", "10.0.0.0/", ""])
  test(`"${proxy}" isn't a proxy`, () => {
    assert.throws(() => new TrustedProxies([proxy]), { code: "settings_invalid" });
  });

test("without proxies nobody is believed", () => {
  assert.equal(new TrustedProxies([]).clientOf("127.0.0.1", "198.51.100.9"), "127.0.0.1");
});
