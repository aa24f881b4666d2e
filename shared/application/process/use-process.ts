/**
 * The use of a process that was started: its input, signals, terminal size and end. No sandbox is started, and a process
 * that was lost with its sandbox takes nothing more.
 */
import { frameConnectionHeader, frameOrderHeader, frameTimeHeader } from '../../contracts/process.ts';
import type { ProcessView } from '../../contracts/rest/process-view.ts';
import type { Session } from '../../domain/session.ts';
import { AppError, isAppError } from '../../errors.ts';
import type { Deps, ProcessDeps } from '../deps.ts';
import { refusalOf } from '../sandbox/sandbox-server-error.ts';
import { askSandbox, type SandboxQuestion } from './ask-sandbox.ts';
import { requireRecord, showProcess, showRecorded } from './list-processes.ts';

type ProcessRequest = Omit<SandboxQuestion, 'path'> & { readonly id: string; readonly rest: string };

/** The sandbox's answer to a request below `/processes/<id>`; undefined for one that its sandbox no longer knows. */
export const askProcess = async (
  ports: ProcessDeps,
  { workspace }: Session,
  { id, rest, ...request }: ProcessRequest,
): Promise<Response | undefined> => {
  const response = await askSandbox(ports, workspace, { ...request, path: `/processes/${id}${rest}` });
  if (response?.ok) return response;
  if (response !== undefined && response.status !== 404) throw await refusalOf(response);
  await response?.body?.cancel();
  await requireRecord(ports, workspace, id);
  return undefined;
};

/** The frame that brought a change. */
export type ChangeFrame = {
  readonly connection: string;
  /** The time of its receipt, in epoch milliseconds. */
  readonly at: number;
  /** Its number among those of its connection for the process. */
  readonly order?: number | undefined;
};

export type ProcessChange =
  | { readonly kind: 'stdin'; readonly bytes: Uint8Array; readonly isLast: boolean }
  | { readonly kind: 'signal'; readonly signal: string }
  | { readonly kind: 'resize'; readonly cols: number; readonly rows: number };

export const changeProcess = async (
  ports: ProcessDeps,
  session: Session,
  {
    id,
    change,
    frame,
  }: { readonly id: string; readonly change: ProcessChange; readonly frame?: ChangeFrame },
): Promise<void> => {
  const { rest, headers, body } = requestOf(change);
  const response = await askProcess(ports, session, {
    ...{ id, method: 'POST', rest, body },
    headers: { ...headers, ...(frame === undefined ? {} : headersOf(frame)) },
  });
  await response?.body?.cancel();
  if (response === undefined) throw new AppError('conflict', 'the process has ended with its sandbox');
};

type Headers = Readonly<Record<string, string>>;

const headersOf = ({ connection, at, order }: ChangeFrame): Headers => ({
  [frameConnectionHeader]: connection,
  [frameTimeHeader]: String(at),
  ...(order === undefined ? {} : { [frameOrderHeader]: String(order) }),
});

const requestOf = (
  change: ProcessChange,
): { readonly rest: string; readonly headers: Headers; readonly body: string | Uint8Array } => {
  const fields = { 'content-type': 'application/json' };
  switch (change.kind) {
    case 'stdin':
      return { rest: `/stdin?eof=${change.isLast ? 1 : 0}`, headers: {}, body: change.bytes };
    case 'signal':
      return { rest: '/signal', headers: fields, body: JSON.stringify({ signal: change.signal }) };
    case 'resize': {
      const { cols, rows } = change;
      return { rest: '/resize', headers: fields, body: JSON.stringify({ cols, rows }) };
    }
  }
};

/** Ends all of it, and shows how it ended, which its record keeps; one that is lost has ended. */
export const endProcess = async (
  ports: ProcessDeps & Deps<'world'>,
  session: Session,
  id: string,
): Promise<ProcessView> => {
  const { workspace } = session;
  const response = await askProcess(ports, session, { id, rest: '', method: 'DELETE' });
  await response?.body?.cancel();
  if (response === undefined) return showRecorded(ports, workspace, id);
  const ended = await showProcess(ports, session, id).catch(unlessUnavailable);
  if (ended?.endedAt !== undefined) return ended;
  // Its sandbox no longer says how it ended. It still does not count as lost.
  await ports.processes.end(workspace, id, { at: ports.world.now() });
  return showRecorded(ports, workspace, id);
};

const unlessUnavailable = (error: unknown): undefined => {
  if (!isAppError(error) || error.code !== 'sandbox_unavailable') throw error;
};
