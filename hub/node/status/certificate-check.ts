/** Health of the listeners' certificate: how long it is valid, and whether a replaced one is in use. */

import { X509Certificate } from "node:crypto";
import { DAY_MS } from "#proto/kit/units.ts";
import { durationText } from "./duration-text.ts";
import { type HealthCheck, OK } from "./health.ts";

/** Renewal programs act when a third of the lifetime is left: with less than half of that, renewal has failed. */
const SHORT_SHARE = 1 / 6;
const SHORT_MS = 14 * DAY_MS;

export interface CertificateParts {
  /** The certificate in use, PEM; undefined without TLS. */
  readonly certificate: () => Buffer | undefined;
  /** Why replaced files are not in use; empty without a reason. */
  readonly problem: () => string;
  /** ms since 1970. */
  readonly now: () => number;
}

/** Returns a check that is degraded while the certificate needs renewal, and failing once clients refuse it. */
export function certificateCheck({ certificate, problem, now }: CertificateParts): HealthCheck {
  return () => {
    const pem = certificate();
    if (pem === undefined) return OK;
    const { validFromDate, validToDate } = new X509Certificate(pem);
    const leftMs = validToDate.getTime() - now();
    if (leftMs <= 0)
      return { level: "failing", reason: `the certificate expired ${durationText(leftMs)} ago` };
    if (now() < validFromDate.getTime())
      return { level: "failing", reason: `the certificate is valid from ${validFromDate.toISOString()} on` };
    if (problem() !== "") return { level: "degraded", reason: `the old certificate is in use: ${problem()}` };
    const lifetimeMs = validToDate.getTime() - validFromDate.getTime();
    if (leftMs >= Math.min(SHORT_MS, lifetimeMs * SHORT_SHARE)) return OK;
    return { level: "degraded", reason: `the certificate expires in ${durationText(leftMs)}` };
  };
}
