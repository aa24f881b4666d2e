/** A program behind OpenCode's wire that breaks its connections at every moment: the turn is told, and no program is left behind. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test, vi } from 'vitest';
import { type RuntimeFact, type RuntimePrompt, runtimeSilenceSecondsMax } from '#shared/domain/runtime.ts';
import type { ProcessControl, UserSide } from '../../user-side.ts';
import type { AgentListener } from '../agent-program.ts';
import { createOpencode } from './opencode-program.ts';

const prompt: RuntimePrompt = {
  ...{ runtime: 'opencode', conversation: 'one', text: 'hello', provider: 'anthropic', model: 'm' },
  asks: 'everything',
};

type Breaks = (request: IncomingMessage, response: ServerResponse) => void;
const reset: Breaks = ({ socket }) => void socket.resetAndDestroy();
const part: Breaks = ({ socket }, response) =>
  void response.writeHead(200, { 'content-length': 100 }).write('{"id":', () => socket.resetAndDestroy());
const ended: Breaks = (_, response) => void response.end('data: {');
const noJson: Breaks = (_, response) => void response.writeHead(200).end('<html>');

/** A server that does as it should, but for one path. */
const openServer = async (path: string, breaks: Breaks): Promise<number> => {
  const server = createServer((request, response) => {
    request.resume();
    const asked = `${request.method} ${request.url}`;
    if (asked === path) return breaks(request, response);
    if (asked === 'GET /event') return void response.writeHead(200).flushHeaders();
    response.writeHead(200).end(asked === 'GET /session' ? '[]' : '{"id":"s"}');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
};

const openProgram = async (path: string, breaks: Breaks) => {
  const exit = Promise.withResolvers<Awaited<ProcessControl['ended']>>();
  exit.promise.catch(() => undefined);
  const counted = { started: 0, killed: 0 };
  const control: ProcessControl = {
    pid: 1,
    ended: exit.promise,
    kill: () => {
      counted.killed += 1;
      exit.reject(new Error('it was killed'));
    },
    isLost: () => false,
    ask: () => Promise.reject(new Error('it is asked nothing')),
  };
  const startProcess: UserSide['startProcess'] = async () => {
    counted.started += 1;
    return control;
  };
  const userSide = { startProcess } as unknown as UserSide;
  return { counted, program: createOpencode({ userSide, workspace: '/w' }, await openServer(path, breaks)) };
};

const openListener = () => {
  const over = Promise.withResolvers<RuntimeFact>();
  const listener: AgentListener = {
    fact: (fact) => fact.type === 'ended' && over.resolve(fact),
    delta: () => undefined,
    room: async () => undefined,
  };
  return { listener, over: over.promise };
};

test.each([
  ['GET /event', reset],
  ['GET /session', reset],
  ['GET /session', part],
  ['GET /session', noJson],
  ['POST /session', part],
  ['POST /session/s/prompt_async', reset],
  ['POST /session/s/prompt_async', part],
])('a prompt is refused when %s breaks', async (path, breaks) => {
  const { program } = await openProgram(path, breaks);
  await expect(program.prompt(prompt, openListener().listener)).rejects.toThrow();
});

test('a program whose events cannot be heard is not left behind', async () => {
  const { program, counted } = await openProgram('GET /event', reset);
  await expect(program.prompt(prompt, openListener().listener)).rejects.toThrow();
  expect(counted).toEqual({ started: 1, killed: 1 });
});

test.each([reset, ended])('a turn ends as lost when its events break off', async (breaks) => {
  let begin = (): void => undefined;
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const { program, counted } = await openProgram('GET /event', (request, response) => {
    response.writeHead(200).flushHeaders();
    void begun.then(() => response.write('data: {"type"', () => breaks(request, response)));
  });
  const { listener, over } = openListener();
  await program.prompt(prompt, listener);
  begin();
  expect(await over).toMatchObject({ type: 'ended', reason: 'lost' });
  await expect.poll(() => counted.killed).toBe(1);
});

test('a program that waits for a person is not silent; without a question it is stopped, which is said once', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const question = { id: 'per_1', sessionID: 's', permission: 'bash', patterns: ['ls'], metadata: {} };
  const event = JSON.stringify({ type: 'permission.asked', properties: question });
  const { program } = await openProgram('GET /event', (_, response) => {
    response.writeHead(200).flushHeaders();
    void begun.promise.then(() => response.write(`data: ${event}\n\n`));
  });
  const begun = Promise.withResolvers<void>();
  const asked = Promise.withResolvers<void>();
  const faults: RuntimeFact[] = [];
  const turn = await program.prompt(prompt, {
    fact: (fact) => {
      if (fact.type === 'asked') asked.resolve();
      if (fact.type === 'fault') faults.push(fact);
    },
    delta: () => undefined,
    room: async () => undefined,
  });
  begun.resolve();
  await asked.promise;
  const longMs = (runtimeSilenceSecondsMax + 10) * 1000;
  vi.advanceTimersByTime(longMs);
  expect(faults).toEqual([]);
  await turn.reply({ permission: 'per_1', approved: true });
  vi.advanceTimersByTime(longMs);
  expect(faults).toEqual([{ type: 'fault', message: 'OpenCode was silent for too long' }]);
});
