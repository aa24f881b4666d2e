/**
 * The simulated model's calls of the tool `session`: it knows its children as a model does, from the results in its history,
 * and at times names one that is not its own.
 */
import type { HistoryMessage } from '#shared/domain/history.ts';
import type { JsonObject } from '#shared/domain/json.ts';
import { sessionTool } from '#shared/domain/tools.ts';
import type { Random } from './random.ts';

/** With these words begins what an agent says to another. */
export const promptOfAgents = 'work on ';

const actions = [
  'spawn',
  'spawn',
  'spawn',
  'spawn',
  'message',
  'message',
  'get',
  'list',
  'events',
  'end',
] as const;
const lookers = ['get', 'list', 'events'] as const;
const sessionIds = /session_id"?: ?"?([0-9a-f-]{36})/g;

export const childrenKnownFrom = (history: readonly HistoryMessage[]): readonly string[] => [
  ...new Set(
    history.flatMap((message) =>
      message.role === 'tool' && message.name === sessionTool.name
        ? [...message.text.matchAll(sessionIds)].map(([, id]) => String(id))
        : [],
    ),
  ),
];

type Told = {
  readonly history: readonly HistoryMessage[];
  readonly isSlicing: boolean;
  readonly looksOnly: boolean;
};

/** Short ones are used up while their agents work. */
const slicesSeconds = [3, 20, 90, 600];

/** Arguments of a call; with `looksOnly` it starts nothing any more. */
export const sessionArgs = (random: Random, { history, isSlicing, looksOnly }: Told): JsonObject => {
  const known = childrenKnownFrom(history);
  const isFirst = known.length === 0 && !looksOnly && random.chance(0.9);
  const action = isFirst ? 'spawn' : random.pick<(typeof actions)[number]>(looksOnly ? lookers : actions);
  const isStranger = known.length === 0 || random.chance(0.05);
  const of = { action, session_id: isStranger ? random.uuid() : random.pick(known) };
  const said = { prompt: `${promptOfAgents}${random.uuid()}`, wait: !random.chance(0.3) };
  switch (action) {
    case 'spawn': {
      const workspace = random.pick(['shared', 'shared', 'own']);
      const part = isSlicing && random.chance(0.7) ? { max_sandbox_seconds: random.pick(slicesSeconds) } : {};
      return { action, ...said, workspace, model: `demo-${random.uuid()}`, ...part };
    }
    case 'message':
      return { ...of, ...said };
    case 'list':
      return { action };
    default:
      return of;
  }
};
