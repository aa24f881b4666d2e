/**
 * `platform_tools` and `platform_call_tool`: the tools of `/mcp` that a program inside a sandbox may call, with the actions that it
 * may use. A session that is not of its tree is answered like one that does not exist.
 */
import type { ContentBlock } from '@modelcontextprotocol/server';
import { sessionNotFound } from '#shared/application/access/find-session.ts';
import { descendantNamed } from '#shared/application/session/message-from-sandbox.ts';
import { platformCallParams, platformToolsParams } from '#shared/contracts/relay/method-params.ts';
import { mayUse } from '#shared/domain/access.ts';
import { sandboxActions, sandboxTarget } from '#shared/domain/relay/sandbox-rights.ts';
import type { Session } from '#shared/domain/session.ts';
import { AppError } from '#shared/errors.ts';
import type { ShownTool, Tool } from '../define-tool.ts';
import { toolbox } from '../toolbox.ts';
import { type MethodContext, neverAborted, paramsOf } from './method-context.ts';

export const listPlatformTools = async (params: unknown, { principal }: MethodContext) => {
  paramsOf(platformToolsParams, params);
  const tools = toolbox.flatMap((tool) => {
    const shown = shownInSandbox(tool, (permission) => mayUse(principal, permission));
    if (shown === undefined) return [];
    const { outputSchema: _, ...rest } = shown;
    return [rest];
  });
  return { tools };
};

type Permits = Parameters<Tool['shownTo']>[0];

const shownInSandbox = (tool: Tool, permits: Permits): ShownTool | undefined => {
  const actions = sandboxActions(tool.name);
  if (actions !== undefined) return tool.shownTo(permits, actions);
  return sandboxTarget(tool.name, undefined) === undefined ? undefined : tool.shownTo(permits);
};

export const callPlatformTool = async (params: unknown, context: MethodContext) => {
  const { name, arguments: input } = paramsOf(platformCallParams, params);
  const tool = toolbox.find((one) => one.name === name);
  if (tool === undefined) throw new AppError('not_found', 'there is no such tool');
  const action = input['action'];
  const target = sandboxTarget(name, action);
  if (target === undefined) throw refused(name, action);
  const aimed = target === 'none' ? input : await aimedAt(context, input, target);
  const blocks: ContentBlock[] = [];
  const { ports, settings, principal, deadlineAt } = context;
  const signal = neverAborted();
  const fields = await tool.run(aimed, {
    ...{ ports, settings, principal, deadlineAt, signal, gone: signal },
    tell: () => undefined,
    onProgress: () => undefined,
    onSession: () => undefined,
    onPhase: () => undefined,
    show: (block) => void blocks.push(block),
  });
  const text = JSON.stringify(fields);
  return { content: [{ type: 'text', text }, ...blocks], structuredContent: fields, isError: false };
};

const refused = (name: string, action: unknown): AppError => {
  const what = typeof action === 'string' ? `${name} ${action.slice(0, 100)}` : name;
  return new AppError('forbidden', `${what}: a program inside a sandbox may not do this`, {
    suggestions: ['The method platform_tools lists the tools and actions that it may use.'],
  });
};

const aimedAt = async (
  context: MethodContext,
  input: Readonly<Record<string, unknown>>,
  target: 'own' | 'descendant',
): Promise<Readonly<Record<string, unknown>>> => {
  const { session_id: id = target === 'own' ? context.session.id : undefined } = input;
  // The tool itself says what is wrong with another value.
  if (typeof id !== 'string') return input;
  return { ...input, session_id: (await sessionWithin(context, id, target)).id };
};

/** The session itself, where it may be meant, or one below it. */
export const sessionWithin = async (
  { ports, session }: MethodContext,
  id: string,
  target: 'own' | 'descendant',
): Promise<Session> => {
  if (id.toLowerCase() !== session.id) return descendantNamed(ports, session, id.toLowerCase());
  if (target === 'own') return session;
  throw sessionNotFound();
};
