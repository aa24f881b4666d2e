/**
 * Processes in a session's sandbox: listed, read, written to, signalled and ended.
 *
 * None of these starts a sandbox. A caller who may only read keeps nothing running (AC5).
 */
import type { StreamedResult } from '#shared/adapters/lambda/lambda-runtime.ts';
import { followOutput } from '#shared/application/process/follow-output.ts';
import { listProcesses, showProcess } from '#shared/application/process/list-processes.ts';
import { changeProcess, endProcess, type ProcessChange } from '#shared/application/process/use-process.ts';
import {
  inputQuery,
  outputQuery,
  processAnswer,
  processesAnswer,
  resizeBody,
  signalBody,
} from '#shared/contracts/rest/process-view.ts';
import { mayUse } from '#shared/domain/access.ts';
import { isUuid } from '#shared/domain/ids.ts';
import type { Session } from '#shared/domain/session.ts';
import { AppError } from '#shared/errors.ts';
import type { SessionSandboxPorts } from './acquire-for-request.ts';
import { type ApiEvent, type ApiRoute, json, pathValue, principalOf, queryOf } from './api-route.ts';
import { answerWithEvents } from './output-stream.ts';
import { bodyOf, bytesOf } from './request-body.ts';
import { onSession } from './resource-route.ts';

type Parts = { readonly ports: SessionSandboxPorts };

const process = '/api/sessions/{id}/processes/{processId}';
const useErrors = ['not_found', 'conflict', 'sandbox_unavailable', 'resource_limit_exceeded'] as const;

export const processRoutes = (parts: Parts): readonly ApiRoute[] => [
  ...readRoutes(parts),
  ...changeRoutes(parts),
];

const readRoutes = ({ ports }: Parts): readonly ApiRoute[] => [
  onSession(ports, {
    method: 'GET',
    path: '/api/sessions/{id}/processes',
    needs: 'own:read',
    contract: {
      summary: 'List the processes',
      answers: { 200: processesAnswer },
      errors: ['sandbox_unavailable'],
    },
    handler: async (_event, { session: found }) =>
      json(200, { processes: await listProcesses(ports, found) }),
  }),
  onSession(ports, {
    method: 'GET',
    path: process,
    needs: 'own:read',
    contract: { summary: 'Show a process', answers: { 200: processAnswer }, errors: useErrors },
    handler: async (event, { session: found }) =>
      json(200, await showProcess(ports, found, processIdOf(event))),
  }),
  onSession(ports, {
    method: 'GET',
    path: `${process}/output`,
    needs: 'own:read',
    contract: {
      summary: 'Follow the output of a process, as server-sent events',
      query: outputQuery,
      answers: { 200: 'events' },
      errors: useErrors,
    },
    handler: async (event, { session: found }) => {
      const { offset = '0', follow } = queryOf(event, outputQuery);
      const isAttached = mayUse(principalOf(event), 'own:write');
      const id = processIdOf(event);
      const request = { id, offset: Number(offset), isFollowing: follow, isAttached };
      return answerWithEvents(await followOutput(ports, found, request));
    },
  }),
];

const changeRoutes = ({ ports }: Parts): readonly ApiRoute[] => {
  const change = async (event: ApiEvent, found: Session, wanted: ProcessChange): Promise<StreamedResult> => {
    await changeProcess(ports, found, { id: processIdOf(event), change: wanted });
    return nothing;
  };
  return [
    onSession(ports, {
      method: 'DELETE',
      path: process,
      needs: 'own:write',
      contract: {
        summary: 'End a process with everything that it has started',
        answers: { 200: processAnswer },
        errors: useErrors,
      },
      handler: async (event, { session: found }) =>
        json(200, await endProcess(ports, found, processIdOf(event))),
    }),
    onSession(ports, {
      method: 'POST',
      path: `${process}/stdin`,
      needs: 'own:write',
      contract: {
        summary: 'Write to the standard input of a process',
        query: inputQuery,
        body: 'bytes',
        answers: { 204: 'empty' },
        errors: useErrors,
      },
      handler: (event, { session: found }) => {
        const isLast = queryOf(event, inputQuery).eof;
        return change(event, found, { kind: 'stdin', bytes: bytesOf(event), isLast });
      },
    }),
    onSession(ports, {
      method: 'POST',
      path: `${process}/signal`,
      needs: 'own:write',
      contract: {
        summary: 'Send a signal to a process',
        body: signalBody,
        answers: { 204: 'empty' },
        errors: useErrors,
      },
      handler: (event, { session: found }) =>
        change(event, found, { kind: 'signal', ...bodyOf(event, signalBody) }),
    }),
    onSession(ports, {
      method: 'POST',
      path: `${process}/resize`,
      needs: 'own:write',
      contract: {
        summary: 'Resize the terminal of a process',
        body: resizeBody,
        answers: { 204: 'empty' },
        errors: useErrors,
      },
      handler: (event, { session: found }) =>
        change(event, found, { kind: 'resize', ...bodyOf(event, resizeBody) }),
    }),
  ];
};

const nothing: StreamedResult = { statusCode: 204, headers: {}, body: '' };

const processIdOf = (event: ApiEvent): string => {
  const id = pathValue(event, 'processId').toLowerCase();
  if (isUuid(id)) return id;
  throw new AppError('not_found', 'there is no such process');
};
