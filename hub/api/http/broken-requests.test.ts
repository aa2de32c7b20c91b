import assert from "node:assert/strict";
import { connect } from "node:net";
import { after, before, test } from "node:test";
import { FakeHub } from "#test/support/api/fake-hub.ts";

const hub = new FakeHub();

before(() => hub.start());
after(() => hub.stop());

const HEADS: readonly (readonly [string, number, RegExp])[] = [
  [
    "nonsense\r\n\r\n",
    400,
    /"illegal_argument_exception","reason":"the request is not valid HTTP: Invalid method/,
  ],
  [
    "GET / HTTP/1.1\r\nhost: localhost\r\ncontent-length: x\r\n\r\n",
    400,
    /not valid HTTP: Invalid character in Content-Length/,
  ],
  [
    `GET / HTTP/1.1\r\nhost: localhost\r\nx: ${"y".repeat(40_000)}\r\n\r\n`,
    431,
    /too_long_frame.*send parameters in the body/,
  ],
  [
    "PROPFIND /_cluster/health HTTP/1.1\r\nhost: localhost\r\n\r\n",
    405,
    /Incorrect HTTP method.*\[PROPFIND\]/,
  ],
  [
    "PROPFIND /nothing/x/y/z HTTP/1.1\r\nhost: localhost\r\n\r\n",
    400,
    /no handler found for uri \[\/nothing/,
  ],
  ["GET http://localhost/_cluster/health?local HTTP/1.1\r\nhost: localhost\r\n\r\n", 200, /"cluster_name"/],
  ["GET http://localhost HTTP/1.1\r\nhost: localhost\r\n\r\n", 200, /"cluster_name"/],
];

for (const [head, status, body] of HEADS) {
  test(`${head.slice(0, 60).replaceAll("\r\n", " ")} is answered with ${status} and a reason`, async () => {
    const answer = await answerTo(head);
    assert.match(answer, new RegExp(`^HTTP/1\\.1 ${status} `));
    assert.match(answer, body);
  });
}

test("the offer of HTTP/2 on a plain connection isn't taken up: the request is answered", async () => {
  const offer =
    "connection: upgrade, http2-settings\r\nupgrade: h2c\r\nhttp2-settings: AAMAAABkAARAAAAAAAIAAAAA\r\n";
  assert.match(await answerTo(`GET / HTTP/1.1\r\nhost: localhost\r\n${offer}\r\n`), /^HTTP\/1\.1 200 /);
});

/** Returns all that the server sends for the bytes of a client. */
async function answerTo(sent: string): Promise<string> {
  const socket = connect(Number(new URL(hub.server.addresses.http).port), "127.0.0.1");
  socket.setEncoding("utf8").end(sent);
  let received = "";
  for await (const text of socket as AsyncIterable<string>) received += text;
  return received;
}
