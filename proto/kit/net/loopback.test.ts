import assert from "node:assert/strict";
import { test } from "node:test";
import { isLoopbackHost } from "./loopback.ts";

test("localhost and the addresses of loopback are loopback, in every form that URLs and settings have", () => {
  for (const host of [
    "localhost",
    "LOCALHOST",
    "127.0.0.1",
    "127.255.0.3",
    "::1",
    "[::1]",
    "0:0:0:0:0:0:0:1",
    "::ffff:127.0.0.1",
    "[::ffff:7f00:1]",
  ])
    assert.ok(isLoopbackHost(host), host);
});

test("names and addresses that others may reach are not loopback", () => {
  for (const host of [
    "",
    "0.0.0.0",
    "::",
    "128.0.0.1",
    "127.0.0.1.example.com",
    "127.example.com",
    "localhost.example.com",
    "foo.localhost",
    "::ffff:10.0.0.1",
    "::2",
    "[::1]:80",
  ])
    assert.ok(!isLoopbackHost(host), host);
});
