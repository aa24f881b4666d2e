/** One session of the soak from its creation to its end, and the record of what was done in it. */
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { branch, type Random } from '../../tests/simulation/random.ts';
import { type Ask, parsed, type Target, until } from './client.ts';
import { type Listener, listen } from './listener.ts';
import type { Asked, FileSeen, LoggedEvent, ProcessSeen, Sent, SessionRecord } from './record.ts';

/** All that work needs of its surroundings. */
export type Scene = {
  readonly target: Target;
  readonly ask: Ask;
  /** On the host, the folder that sandboxes see as `/shared`. */
  readonly shared: string;
  readonly random: Random;
  /** Its listeners, so that they can be cut. */
  readonly listeners: Set<Listener>;
};

export type SoakSession = {
  readonly id: string;
  readonly newMark: () => string;
  /** A shell command that leaves its mark in the workspace and in the volume. */
  readonly leave: (mark: string) => string;
  readonly send: (text: string, sent: Omit<Sent, 'messageId'>) => Promise<string>;
  /** Returns when every message so far has its answer. */
  readonly answered: () => Promise<void>;
  readonly events: () => Promise<readonly LoggedEvent[]>;
  readonly noteFile: (seen: FileSeen) => void;
  readonly noteProcess: (seen: ProcessSeen) => void;
  readonly noteAsked: (asked: Asked) => void;
  /** Reads what is to be seen, then ends the session. */
  readonly finish: () => Promise<SessionRecord>;
};

const marksFile = 'marks.txt';

export const openSession = async (scene: Scene, work: string, options: object): Promise<SoakSession> => {
  const { ask, random } = scene;
  const made = await ask('/api/sessions', { body: { flavor: 'micro', ...options } });
  const { id } = parsed<{ readonly id: string }>(made);
  const isAgent = !('kind' in options);
  const listener = isAgent ? listen(scene.target, id, branch(random)) : undefined;
  if (listener !== undefined) scene.listeners.add(listener);
  const sent: Sent[] = [];
  const asked: Asked[] = [];
  const files: FileSeen[] = [];
  const processes: ProcessSeen[] = [];
  const events = () => readEvents(ask, id);
  return {
    id,
    events,
    newMark: () => randomUUID().slice(0, 13),
    leave: (mark) => `echo ${mark} | tee -a ${marksFile} >> /shared/${id}`,
    send: async (text, about) => {
      const messageId = randomUUID();
      sent.push({ messageId, ...about });
      await ask(`/api/sessions/${id}/messages`, { body: { text, messageId } });
      return messageId;
    },
    answered: async () => {
      await until(
        events,
        (logged) => logged.filter(({ type }) => type === 'completion').length >= sent.length,
        `${work} ${id}: ${sent.length} answers`,
      );
    },
    noteFile: (seen) => void files.push(seen),
    noteProcess: (seen) => void processes.push(seen),
    noteAsked: (one) => void asked.push(one),
    finish: async () => {
      const workspaceMarks = linesOf(await readWorkspaceFile(ask, id, marksFile));
      const logged = await events();
      if (listener !== undefined) {
        await listener.leaveAfter(logged.at(-1)?.index ?? -1);
        scene.listeners.delete(listener);
      }
      const sharedMarks = linesOf(await readFile(join(scene.shared, id), 'utf8').catch(() => ''));
      await ask(`/api/sessions/${id}`, { method: 'DELETE', also: [404, 409] });
      return {
        ...{ id, work, sent, asked, events: logged, workspaceMarks, sharedMarks, files, processes },
        ...(listener === undefined ? {} : { frames: listener.frames }),
      };
    },
  };
};

export const readEvents = async (ask: Ask, id: string): Promise<readonly LoggedEvent[]> =>
  parsed<{ readonly events: readonly LoggedEvent[] }>(await ask(`/api/sessions/${id}/events`)).events;

/** Empty where there is none. */
export const readWorkspaceFile = async (ask: Ask, id: string, path: string): Promise<string> => {
  const { status, text } = await ask(`/api/sessions/${id}/files/${path}`, { also: [404] });
  return status === 404 ? '' : text;
};

const linesOf = (text: string): readonly string[] => text.split('\n').filter((line) => line !== '');
