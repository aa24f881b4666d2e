/**
 * AC6: an id from outside means the same in capitals (RFC 9562, section 4): every field of a contract that holds one makes it
 * lower case, as it is stored.
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import * as z from 'zod';
import * as callerTools from './caller-tools.ts';
import * as socket from './socket-actions.ts';

const id = '0b5ff1c6-0a3f-4d0e-9d6e-6f1f7a2b3c4d';
/** A client may choose one of no version of RFC 9562 for a workspace. */
const unversioned = 'deadbeef-dead-beef-dead-beefdeadbeef';
const folders = ['rest', 'tools', 'tools/session-tool'];

/** Every module of these folders, so that none has to be listed here. */
const paths = folders.flatMap((folder) =>
  readdirSync(join(import.meta.dirname, folder))
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
    .map((file) => `${folder}/${file}`),
);
const modules: Readonly<Record<string, object>> = {
  callerTools,
  socket,
  ...Object.fromEntries(
    await Promise.all(paths.map(async (path) => [path, (await import(`./${path}`)) as object] as const)),
  ),
};

/** Chosen by a client, or compared as it is sent (`client_id` of OAuth): a text that only looks like an id. */
const chosen = /^(message|call|request|external|caller|client)_?id$/i;
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
  // As `isUuid` judges: a session or workspace of such an id is found over every protocol, or over none.
  expect(schema.parse(unversioned.toUpperCase())).toBe(unversioned);
});
