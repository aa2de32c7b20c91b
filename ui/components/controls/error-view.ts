/** Shows an error in words, with what to do. */

import { html, type TemplateResult } from "lit";
import type { HubError } from "#ui/services/hub/json-call.ts";
import { sentence } from "#ui/services/text/sentence.ts";

/** Returns the box of a failed call; its styles are `notices`. */
export function errorView(fault: HubError): TemplateResult {
  return html`<div class="notice fault" role="alert">
    <p><strong>${sentence(fault.message)}</strong> ${fault.hint}</p>
  </div>`;
}
