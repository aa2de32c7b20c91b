/**
 * The hubs of a cluster derive from `cluster.secret` a certificate authority, whose certificates they show each other, and
 * the password of the hubs at their nats-servers. Only a holder of the secret can issue a certificate that the others
 * accept. Certificates: RFC 5280, with Ed25519 keys (RFC 8410).
 */

import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  hkdfSync,
  type KeyObject,
  randomBytes,
  scryptSync,
  sign,
} from "node:crypto";
import { isIP } from "node:net";
import { bits, integer, isTrue, objectId, octets, sequence, set, tagged, text, time } from "./der.ts";

/** A shorter secret could be guessed from the authority's public key, which any client that connects can read. */
export const SHORTEST_SECRET = 32;

/** Makes guessing slow as well: 2^15 rounds over 8 KiB take 0.1 s. */
const SCRYPT = { N: 2 ** 15, r: 8, p: 1, maxmem: 64 * 1024 ** 2 };
const SALT = "tailrace cluster secret, version 1";
const KEY_BYTES = 32;

/** The same on all hubs: membership must not depend on clocks. */
const VALID = { from: "200101000000Z", to: "99991231235959Z" };
const ED25519 = "1.3.101.112";
const ID = {
  commonName: "2.5.4.3",
  basicConstraints: "2.5.29.19",
  keyUsage: "2.5.29.15",
  extendedKeyUsage: "2.5.29.37",
  subjectAltName: "2.5.29.17",
  serverAuthentication: "1.3.6.1.5.5.7.3.1",
  clientAuthentication: "1.3.6.1.5.5.7.3.2",
} as const;
/** Bits of the key usage: digitalSignature; keyCertSign. */
const SIGNS = { data: bits(Buffer.from([0x80]), 7), certificates: bits(Buffer.from([0x04]), 2) };
/** PKCS #8 before the 32 bytes of an Ed25519 key. */
const PKCS8_PREFIX = Buffer.from("302e020100300506032b657004220420", "hex");

/** PEM texts of a hub. */
export interface ClusterCertificate {
  readonly authority: string;
  readonly certificate: string;
  readonly key: string;
}

export interface ClusterCredentials {
  /** Password of the hubs at each other's nats-servers. */
  readonly token: string;
  /** Key of the vault, 32 bytes as base64. */
  readonly vaultKey: string;
  /** Issues a certificate with a new key for the names and addresses `hosts`. */
  issue(hosts: readonly string[]): ClusterCertificate;
}

/** Returns the credentials; the same secret gives the same authority and token. Takes 0.1 s. */
export function clusterCredentials(secret: string): ClusterCredentials {
  return credentialsOf(scryptSync(secret, SALT, KEY_BYTES, SCRYPT));
}

/** The same for a secret that contains 32 random bytes, which can't be guessed. */
export function randomCredentials(secret: string): ClusterCredentials {
  return credentialsOf(createHash("sha256").update(secret).digest());
}

function credentialsOf(root: Buffer): ClusterCredentials {
  const derive = (use: string): Buffer => Buffer.from(hkdfSync("sha256", root, "", use, KEY_BYTES));
  const seed = derive("authority");
  const signer = createPrivateKey({
    key: Buffer.concat([PKCS8_PREFIX, seed]),
    format: "der",
    type: "pkcs8",
  });
  const authorityName = nameOf("tailrace cluster");
  const own = { issuer: authorityName, signer };
  const authority = certify({
    ...own,
    subject: authorityName,
    key: createPublicKey(signer),
    serial: createHash("sha256").update("authority").digest().subarray(0, 8),
    extensions: [
      extension(ID.basicConstraints, sequence(isTrue()), true),
      extension(ID.keyUsage, SIGNS.certificates, true),
    ],
  });
  return {
    token: derive("nats").toString("base64url"),
    vaultKey: derive("vault").toString("base64"),
    issue: (hosts) => ({ authority, ...issueTo(hosts, own) }),
  };
}

/** Makes a key and its certificate. */
function issueTo(
  hosts: readonly string[],
  signing: Pick<Certified, "issuer" | "signer">,
): Pick<ClusterCertificate, "certificate" | "key"> {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  const uses = [objectId(ID.serverAuthentication), objectId(ID.clientAuthentication)];
  const certificate = certify({
    ...signing,
    subject: nameOf("tailrace hub"),
    key: publicKey,
    serial: Buffer.concat([Buffer.from([1]), randomBytes(15)]),
    extensions: [
      extension(ID.keyUsage, SIGNS.data, true),
      extension(ID.extendedKeyUsage, sequence(...uses)),
      extension(ID.subjectAltName, sequence(...hosts.map(alternativeName))),
    ],
  });
  return { certificate, key: privateKey.export({ format: "pem", type: "pkcs8" }).toString() };
}

interface Certified {
  readonly issuer: Buffer;
  readonly signer: KeyObject;
  readonly subject: Buffer;
  readonly key: KeyObject;
  readonly serial: Buffer;
  readonly extensions: readonly Buffer[];
}

/** Returns a certificate as PEM. */
function certify({ issuer, signer, subject, key, serial, extensions }: Certified): string {
  const algorithm = sequence(objectId(ED25519));
  const version3 = tagged(0xa0, integer(Buffer.from([2])));
  const content = sequence(
    version3,
    integer(serial),
    algorithm,
    issuer,
    sequence(time(VALID.from), time(VALID.to)),
    subject,
    key.export({ format: "der", type: "spki" }),
    tagged(0xa3, sequence(...extensions)),
  );
  const der = sequence(content, algorithm, bits(sign(null, content, signer)));
  const lines = der.toString("base64").match(/.{1,64}/g)!;
  return `-----BEGIN CERTIFICATE-----\n${lines.join("\n")}\n-----END CERTIFICATE-----\n`;
}

function nameOf(commonName: string): Buffer {
  return sequence(set(sequence(objectId(ID.commonName), text(commonName))));
}

function extension(id: string, value: Uint8Array, critical = false): Buffer {
  return sequence(objectId(id), ...(critical ? [isTrue()] : []), octets(value));
}

/** GeneralName: iPAddress or dNSName. */
function alternativeName(host: string): Buffer {
  if (isIP(host) === 0) return tagged(0x82, Buffer.from(host, "latin1"));
  return tagged(0x87, isIP(host) === 4 ? Buffer.from(host.split(".").map(Number)) : addressBytes(host));
}

/** The 16 bytes of an IPv6 address. */
function addressBytes(host: string): Buffer {
  const [head = "", tail] = new URL(`http://[${host}]`).hostname.slice(1, -1).split("::");
  const groups = (part: string): string[] => (part === "" ? [] : part.split(":"));
  const [before, after] = [groups(head), groups(tail ?? "")];
  const zeros = tail === undefined ? 0 : 8 - before.length - after.length;
  const all = [...before, ...Array<string>(zeros).fill("0"), ...after];
  return Buffer.from(all.map((group) => group.padStart(4, "0")).join(""), "hex");
}
