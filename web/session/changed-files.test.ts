/** Files that a conversation changed. */
import { expect, test } from 'vitest';
import { changedFiles, textBefore } from './changed-files.ts';
import type { CallItem } from './items.ts';
import { emptyOutput } from './text-stream.ts';

type Given = Partial<CallItem> & { readonly id: string };

const call = ({ id, ...given }: Given): CallItem => ({
  ...{
    kind: 'call',
    id,
    callId: id,
    childSession: null,
    name: 'execute_command',
    args: {},
    argsCutSeq: null,
  },
  ...{ request: null, decided: null, status: 'done', decision: null, queue: null, live: emptyOutput },
  ...{ content: [], problem: null, cutSeq: null, durationMs: 5 },
  ...given,
});
const write = (path: string, content: string, given: Given): CallItem =>
  call({ name: 'write_file', args: { path, content }, ...given });

test('a file is listed once, with its newest text, the newest change first', () => {
  const items = [
    write('a.txt', 'one', { id: '1' }),
    write('b.txt', 'two', { id: '2' }),
    write('/workspace/a.txt', 'three', { id: '3' }),
  ];
  expect(changedFiles(items)).toEqual([
    { path: 'a.txt', itemId: '3', written: { before: null, after: 'three' }, times: 2 },
    { path: 'b.txt', itemId: '2', written: { before: null, after: 'two' }, times: 1 },
  ]);
});

test('a call that was rejected, failed or waits changed nothing', () => {
  const statuses = ['rejected', 'failed', 'waiting', 'ended'] as const;
  expect(changedFiles(statuses.map((status) => write('a', 'x', { id: status, status })))).toEqual([]);
});

test('what a tried call did to files is listed', () => {
  const file = { path: 'out.log', change: 'created', bytes: 3 } as const;
  const effect = { files: [file], exitCode: 0, output: '', hosts: [], durationMs: 1 };
  const request = { turnId: 't', digest: 'd', askedAt: '', isCut: false, effect };
  const items = [call({ id: '1', request })];
  expect(changedFiles(items)).toEqual([{ path: 'out.log', itemId: '1', effect: file, times: 1 }]);
});

test('the text before is that of the last earlier write of the same file', () => {
  const edited = {
    isApproved: true,
    by: { kind: 'mode' },
    at: '',
    reason: null,
    editedArgs: { path: 'a', content: '2' },
  };
  const items = [
    write('a', '1', { id: '1' }),
    write('./a', 'asked', { id: '2', decided: edited as unknown as CallItem['decided'] }),
    write('b', 'other', { id: '3' }),
    write('a', '3', { id: '4' }),
  ];
  expect(textBefore(items, items[3] as CallItem)).toBe('2');
  expect(textBefore(items, items[0] as CallItem)).toBe(null);
});
