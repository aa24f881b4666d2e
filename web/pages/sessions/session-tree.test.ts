import { expect, test } from 'vitest';
import type { Session } from '#sdk/routes.ts';
import { activeBelow, rowsOf, type Shown, treeCost, treeOf } from './session-tree.ts';

const session = (id: string, facts: Partial<Session> = {}): Session => ({
  id,
  kind: 'agent',
  status: 'idle',
  project: 'p',
  workspace: 'w',
  flavor: 'small',
  template: 'python',
  provider: 'demo',
  model: 'demo',
  approvals: 'ask',
  createdAt: '2026-01-01T00:00:00.000Z',
  lastActiveAt: '2026-01-01T00:00:00.000Z',
  expiresAt: '2026-01-01T00:15:00.000Z',
  uptimeSeconds: 0,
  ...{ labels: {}, archived: false, idleSeconds: 900, network: 'none', envNames: [] },
  depth: 0,
  sandbox: null,
  usage: { inputTokens: 0, outputTokens: 0 },
  costUsd: 1,
  pendingApprovals: [],
  ...facts,
});
const at = (hour: number): string => `2026-01-01T0${hour}:00:00.000Z`;
const call = {
  ...{ turnId: 't', callId: 'c', name: 'execute_command', args: {}, digest: 'd' },
  ...{ askedAt: at(1), queuePosition: 1, totalInQueue: 1 },
};

const sessions = [
  session('old', { lastActiveAt: at(1) }),
  session('new', { lastActiveAt: at(5) }),
  session('root', { lastActiveAt: at(2) }),
  session('child', { parent: 'root', status: 'completed', lastActiveAt: at(3) }),
  session('grandchild', { parent: 'child', pendingApprovals: [call], lastActiveAt: at(2) }),
  session('sibling', { parent: 'root', lastActiveAt: at(4) }),
  session('stray', { parent: 'on another page', lastActiveAt: at(3) }),
];
const everything: Shown = { matches: () => true, closed: new Set<string>() };
const shown = (options: Partial<Shown>) =>
  rowsOf(treeOf(sessions), { ...everything, ...options }).map(
    ({ node, level, isContext }) => `${'>'.repeat(level)} ${node.session.id}${isContext ? ' (context)' : ''}`,
  );

test('children are under their parent, pending approvals come first, then the latest activity', () => {
  expect(shown({})).toEqual([
    '> root',
    '>> child',
    '>>> grandchild',
    '>> sibling',
    '> new',
    '> stray',
    '> old',
  ]);
});

test('sessions below a folded one are hidden', () => {
  expect(shown({ closed: new Set(['child']) }).slice(0, 3)).toEqual(['> root', '>> child', '>> sibling']);
});

test('a match keeps its ancestors', () => {
  expect(shown({ matches: ({ id }: Session) => id === 'grandchild' })).toEqual([
    '> root (context)',
    '>> child (context)',
    '>>> grandchild',
  ]);
});

test('a tree counts pending approvals, cost and the sessions that a stop ends', () => {
  const [root] = treeOf(sessions);
  if (root === undefined) throw new Error('no tree');
  expect([root.waiting, root.activeAt, treeCost(root), activeBelow(root)]).toEqual([1, at(4), 4, 2]);
});

test('a node is the same object until its session or a child changes', () => {
  const [root] = treeOf(sessions);
  expect(treeOf([...sessions])[0]).toBe(root);
  const changed = treeOf(sessions.map((session) => (session.id === 'grandchild' ? { ...session } : session)));
  expect(changed[0]).not.toBe(root);
  expect(changed[0]).toEqual(root);
});
