/** OpenCode's events as facts, on its wire as it was recorded from version 1.18.33. */
import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import type { RuntimeFact } from '#shared/domain/runtime.ts';
import { createOpencodeFacts } from './opencode-facts.ts';
import { opencodeEvent, rulesOf } from './opencode-wire.ts';

/** Of the first session that it names: the others are beside it, or under it. */
const heard = async (recorded: string) => {
  const text = await readFile(new URL(`fixtures/${recorded}.jsonl`, import.meta.url), 'utf8');
  const lines = text.trim().split('\n');
  const [, session = ''] = /"id":\s*"(ses_\w+)"/.exec(text) ?? [];
  const facts = createOpencodeFacts(session, '/workspace');
  const events = lines.flatMap((line) => {
    const { success, data } = opencodeEvent.safeParse(JSON.parse(line));
    return success ? [data] : [];
  });
  const all = events.map((event) => facts.read(event));
  return { facts: all.flatMap((one) => one.facts), deltas: all.flatMap((one) => one.deltas) };
};

const kinds = (facts: readonly RuntimeFact[]): readonly string[] => facts.map(({ type }) => type);

test('a turn with a question: each text, call and output once, in their order', async () => {
  const { facts, deltas } = await heard('question');
  expect(kinds(facts)).toEqual([
    ...['reasoning', 'text', 'call', 'asked', 'output', 'step'],
    ...['text', 'step', 'ended'],
  ]);
  expect(facts[0]).toMatchObject({ text: 'I think so' });
  expect(facts[3]).toMatchObject({ name: 'bash', args: { command: 'echo hi > a.txt && cat a.txt' } });
  expect(facts[4]).toMatchObject({ name: 'bash', text: 'hi\n', isError: false });
  expect(facts[5]).toMatchObject({ model: 'claude-x', usage: { inputTokens: 10, outputTokens: 7 } });
  expect(facts.at(-1)).toEqual({ type: 'ended', reason: 'finished' });
  const said = deltas.filter(({ kind }) => kind === 'text').map(({ text }) => text);
  expect(said.join('')).toBe('Running.All done here, the end.');
});

test('a sub-agent is named, and its calls and questions are its own', async () => {
  const { facts } = await heard('sub-agent');
  const started = facts.find(({ type }) => type === 'sub-agent');
  expect(started).toMatchObject({ agent: expect.stringContaining('sub') });
  const of = facts.filter((fact) => 'agent' in fact && fact.type !== 'sub-agent');
  expect(kinds(of)).toEqual(expect.arrayContaining(['asked', 'call', 'output', 'step']));
  expect(facts.filter(({ type }) => type === 'ended')).toHaveLength(1);
  expect(facts.at(-1)).toMatchObject({ type: 'ended', reason: 'finished' });
});

test('an edit names its file within the workspace, and shows its diff before', async () => {
  const { facts } = await heard('edit');
  expect(facts.find(({ type }) => type === 'file')).toEqual({ type: 'file', path: 'b.txt' });
  const asked = facts.find(({ type }) => type === 'asked');
  expect(asked).toMatchObject({ name: 'edit', args: { diff: expect.stringContaining('+written') } });
});

test('a rejected call has an output that says so, and with a reason the program goes on', async () => {
  const { facts } = await heard('rejection');
  expect(facts.find(({ type }) => type === 'output')).toMatchObject({ isError: true });
  expect(kinds(facts).slice(-3)).toEqual(['text', 'step', 'ended']);
});

test('a model that is tried in vain too often is a failure', () => {
  const facts = createOpencodeFacts('ses_1', '/workspace');
  const status = (attempt: number) => ({
    type: 'session.status' as const,
    properties: { sessionID: 'ses_1', status: { type: 'retry', attempt, message: 'no connection' } },
  });
  facts.read(status(1));
  expect(facts.isStuck()).toBe(false);
  facts.read(status(5));
  expect(facts.isStuck()).toBe(true);
  expect(facts.read({ type: 'session.idle', properties: { sessionID: 'ses_1' } }).facts).toEqual([
    { type: 'ended', reason: 'failed', message: 'the model could not be reached: no connection' },
  ]);
});

test('the rules of a conversation: the last that fits counts', () => {
  const actionOf = (asks: Parameters<typeof rulesOf>[0], permission: string) =>
    rulesOf(asks).findLast((rule) => rule.permission === '*' || rule.permission === permission)?.action;
  expect(['bash', 'edit', 'read', 'question'].map((name) => actionOf('everything', name))).toEqual([
    'ask',
    'ask',
    'ask',
    'deny',
  ]);
  expect(['bash', 'edit', 'read'].map((name) => actionOf('changes', name))).toEqual(['ask', 'ask', 'allow']);
  expect(['bash', 'edit', 'read'].map((name) => actionOf('commands', name))).toEqual([
    'ask',
    'allow',
    'allow',
  ]);
  expect(['bash', 'edit', 'read'].map((name) => actionOf('nothing', name))).toEqual([
    'allow',
    'allow',
    'allow',
  ]);
});
