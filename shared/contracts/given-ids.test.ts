/**
 * AC6: an id from outside means the same in capitals (RFC 9562, section 4): every field of a contract that holds one makes it
 * lower case, as it is stored.
 */
import { expect, test } from 'vitest';
import * as z from 'zod';
import * as callerTools from './caller-tools.ts';
import * as bodies from './rest/bodies.ts';
import * as registered from './rest/mcp-server-view.ts';
import * as scheduleBodies from './rest/schedule-bodies.ts';
import * as socket from './socket-actions.ts';
import * as agentSession from './tools/agent-session-tool.ts';
import * as configLimits from './tools/config-limits-tool.ts';
import * as mcpTools from './tools/mcp-tools.ts';
import * as project from './tools/project-tool.ts';
import * as schedules from './tools/schedule-tools.ts';
import * as control from './tools/session-tool/control.ts';
import * as converse from './tools/session-tool/converse.ts';
import * as sessionRead from './tools/session-tool/read.ts';
import * as token from './tools/token-tool.ts';
import * as workspaces from './tools/workspace-tool.ts';

const id = '0b5ff1c6-0a3f-4d0e-9d6e-6f1f7a2b3c4d';
const modules = {
  ...{
    registered,
    bodies,
    scheduleBodies,
    socket,
    agentSession,
    callerTools,
    configLimits,
    mcpTools,
  },
  ...{ project, schedules, control, converse, sessionRead, token, workspaces },
};

/** Chosen by a client: a text that only looks like an id. */
const chosen = /^(message|call|request|external|caller)_?id$/i;
const isGiven = /body|query|action|arguments|call$|fields$/i;

type Field = { readonly name: string; readonly schema: z.ZodType };

const fieldsOf = (name: string, schema: unknown): readonly Field[] => {
  if (schema instanceof z.ZodUnion || schema instanceof z.ZodDiscriminatedUnion)
    return schema.options.flatMap((option, index) => fieldsOf(`${name}.${index}`, option));
  const shape: Readonly<Record<string, unknown>> =
    schema instanceof z.ZodObject ? schema.shape : schema instanceof z.ZodType ? {} : Object(schema);
  return Object.entries(shape).flatMap(([key, field]) =>
    field instanceof z.ZodType ? [{ name: `${name}.${key}`, schema: field }] : [],
  );
};

const given = Object.entries(modules)
  .flatMap(([file, exported]) =>
    Object.entries(exported).map(([name, value]) => [`${file}.${name}`, value] as const),
  )
  .filter(([name]) => isGiven.test(name))
  .flatMap(([name, schema]) => fieldsOf(name, schema));

const isOfId = ({ name, schema }: Field): boolean => {
  const key = name.split('.').at(-1) ?? '';
  if (chosen.test(key)) return false;
  const isUuid =
    schema.safeParse(id).success && !schema.safeParse('x').success && !schema.safeParse(1).success;
  return /^id$|_id$|Id$|^workspace$/.test(key) ? schema.safeParse(id).success : isUuid;
};

const ofIds = given.filter(isOfId);

test('there are such fields', () => {
  expect(ofIds.length).toBeGreaterThan(30);
});

test.each(ofIds)('$name', ({ schema }) => {
  expect(schema.parse(id.toUpperCase())).toBe(id);
});
