import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { connect, createServer, type TLSSocket } from "node:tls";
import { type ClusterCertificate, clusterCredentials } from "./cluster-credentials.ts";

const SECRET = "0123456789abcdef0123456789abcdef";
const HOSTS = ["hub-1.example.net", "127.0.0.1", "2001:db8::7", "::1"];
/** Deriving takes a tenth of a second, by intent. */
const [first, second, other] = [SECRET, SECRET, `${SECRET}!`].map(clusterCredentials);

test("the same secret gives the same authority and password, another one others", () => {
  assert.equal(first!.issue([]).authority, second!.issue([]).authority);
  assert.equal(first!.token, second!.token);
  assert.notEqual(first!.issue([]).authority, other!.issue([]).authority);
  assert.notEqual(first!.token, other!.token);
  assert.notEqual(first!.issue([]).key, first!.issue([]).key);
});

test("a certificate names the given hosts and is signed by the authority", () => {
  const { authority, certificate } = first!.issue(HOSTS);
  const [ca, leaf] = [new X509Certificate(authority), new X509Certificate(certificate)];
  assert.ok(ca.ca && !leaf.ca);
  assert.ok(leaf.checkIssued(ca) && leaf.verify(ca.publicKey) && ca.verify(ca.publicKey));
  assert.equal(leaf.checkHost("hub-1.example.net"), "hub-1.example.net");
  for (const address of HOSTS.slice(1)) assert.equal(leaf.checkIP(address), address);
  assert.equal(leaf.checkIP("2001:db8::8"), undefined);
});

/** Returns "accepted", or the code of the error by which one side ends the connection. */
async function greet(server: ClusterCertificate, client: ClusterCertificate): Promise<string> {
  const options = ({ authority, certificate, key }: ClusterCertificate) => ({
    ca: authority,
    cert: certificate,
    key,
  });
  const listener = createServer({ ...options(server), requestCert: true, rejectUnauthorized: true });
  listener.on("secureConnection", (socket: TLSSocket) => socket.end("accepted"));
  listener.on("tlsClientError", () => undefined);
  listener.listen(0, "127.0.0.1");
  await once(listener, "listening");
  const socket = connect({
    ...options(client),
    port: (listener.address() as AddressInfo).port,
    host: "127.0.0.1",
  });
  try {
    const [data] = (await once(socket, "data")) as [Buffer];
    return data.toString();
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? String(error);
  } finally {
    socket.destroy();
    listener.close();
  }
}

test("two hubs accept each other's certificates only if they have the same secret", async () => {
  const [own, same, foreign] = [first, second, other].map((each) => each!.issue(HOSTS));
  assert.equal(await greet(own!, same!), "accepted");
  assert.notEqual(await greet(own!, foreign!), "accepted");
});
