/** Pages of the app in the order of their navigation, and the state of the command palette. */
import { shallowRef } from 'vue';
import type { Permission } from '../access/access.ts';
import type { IconName } from '../components/icon.vue';

export const navigation = [
  { name: 'chat', label: 'Chat', icon: 'chat', permission: 'own:read' },
  { name: 'approvals', label: 'Approvals', icon: 'arch', permission: 'own:write' },
  { name: 'sessions', label: 'Sessions', icon: 'sessions', permission: 'own:read' },
  { name: 'projects', label: 'Projects', icon: 'projects', permission: 'own:read' },
  { name: 'schedules', label: 'Schedules', icon: 'schedules', permission: 'own:read' },
  { name: 'servers', label: 'MCP servers', icon: 'servers', permission: 'own:read' },
  { name: 'webhooks', label: 'Webhooks', icon: 'webhook', permission: 'own:read' },
  { name: 'models', label: 'Models', icon: 'models', permission: 'global:read' },
  { name: 'usage', label: 'Usage', icon: 'usage', permission: 'own:read' },
  { name: 'tokens', label: 'Tokens', icon: 'tokens', permission: 'admin' },
  { name: 'operator', label: 'Operator', icon: 'operator', permission: 'own:read' },
  { name: 'audit', label: 'Audit log', icon: 'audit', permission: 'admin:read' },
] as const satisfies readonly { name: string; label: string; icon: IconName; permission: Permission }[];

export const isPaletteOpen = shallowRef(false);

/** Typed between the chord and the palette's first drawing, as its code may still be loading; undefined while nothing is kept. */
const typedAhead = shallowRef<string>();

export const openPalette = (): void => {
  typedAhead.value = '';
  isPaletteOpen.value = true;
};

export const closePalette = (): void => {
  typedAhead.value = undefined;
  isPaletteOpen.value = false;
};

/** True for a letter that the palette will show, and the page below must not get. */
export const keepTyped = ({ key, ctrlKey, metaKey, altKey }: KeyboardEvent): boolean => {
  if (typedAhead.value === undefined || ctrlKey || metaKey || altKey || key.length !== 1) return false;
  typedAhead.value += key;
  return true;
};

/** For the palette, once it has the focus. */
export const takeTyped = (): string => {
  const text = typedAhead.value ?? '';
  typedAhead.value = undefined;
  return text;
};
