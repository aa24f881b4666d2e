import { describe, expect, test } from 'vitest';
import { mayRead, mayWrite } from '../access.ts';
import type { OwnerId, ProjectId } from '../ids.ts';
import type { Principal } from '../principal.ts';
import { hears, ownedBy, type Webhook, type WebhookId } from './webhook.ts';

const project = '11111111-1111-4111-8111-111111111111' as ProjectId;
const other = '22222222-2222-4222-8222-222222222222' as ProjectId;
const ada = 'ada' as OwnerId;
const webhook: Webhook = {
  id: 'w' as WebhookId,
  project,
  owner: 'deployment' as OwnerId,
  url: 'https://receiver.example/',
  events: ['turn_completed'],
  isEnabled: true,
  enabledAt: 0,
  createdAt: 0,
  updatedAt: 0,
  version: 0,
};
const { project: _, ...ofDeployment } = webhook;
const subject = { type: 'turn_completed', project, owner: ada } as const;

describe('a webhook receives (WH7)', () => {
  test('of its events in its project', () => {
    expect(hears(webhook, subject)).toBe(true);
    expect(hears(webhook, { ...subject, type: 'turn_failed' })).toBe(false);
    expect(hears(webhook, { ...subject, project: other })).toBe(false);
  });

  test('of every project when it is the deployment’s', () => {
    expect(hears(ofDeployment, subject)).toBe(true);
    expect(hears(ofDeployment, { ...subject, project: other })).toBe(true);
  });

  test('only a person’s own sessions when that person created it', () => {
    const ofAda: Webhook = { ...webhook, owner: ada, isPerson: true };
    expect(hears(ofAda, subject)).toBe(true);
    expect(hears(ofAda, { ...subject, owner: 'grace' as OwnerId })).toBe(false);
  });

  test('nothing while it is disabled', () => {
    expect(hears({ ...webhook, isEnabled: false }, subject)).toBe(false);
  });
});

describe('ownership', () => {
  const principal = (scope: Principal['scope'], owner = 'x'): Principal => ({
    owner: owner as OwnerId,
    scope,
    tokenHash: 'h',
  });

  test.each<[Principal['scope'], boolean, boolean]>([
    ['admin', true, true],
    ['admin:ro', true, false],
    [`project:${project}`, false, false],
    [`project:${project}:ro`, false, false],
  ])('the deployment’s: %s reads %s and writes %s', (scope, reads, writes) => {
    expect(mayRead(principal(scope), ownedBy(ofDeployment))).toBe(reads);
    expect(mayWrite(principal(scope), ownedBy(ofDeployment))).toBe(writes);
  });

  test('a project’s belongs to its scope, and to no other project', () => {
    expect(mayWrite(principal(`project:${project}`), ownedBy(webhook))).toBe(true);
    expect(mayRead(principal(`project:${project}:ro`), ownedBy(webhook))).toBe(true);
    expect(mayRead(principal(`project:${other}`), ownedBy(webhook))).toBe(false);
  });

  test('a person’s belongs to no other person', () => {
    const ofAda: Webhook = { ...webhook, owner: ada, isPerson: true };
    const person = (owner: string): Principal => ({
      ...principal(`project:${project}`, owner),
      isPerson: true,
    });
    expect(mayWrite(person('ada'), ownedBy(ofAda))).toBe(true);
    expect(mayRead(person('grace'), ownedBy(ofAda))).toBe(false);
  });
});
