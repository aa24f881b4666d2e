/** Code that a client runs in a session, with the results of its last expression and its displays; and its contexts. */

import type { ExecutionDeps } from '#shared/application/deps.ts';
import { type CodeOutcome, endContext, runCode } from '#shared/application/execution/run-code.ts';
import { decode } from '#shared/contracts/decode.ts';
import { codeAnswer, codeBody, contextPath, contextQuery } from '#shared/contracts/rest/code-view.ts';
import { codeAnswerMsMax } from '#shared/domain/limits.ts';
import { languageOf, languages } from '#shared/domain/template.ts';
import { AppError } from '#shared/errors.ts';
import {
  insideErrors,
  type SessionSandboxPorts,
  type SessionSandboxSettings,
} from './acquire-for-request.ts';
import { type ApiRoute, pathValue, queryOf } from './api-route.ts';
import { answerWhenDone } from './keep-alive-response.ts';
import { bodyOf, fieldsOf } from './request-body.ts';
import { onSession } from './resource-route.ts';

export const codeRoutes = ({
  ports,
  settings: { lifetimes },
}: {
  readonly ports: SessionSandboxPorts & ExecutionDeps;
  readonly settings: SessionSandboxSettings;
}): readonly ApiRoute[] => [
  onSession(ports, {
    method: 'POST',
    path: '/api/sessions/{id}/code',
    needs: 'own:write',
    contract: {
      summary: 'Run code in a context that keeps its variables',
      body: codeBody,
      answers: { 200: codeAnswer },
      errors: [...insideErrors, 'unsupported_language', 'tool_outcome_unknown'],
    },
    handler: async (event, { session }) => {
      requireLanguage(fieldsOf(event, codeBody)['language']);
      const { language = languageOf(session.template), ...code } = bodyOf(event, codeBody);
      const { requestId } = event.requestContext;
      const signal = AbortSignal.timeout(codeAnswerMsMax);
      const request = { ...code, language, lifetimes, signal };
      return answerWhenDone(async () => codeView(await runCode(ports, session, request)), {
        requestId,
        telemetry: ports.telemetry,
      });
    },
  }),
  onSession(ports, {
    method: 'DELETE',
    path: '/api/sessions/{id}/contexts/{name}',
    needs: 'own:write',
    contract: {
      summary: 'End a context and lose its variables',
      query: contextQuery,
      answers: { 204: 'empty' },
      errors: ['not_found', 'sandbox_unavailable'],
    },
    handler: async (event, { session }) => {
      const path = decode(contextPath, { name: pathValue(event, 'name') });
      if (!path.ok) throw new AppError('invalid_request', path.problem);
      await endContext(ports, session, { ...path.value, ...queryOf(event, contextQuery) });
      return { statusCode: 204, headers: {}, body: '' };
    },
  }),
];

const requireLanguage = (given: unknown): void => {
  if (typeof given !== 'string' || languages.some((language) => language === given)) return;
  throw new AppError('unsupported_language', `language: use one of ${languages.join(', ')}`, {
    suggestions: ["Leave out the language to use that of the session's template."],
  });
};

const codeView = ({ program, stateLost, notices }: CodeOutcome) => {
  const { stdout, stderr, exitCode, failure, results = [], ...more } = program;
  const { type, message, suggestions, recoveryActions } = failure ?? {};
  return {
    exitCode,
    stdout,
    stderr,
    durationMs: more.execution_time_ms,
    ...(more.stdout_truncated ? { stdoutTruncated: true } : {}),
    ...(more.stderr_truncated ? { stderrTruncated: true } : {}),
    ...(failure === undefined ? {} : { error: { type, message, suggestions, recoveryActions } }),
    results,
    ...(more.results_left_out === undefined ? {} : { resultsLeftOut: more.results_left_out }),
    ...(stateLost || more.state_lost ? { stateLost: true } : {}),
    ...(notices.length === 0 ? {} : { notices }),
  };
};
