/** What lies over a page when it is asked for: help, and the palette with its commands. Loaded then. */

import "#ui/components/shell/command-palette.ts";
import "#ui/components/shell/help-dialog.ts";

export { firstCommands, moreCommands } from "./commands.ts";
