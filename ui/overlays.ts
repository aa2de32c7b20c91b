/** What lies over a page when it is asked for: help, and the palette with its commands. Loaded then. */

import "./components/command-palette.ts";
import "./components/help-dialog.ts";

export { firstCommands, moreCommands } from "./commands.ts";
