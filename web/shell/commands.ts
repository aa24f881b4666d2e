/** Commands of the palette: pages, sessions and actions that the token allows, and their order by what was typed. */
import type { Router } from 'vue-router';
import type { Session } from '#sdk/routes.ts';
import { statusLabel } from '#shared/domain/status-label.ts';
import { may } from '../access/access.ts';
import { leave } from '../access/leave.ts';
import type { IconName } from '../components/icon.vue';
import { notify } from '../components/notices.vue';
import { cancelTurn, liveState, openSessionId } from '../session/live-session.ts';
import { isAsking } from '../waiting/sessions-awaiting-approval.ts';
import { navigation } from './navigation.ts';
import { chooseTheme, theme, themes } from './window.ts';

export type PaletteCommand = {
  readonly id: string;
  readonly label: string;
  /** The group, or more about it. */
  readonly hint: string;
  readonly icon: IconName;
  readonly act: () => unknown;
};

export const commandsShownMax = 30;

export const appCommands = (router: Router): readonly PaletteCommand[] => [
  ...(may('own:write')
    ? [
        {
          ...{ id: 'new', label: 'New session', hint: 'Chat', icon: 'plus' as const },
          act: () => router.push({ name: 'chat', params: { sessionId: '' } }),
        },
      ]
    : []),
  ...sessionCommands(router),
  ...navigation
    .filter(({ permission }) => may(permission))
    .map(({ name, label, icon }) => ({
      ...{ id: name, label, hint: 'Page', icon },
      act: () =>
        router.push({
          name,
          ...(name === 'chat' ? { params: { sessionId: openSessionId.value ?? '' } } : {}),
        }),
    })),
  ...(may('own:read')
    ? [
        {
          ...{ id: 'connections', label: 'Connections', hint: 'Page', icon: 'servers' as const },
          act: () => router.push({ name: 'connections' }),
        },
      ]
    : []),
  ...themes
    .filter((one) => one !== theme.value)
    .map((one) => ({
      ...{ id: `theme-${one}`, label: `Theme: ${one}`, hint: 'Appearance', icon: 'screen' as const },
      act: () => chooseTheme(one),
    })),
  {
    ...{ id: 'sign-out', label: 'Sign out', hint: 'Access', icon: 'sign-out' },
    act: () => leave().catch(() => notify('The sign-out failed. Try again.', 'bad')),
  },
];

const panels = {
  files: 'Files',
  changes: 'Changes',
  agents: 'Agents',
  terminal: 'Terminal',
  preview: 'Preview',
  logs: 'Logs',
} as const;

/** The panel beside the conversation. */
const panelCommands = (router: Router, sessionId: string): readonly PaletteCommand[] =>
  Object.entries(panels).map(([panel, name]) => ({
    ...{
      id: `panel-${panel}`,
      label: `${name} beside the chat`,
      hint: 'This session',
      icon: 'panel' as const,
    },
    act: () => router.push({ name: 'chat', params: { sessionId }, query: { panel } }),
  }));

/** Of the open session. */
const sessionCommands = (router: Router): readonly PaletteCommand[] => {
  const sessionId = openSessionId.value;
  if (sessionId === null) return [];
  const hint = 'This session';
  const exported = (format: 'markdown' | 'json') => async () => {
    const first = liveState.value.items.find(({ kind }) => kind === 'question');
    const title = first?.kind === 'question' ? first.text : '';
    try {
      const { downloadConversation } = await import('../pages/chat/export-session.ts');
      await downloadConversation({ id: sessionId, title }, format);
    } catch (error) {
      notify(`Export failed: ${error instanceof Error ? error.message : String(error)}`, 'bad');
    }
  };
  return [
    ...(liveState.value.openQuestions > 0 && may('own:write')
      ? [{ id: 'cancel', label: 'Stop the turn', hint, icon: 'stop' as const, act: () => cancelTurn() }]
      : []),
    {
      ...{ id: 'sandbox', label: 'Sandbox and files', hint, icon: 'sandbox' },
      act: () => router.push({ name: 'sandbox', params: { sessionId } }),
    },
    ...panelCommands(router, sessionId),
    { id: 'markdown', label: 'Export as Markdown', hint, icon: 'download', act: exported('markdown') },
    { id: 'json', label: 'Export as JSON', hint, icon: 'download', act: exported('json') },
  ];
};

export const commandsOf = (router: Router, sessions: readonly Session[]): readonly PaletteCommand[] =>
  sessions.map(({ id, title, kind, status, lastStopReason, pendingApprovals }) => ({
    ...{ id, label: title ?? `Session ${id.slice(0, 8)}` },
    hint: `Session, ${isAsking({ pendingApprovals }) ? 'needs approval' : statusLabel({ status, lastStopReason })}`,
    icon: kind === 'agent' ? 'chat' : 'terminal',
    act: () => router.push({ name: kind === 'agent' ? 'chat' : 'sandbox', params: { sessionId: id } }),
  }));

/** Those that hold every word, the ones that begin with the first word before the others. */
export const matching = (commands: readonly PaletteCommand[], typed: string): readonly PaletteCommand[] => {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  const [first = ''] = words;
  const starts = ({ label }: PaletteCommand): number => Number(label.toLowerCase().startsWith(first));
  return commands
    .filter(({ label, hint }) => words.every((word) => `${label} ${hint}`.toLowerCase().includes(word)))
    .toSorted((one, other) => starts(other) - starts(one));
};
