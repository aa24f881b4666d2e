/**
 * Cast of the cases: tokens of every kind, sessions and projects of several owners, made before.
 *
 * A case names them as `{{name}}`. No case starts a sandbox: owners of execution sessions have as many as allowed,
 * and the sessions of a case are ended, another owner's, or agents that run no tool unasked.
 */
import type { Server } from '../server.ts';

export type Cast = {
  readonly port: number;
  readonly names: ReadonlyMap<string, string>;
  /** Texts that no answer may hold. */
  readonly secrets: readonly string[];
  /** Sessions that were there before the first case. */
  readonly sessions: readonly string[];
  /** Every id that an answer gave. */
  readonly told: Set<string>;
};

const uuids = /[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/g;

export const noteIds = ({ told }: Pick<Cast, 'told'>, text: string): void => {
  for (const [id] of text.matchAll(uuids)) told.add(id);
};

/** Of one owner; the cast holds it. */
export const executionSessionsMax = 1;

export const tokenNames = [
  'admin',
  'reader',
  'project',
  'projectReader',
  'foreign',
  'revoked',
  'expired',
] as const;

const expiryMs = 1000;

export const prepareCast = async (server: Server): Promise<Cast> => {
  const as =
    (token: string) =>
    async <T extends { id: string; token: string }>(path: string, body?: object, method = 'POST') => {
      const init = { method, headers: { authorization: `Bearer ${token}` } };
      const response = await server.request(
        path,
        body === undefined ? init : { ...init, body: JSON.stringify(body) },
      );
      if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
      return (await response.json()) as T;
    };
  const admin = as(server.token);
  const [own, other] = [
    await admin('/api/projects', { name: 'own' }),
    await admin('/api/projects', { name: 'other' }),
  ];
  const tokenOf = (scope: string, more = {}) => admin('/api/tokens', { name: 'fuzz', scope, ...more });
  const reader = await tokenOf('admin:ro');
  const project = await tokenOf(`project:${own.id}`);
  const projectReader = await tokenOf(`project:${own.id}:ro`);
  const foreign = await tokenOf(`project:${other.id}`);
  const [spent, revoked] = [await tokenOf('admin:ro'), await tokenOf('admin')];
  await admin(`/api/tokens/${revoked.id}`, undefined, 'DELETE');
  const expired = await tokenOf('admin', { expiresInSeconds: expiryMs / 1000 });

  const sessions: string[] = [];
  const sessionOf = async (token: string, options: object): Promise<string> => {
    const { id } = await as(token)('/api/sessions', options);
    sessions.push(id);
    return id;
  };
  for (const token of [server.token, project.token, foreign.token])
    await sessionOf(token, { kind: 'execution' });
  // No case brings these back: an execution session is not resumed.
  const ended = await sessionOf(server.token, { kind: 'execution' });
  const endedOfProject = await sessionOf(project.token, { kind: 'execution' });
  const theirs = await sessionOf(foreign.token, { kind: 'execution' });
  for (const id of [ended, endedOfProject, theirs]) await admin(`/api/sessions/${id}`, undefined, 'DELETE');
  const ticket = (await admin<{ ticket: string } & { id: string; token: string }>('/api/tickets')).ticket;
  await new Promise((resolve) => setTimeout(resolve, expiryMs + 100));

  const tokens = {
    admin: server.token,
    reader: reader.token,
    project: project.token,
    projectReader: projectReader.token,
  };
  const others = { foreign: foreign.token, revoked: revoked.token, expired: expired.token };
  const names = new Map(
    Object.entries({
      ...tokens,
      ...others,
      ticket,
      ownProject: own.id,
      otherProject: other.id,
      spentToken: spent.id,
      ended,
      endedOfProject,
      spare: await sessionOf(server.token, {}),
      talk: await sessionOf(server.token, {}),
      theirs,
      theirSpare: await sessionOf(foreign.token, {}),
      nothing: '8c1b6e8e-93b5-4b57-9d0c-5c4f0e0d9a11',
    }),
  );
  const secrets = [...Object.values({ ...tokens, ...others }), server.home];
  return { port: Number(new URL(server.url).port), names, secrets, sessions, told: new Set() };
};

/** `{{fill:N}}` is N characters: a body of megabytes is not carried through every step of a generator. */
export const spoken = ({ names }: Pick<Cast, 'names'>, text: string): string =>
  text
    .replaceAll(/\{\{(\w+)\}\}/g, (whole, name: string) => names.get(name) ?? whole)
    .replaceAll(/\{\{fill:(\d+)\}\}/g, (_, length: string) => 'x'.repeat(Number(length)));

/** Where a name stands for an id of the kind that a path or a field asks for. */
export const idHints = {
  // A session whose sandbox would have to start for the answer is not among them.
  quietSession: ['{{ended}}', '{{endedOfProject}}', '{{theirs}}', '{{nothing}}', 'no-id'],
  anySession: [
    '{{spare}}',
    '{{talk}}',
    '{{ended}}',
    '{{endedOfProject}}',
    '{{theirs}}',
    '{{nothing}}',
    'no-id',
  ],
  project: ['{{ownProject}}', '{{otherProject}}', '{{nothing}}'],
  token: ['{{spentToken}}', '{{nothing}}', '{{ownProject}}'],
} as const;
