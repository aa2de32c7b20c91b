/** The dashboard's session of a browser, which a cookie holds. */

import type { IncomingHttpHeaders } from "node:http";
import type { Sessions } from "#hub/auth/accounts/sessions.ts";
import type { Cookies } from "#hub/auth/web/cookies.ts";
import type { SignInResult } from "./dashboard-sign-in.ts";

/** Name of the dashboard's cookie. */
export const SESSION_COOKIE = "tailrace_session";

/** Opens a new session for an account and ends the browser's previous one. Returns the Set-Cookie header's value. */
export async function openSession(
  { cookies, sessions }: { readonly cookies: () => Cookies; readonly sessions: Sessions },
  { headers, ip }: { readonly headers: IncomingHttpHeaders; readonly ip: string },
  { id, account, atProvider }: Pick<SignInResult, "id" | "account" | "atProvider">,
): Promise<string> {
  const before = cookies().read(headers.cookie, SESSION_COOKIE);
  const secret = await sessions.open(id, account.epoch, {
    ip,
    userAgent: headers["user-agent"] ?? "",
    ...(before !== undefined && { before }),
    ...(atProvider !== undefined && { atProvider }),
  });
  return cookies().write(SESSION_COOKIE, secret);
}
