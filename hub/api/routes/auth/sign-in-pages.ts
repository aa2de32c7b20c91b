/** The page that creates the first administrator, and the page of a sign-in that failed. */

import { type Html, html, NOTHING } from "#hub/auth/web/page.ts";
import type { Say } from "#hub/auth/web/page-language.ts";

/** Returns the body of the set-up page; `problem`: why the last attempt failed. */
export function setupBody(say: Say, action: string, formToken: string, name: string, problem: string): Html {
  const alert = problem === "" ? NOTHING : html`<p class="bad" role="alert">${problem}</p>`;
  return html`<h1>${say("Make the first administrator")}</h1>
<p class="soft">${say("This link works once.")}</p>
${alert}
<form method="post" action="${action}">
<input type="hidden" name="token" value="${formToken}">
<label for="name">${say("Name")}</label>
<input id="name" name="name" value="${name}" autocomplete="username" autocapitalize="none" spellcheck="false" required autofocus>
<label for="password">${say("Password, 10 characters or more")}</label>
<input id="password" name="password" type="password" autocomplete="new-password" minlength="10" required>
<button>${say("Create and sign in")}</button>
</form>`;
}

/** Returns the body of the page for a failed sign-in, with a link to sign in again. */
export function failureBody(say: Say, title: string, reason: string): Html {
  return html`<h1>${say(title)}</h1>
<p>${say(reason)}</p>
<p><a href="/api/auth/login">${say("Sign in")}</a></p>`;
}
