/** `session`: agents in workspaces: messages to them, their events, decisions about their calls, their end. */
import { defineActionTool } from '../action-tool.ts';
import { approve, cancel, cleanup, end } from './session/control.ts';
import { message, spawn } from './session/converse.ts';
import { events, get, list } from './session/read.ts';

export const session = defineActionTool({
  name: 'session',
  description:
    'Manages sessions: agents that work in a workspace with a sandbox. A message goes to the active session of the workspace, or to a new one; poll its events, or wait for the answer.',
  actions: { message, spawn, get, list, events, approve, cancel, end, cleanup },
});
