/** Programs that a client runs in a session's sandbox: to their end, with their output as events, or as a process. */
import type * as z from 'zod';
import type { StreamedResult } from '#shared/adapters/lambda/lambda-runtime.ts';
import { followOutput } from '#shared/application/process/follow-output.ts';
import { type ProgramOutcome, runProgram } from '#shared/application/process/run-program.ts';
import { type Program, startProcess } from '#shared/application/process/start-process.ts';
import { saveWorkspace } from '#shared/application/sandbox/save-workspace.ts';
import { decodeStored } from '#shared/contracts/decode.ts';
import { iso } from '#shared/contracts/fields.ts';
import { startedProcess } from '#shared/contracts/process.ts';
import {
  execAnswer,
  execBody,
  execContinues,
  startedAnswer,
  startProcessBody,
} from '#shared/contracts/rest/process-view.ts';
import { processWaitMsMax } from '#shared/domain/limits.ts';
import type { Session } from '#shared/domain/session.ts';
import {
  insideErrors,
  openingFor,
  type SessionSandboxPorts,
  type SessionSandboxSettings,
} from './acquire-for-request.ts';
import { type ApiRoute, json } from './api-route.ts';
import { answerWhenDone } from './keep-alive-response.ts';
import { acceptsEvents, answerWithEvents } from './output-stream.ts';
import { bodyOf } from './request-body.ts';
import { onSession } from './resource-route.ts';

const startErrors = [...insideErrors, 'file_not_found', 'tool_outcome_unknown'] as const;

/** A program is waited for until then, and its workspace may be saved for minutes: the answer begins before a proxy ends it. */
const execSilenceMs = processWaitMsMax + 5000;

type Parts = {
  readonly ports: SessionSandboxPorts;
  readonly settings: SessionSandboxSettings;
  readonly silenceMs?: number;
};

export const programRoutes = ({ ports, settings, silenceMs = execSilenceMs }: Parts): readonly ApiRoute[] => {
  const opening = openingFor(settings);

  const streamProgram = async (found: Session, program: Program): Promise<StreamedResult> => {
    const request = { program, opening, waitMs: 0, isRecorded: true };
    const { id, opened, response } = await startProcess(ports, found, request);
    try {
      await response.body?.cancel();
      const output = await followOutput(ports, found, { id, offset: 0, isFollowing: true, isAttached: true });
      return answerWithEvents(output, async () => {
        await saveWorkspace(ports, opened.sandbox);
      });
    } catch (error) {
      // A refusal would have the client send the program again: it runs, and its output is asked for by its name.
      const about = { sessionId: found.id, processId: id };
      ports.telemetry.warn('the output of a program that runs was not read', { error, ...about });
      return answerWithEvents(namingStream(id));
    }
  };

  return [
    onSession(ports, {
      method: 'POST',
      path: '/api/sessions/{id}/exec',
      needs: 'own:write',
      contract: {
        summary: 'Run a program; with Accept: text/event-stream, follow its output',
        body: execBody,
        answers: { 200: execAnswer, 202: execContinues },
        errors: startErrors,
      },
      handler: async (event, { session: found }) => {
        const { stdin, ...fields } = bodyOf(event, execBody);
        const program = { ...fields, ...(stdin === undefined ? {} : { stdin: base64Of(stdin) }) };
        if (acceptsEvents(event)) return streamProgram(found, program);
        let status = 200;
        const work = async (): Promise<unknown> => {
          const outcome = await runProgram(ports, found, { program, opening });
          if (outcome.status === 'ended') return execView(outcome);
          status = 202;
          return { processId: outcome.processId };
        };
        const { requestId } = event.requestContext;
        const { telemetry } = ports;
        return answerWhenDone(work, { requestId, telemetry, silenceMs, status: () => status });
      },
    }),
    onSession(ports, {
      method: 'POST',
      path: '/api/sessions/{id}/processes',
      needs: 'own:write',
      contract: {
        summary: 'Start a process that outlives the request',
        body: startProcessBody,
        answers: { 201: startedAnswer },
        errors: startErrors,
      },
      handler: async (event, { session: found }) => {
        const program = bodyOf(event, startProcessBody);
        const request = { program, opening, isRecorded: true };
        const { response } = await startProcess(ports, found, request);
        const { startedAt, ...started } = decodeStored(startedProcess(), await response.json());
        return json(201, { ...started, startedAt: iso(startedAt) });
      },
    }),
  ];
};

/** The events of a process whose output could not be read yet. */
const namingStream = (processId: string): ReadableStream<Uint8Array> =>
  new Blob([`event: start\ndata: ${JSON.stringify({ processId })}\n\n`]).stream();

const base64Of = (text: string): string => Buffer.from(text).toString('base64');

type Ended = Extract<ProgramOutcome, { status: 'ended' }>;

const execView = ({ result, failure, notices }: Ended): z.output<typeof execAnswer> => {
  const { exitCode, stdout, stderr, durationMs, stdoutTruncated, stderrTruncated } = result;
  return {
    ...{ exitCode, stdout, stderr, durationMs },
    ...(stdoutTruncated ? { stdoutTruncated } : {}),
    ...(stderrTruncated ? { stderrTruncated } : {}),
    ...(failure === undefined
      ? {}
      : {
          error: {
            type: failure.type,
            message: failure.message,
            suggestions: [...failure.suggestions],
            recoveryActions: [...failure.recoveryActions],
          },
        }),
    ...(notices.length === 0 ? {} : { notices: [...notices] }),
  };
};
