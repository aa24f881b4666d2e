/** The shared volume as the use cases see it: who restores it, when, and who hears that it failed. */

import { describe, expect, test } from 'vitest';
import type { Checkpoint } from '../../domain/checkpoint.ts';
import type { OwnerId, ProjectId, WorkspaceId } from '../../domain/ids.ts';
import type { SandboxRecord, Workspace } from '../../domain/sandbox.ts';
import { AppError } from '../../errors.ts';
import type { RestoreOutcome, SaveOutcome, WorkspaceArchive } from '../../ports/workspace-archive.ts';
import type { SandboxDeps, StopDeps } from '../deps.ts';
import { readySandbox } from './make-sandbox-ready.ts';
import { saveWorkspace } from './save-workspace.ts';

const id = '6f1d2c3b-0000-4000-8000-000000000001' as WorkspaceId;
const owner = 'an owner' as OwnerId;
const address = 'http://10.42.0.9:8080';
const record: SandboxRecord = {
  ...{ generation: 3, state: 'starting', flavor: 'micro', template: 'python' },
  ...{ requestedAt: 1000, source: 'cold', address },
};
const workspace: Workspace = {
  ...{ id, owner, project: 'p' as ProjectId, createdAt: 0, users: [] },
  sandbox: record,
};
const checkpoint: Checkpoint = {
  ...{ id: 'c', sha256: 'a'.repeat(64), savedAt: 500, generation: 2 },
  ...{ files: 1, bytes: 1, packs: ['c'] },
};
const sandbox = { workspaceId: id, generation: 3, address, flavor: 'micro' } as const;
const missing = [{ path: 'x', reason: 'lost' }];

type World = {
  readonly keepsShared?: boolean;
  readonly stored?: Workspace;
  readonly restored?: RestoreOutcome | Error;
  readonly saved?: SaveOutcome;
  readonly isClaimed?: boolean;
};

/** Ports that do what they are told, and what they were asked. */
const open = ({ keepsShared = true, stored = workspace, restored, saved, isClaimed }: World) => {
  const asked: unknown[] = [];
  const counted: string[] = [];
  const archive: WorkspaceArchive = {
    keepsShared,
    mountsShared: false,
    restore: async (_sandbox, options) => {
      asked.push(['restore', options]);
      if (restored === undefined || restored instanceof Error) throw restored ?? new Error('not expected');
      return restored;
    },
    save: async (_sandbox, options) => {
      asked.push(['save', options]);
      if (saved === undefined) throw new Error('not expected');
      return saved;
    },
    adopt: () => Promise.reject(new Error('not expected')),
    compare: () => Promise.reject(new Error('not expected')),
    apply: () => Promise.reject(new Error('not expected')),
    remove: async () => undefined,
    forget: async () => undefined,
  };
  const ports = {
    archive,
    workspaces: {
      get: async () => stored,
      claimRestore: async (_id: WorkspaceId, _generation: number, claim: object) => {
        asked.push(['claim', claim]);
        return isClaimed === true ? undefined : 1;
      },
      unclaimRestore: async () => void asked.push(['unclaim']),
      markReady: async () => true,
      recordCheckpoint: async () => true,
    },
    link: { fetch: async () => new Response('{}') },
    sandboxLog: {
      append: async (_id: WorkspaceId, lines: readonly { readonly text: string }[]) =>
        void asked.push(['log', lines.at(-1)?.text]),
    },
    telemetry: {
      count: (name: string) => void counted.push(name),
      ...{ duration: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined },
    },
    world: {
      now: () => 2000,
      uuid: () => 'u',
      sleep: (_ms: number, signal: AbortSignal) =>
        new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve())),
    },
    bearerHash: () => 'h',
  };
  return {
    ports: ports as unknown as SandboxDeps & StopDeps,
    asked,
    counted,
  };
};

const start = { startMs: 1000, source: 'cold', generation: 3 };
const claim = { at: 2000, until: 32_000 };

describe('a sandbox that starts', () => {
  test('gets the shared volume under a claim, even if its workspace was never saved', async () => {
    const shared = { files: 2, bytes: 9, missing: [] };
    const { ports, asked, counted } = open({
      restored: { status: 'restored', files: 0, missing: [], shared },
    });
    expect((await readySandbox(ports, workspace, sandbox))?.start).toEqual({
      ...start,
      shared: { files: 2, missing: [] },
    });
    expect(asked).toEqual([
      ['claim', claim],
      ['restore', { claim: 1, owner: 'an owner' }],
      ['log', 'sandbox 3 ready after 1000 ms; 2 shared files, 0 missing'],
    ]);
    expect(counted).toEqual([]);
  });

  test('gets both concurrently, and reports missing files of each', async () => {
    const { ports, asked, counted } = open({
      restored: { status: 'restored', files: 1, missing: [], shared: { files: 0, bytes: 0, missing } },
    });
    expect((await readySandbox(ports, { ...workspace, checkpoint }, sandbox))?.start).toEqual({
      ...start,
      restored: { files: 1, savedAt: 500, missing: [] },
      shared: { files: 0, missing },
    });
    expect(asked[1]).toEqual([
      'restore',
      { claim: 1, owner: 'an owner', manifest: { id: 'c', sha256: 'a'.repeat(64) } },
    ]);
    expect(counted).toEqual(['WorkspaceRestoresIncomplete']);
  });

  test('becomes ready without the shared volume when that failed, and reports it', async () => {
    const { ports, counted } = open({
      restored: { status: 'restored', files: 0, missing: [], sharedFailed: 'it broke off' },
    });
    expect((await readySandbox(ports, workspace, sandbox))?.start).toEqual({
      ...start,
      shared: { files: 0, missing: [], failed: 'it broke off' },
    });
    expect(counted).toEqual(['WorkspaceRestoresIncomplete']);
  });

  test('waits while another caller restores it', async () => {
    const { ports, asked } = open({ isClaimed: true });
    expect(await readySandbox(ports, workspace, sandbox)).toBeUndefined();
    expect(asked).toEqual([['claim', claim]]);
  });

  test('releases the claim when it dies in between', async () => {
    const { ports, asked } = open({ restored: new AppError('sandbox_unavailable', 'gone') });
    expect(await readySandbox(ports, workspace, sandbox)).toBeUndefined();
    expect(asked.at(-1)).toEqual(['unclaim']);
  });

  test('claims and restores nothing without a checkpoint and a volume', async () => {
    const { ports, asked } = open({ keepsShared: false });
    expect((await readySandbox(ports, workspace, sandbox))?.start).toEqual(start);
    expect(asked).toEqual([['log', 'sandbox 3 ready after 1000 ms']]);
  });
});

describe('a save', () => {
  const shared = { files: 1, bytes: 1, removed: 0, leftOut: [] };

  test('names the owner', async () => {
    const { ports, asked, counted } = open({ saved: { status: 'unchanged', leftOut: [], logs: [], shared } });
    expect(await saveWorkspace(ports, sandbox)).toEqual({ status: 'saved', leftOut: [] });
    expect(asked).toEqual([['save', { id: 'u', logsAfter: 0, owner: 'an owner' }]]);
    expect(counted).toEqual([]);
  });

  test('of the workspace is valid when that of the shared volume failed, which is reported', async () => {
    const { ports, counted } = open({
      saved: { status: 'unchanged', leftOut: [], logs: [], sharedFailed: 'too large' },
    });
    expect(await saveWorkspace(ports, sandbox)).toEqual({
      status: 'saved',
      leftOut: [],
      sharedFailed: 'too large',
    });
    expect(counted).toEqual(['WorkspaceSavesFailed']);
  });

  test('that was refused reports both', async () => {
    const code = 'resource_limit_exceeded';
    const { ports } = open({ saved: { status: 'refused', code, message: 'no', sharedFailed: 'no, too' } });
    expect(await saveWorkspace(ports, sandbox)).toEqual({
      ...{ status: 'failed', code, message: 'no', isUsers: true },
      sharedFailed: 'no, too',
    });
  });

  test.each([
    ['resource_limit_exceeded', []],
    ['sandbox_unavailable', ['WorkspaceSavesFailed']],
  ])('that is refused with %s is counted if an operator can mend it', async (code, expected) => {
    const { ports, counted } = open({ saved: { status: 'refused', code, message: 'no' } });
    expect(await saveWorkspace(ports, sandbox)).toMatchObject({ status: 'failed', code });
    expect(counted).toEqual(expected);
  });
});
