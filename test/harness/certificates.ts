/** Certificates for tests, made by openssl: an authority, and certificates that it issues. */

import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

/** Paths of PEM files. */
export interface CertificateFiles {
  readonly certificate: string;
  readonly key: string;
}

const DAYS = "2";

/** Makes a self-signed authority `<name>.pem` in `folder`. */
export function makeAuthority(folder: string, name = "ca"): CertificateFiles {
  const files = filesOf(folder, name);
  openssl(["req", "-x509", ...NEW_KEY, "-days", DAYS, "-subj", `/CN=${name}`, ...outputs(files)]);
  return files;
}

/** Makes a self-signed `<name>.pem` for `hosts` (DNS names and addresses), as for a first try. */
export function issueOwnCertificate(
  folder: string,
  name: string,
  hosts: readonly string[],
): CertificateFiles {
  const files = filesOf(folder, name);
  const names = `subjectAltName=${namesOf(hosts)}`;
  openssl([
    "req",
    "-x509",
    ...NEW_KEY,
    "-days",
    DAYS,
    "-subj",
    `/CN=${name}`,
    "-addext",
    names,
    ...outputs(files),
  ]);
  return files;
}

/**
 * Makes `<name>.pem` for `hosts` (DNS names and addresses), issued by `authority`. One start of openssl does it, as
 * starting a program from a process of many tests takes as long as many of them. Nothing of the system's configuration
 * gets into the certificate.
 */
export function issueCertificate(
  folder: string,
  name: string,
  authority: CertificateFiles,
  hosts: readonly string[],
): CertificateFiles {
  const files = filesOf(folder, name);
  const config = join(folder, `${name}.cnf`);
  writeFileSync(
    config,
    `[req]\ndistinguished_name=subject\nx509_extensions=own\n[subject]\n[own]\nsubjectAltName=${namesOf(hosts)}\n`,
  );
  const by = ["-CA", authority.certificate, "-CAkey", authority.key];
  openssl([
    "req",
    "-x509",
    "-config",
    config,
    ...by,
    ...NEW_KEY,
    "-days",
    DAYS,
    "-subj",
    `/CN=${name}`,
    ...outputs(files),
  ]);
  return files;
}

const NEW_KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];

function namesOf(hosts: readonly string[]): string {
  return hosts.map((host) => `${/^[\d.]+$|:/.test(host) ? "IP" : "DNS"}:${host}`).join(",");
}

function filesOf(folder: string, name: string): CertificateFiles {
  return { certificate: join(folder, `${name}.pem`), key: join(folder, `${name}.key`) };
}

function outputs({ certificate, key }: CertificateFiles): string[] {
  return ["-keyout", key, "-out", certificate];
}

function openssl(args: readonly string[]): void {
  execFileSync("openssl", args, { stdio: ["ignore", "ignore", "pipe"] });
}
