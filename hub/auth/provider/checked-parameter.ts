/** Parameters of requests as oidc-provider hands them on. */

/** Returns a parameter that oidc-provider has checked as text; empty where it is absent. */
export function textOf(parameter: unknown): string {
  return typeof parameter === "string" ? parameter : "";
}
