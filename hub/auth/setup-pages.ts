/** The page that makes the first administrator, and the page of a sign-in that failed. */

import { type Html, html, NOTHING } from "./html.ts";

/** Returns the body of the set-up page; `problem`: why the last try failed. */
export function setupBody(action: string, formToken: string, name: string, problem: string): Html {
  const alert = problem === "" ? NOTHING : html`<p class="bad" role="alert">${problem}</p>`;
  return html`<h1>Make the first administrator</h1>
<p class="soft">This link works once.</p>
${alert}
<form method="post" action="${action}">
<input type="hidden" name="token" value="${formToken}">
<label for="name">Name</label>
<input id="name" name="name" value="${name}" autocomplete="username" autocapitalize="none" spellcheck="false" required autofocus>
<label for="password">Password, 10 characters or more</label>
<input id="password" name="password" type="password" autocomplete="new-password" minlength="10" required>
<button>Create and sign in</button>
</form>`;
}

/** Returns the body of the page of a failure, with a way on. */
export function failureBody(title: string, reason: string): Html {
  return html`<h1>${title}</h1>
<p>${reason}</p>
<p><a href="/api/auth/login">Sign in</a></p>`;
}
