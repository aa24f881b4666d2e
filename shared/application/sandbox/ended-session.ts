/** Refusal of a request to a session that has ended: that of an agent can be resumed (resume-session.ts). */
import type { Session } from '../../domain/session.ts';
import { AppError } from '../../errors.ts';

export const endedSession = ({ kind, status }: Pick<Session, 'kind' | 'status'>): AppError =>
  new AppError('invalid_session_state', `the session is ${status}`, {
    suggestions: [...(kind === 'agent' ? [resume] : []), 'Create a new session.'],
    recoveryActions: ['create_new_session'],
  });

const resume =
  'Resume it while its history is kept: POST /api/sessions/{id}/resume, over MCP the action spawn of the tool session.';
