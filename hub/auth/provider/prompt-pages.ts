/** Pages of the provider's prompt: sign-in and consent. They work with a keyboard, a screen reader and without scripts. */

import { type Html, html, NOTHING } from "#hub/auth/web/page.ts";
import type { Say } from "#hub/auth/web/page-language.ts";
import type { Scope } from "./scopes.ts";

/** Common data of the forms of one prompt. */
export interface PromptForm {
  /** Path of the prompt; the sign-in posts to it, other forms to `<path>/consent` and `/cancel`. */
  readonly path: string;
  /** See `formToken`. */
  readonly token: string;
  readonly clientName: string;
  /** In the reader's language. */
  readonly say: Say;
}

const FOCUS = html` autofocus`;

/**
 * Returns the sign-in page's body. `problem`: why the last attempt failed; `name`: the prefilled name. Its form has no
 * action, so that it posts to the page's address with its fragment, which the redirects keep: a page of the dashboard.
 */
export function signInBody(form: PromptForm, name: string, problem: string): Html {
  const alert = problem === "" ? NOTHING : html`<p class="bad" role="alert" id="problem">${problem}</p>`;
  const { say } = form;
  // After a wrong password the password field has the focus.
  const [nameFocus, passwordFocus] = name === "" ? [FOCUS, NOTHING] : [NOTHING, FOCUS];
  return html`<h1>${say("Sign in")}</h1>
<p class="soft">${say("to continue to {0}", form.clientName)}</p>
${alert}
<form method="post">
<input type="hidden" name="token" value="${form.token}">
<label for="name">${say("Name")}</label>
<input id="name" name="name" value="${name}" autocomplete="username" autocapitalize="none" spellcheck="false" required${nameFocus}>
<label for="password">${say("Password")}</label>
<input id="password" name="password" type="password" autocomplete="current-password" required${passwordFocus}>
<button>${say("Sign in")}</button>
</form>
${cancelForm(form, say("Cancel"))}`;
}

/** Returns the consent page's body. `redirectHost`: where the browser goes next; `accountName`: who decides. */
export function consentBody(
  form: PromptForm,
  scopes: readonly Scope[],
  redirectHost: string,
  accountName: string,
): Html {
  const { say } = form;
  const requested = scopes.map(
    ({ url, title }) => html`<li>${say(title)}<br><span class="soft">${url}</span></li>`,
  );
  return html`<h1>${say("Allow {0}?", form.clientName)}</h1>
<p class="soft">${say("You are signed in as {0}. If you allow it, your browser goes back to {1}.", accountName, redirectHost)}</p>
<p><strong>${form.clientName}</strong> ${say("wants to do this for you, until you withdraw it:")}</p>
<ul>${requested}</ul>
<form method="post" action="${form.path}/consent">
<input type="hidden" name="token" value="${form.token}">
<button>${say("Allow")}</button>
</form>
${cancelForm(form, say("Refuse"))}`;
}

function cancelForm(form: PromptForm, text: string): Html {
  return html`<form method="post" action="${form.path}/cancel">
<input type="hidden" name="token" value="${form.token}">
<button class="plain">${text}</button>
</form>`;
}
