import { expect, test } from 'vitest';
import { answerWellKnown, challengeOf, isWellKnown, type ResourceSettings } from './resource-metadata.ts';

const issuer = 'https://id.example.com';
const path = '/.well-known/oauth-protected-resource/mcp';
const ask = (settings: Partial<ResourceSettings> = {}, change: object = {}) => {
  const headers = {
    host: 'gateway.example',
    'x-forwarded-host': 'app.example',
    'x-forwarded-proto': 'https',
  };
  const event = { httpMethod: 'GET', path, headers, ...change };
  return { event, all: { publicUrl: undefined, issuer: undefined, ...settings } };
};
const metadata = (settings?: Partial<ResourceSettings>, change?: object) => {
  const { event, all } = ask(settings, change);
  const { statusCode, body } = answerWellKnown(event, all);
  return [statusCode, JSON.parse(String(body))];
};

test('the metadata names the endpoint as the client sees it, and the issuer', () => {
  const described = {
    resource: 'https://app.example/mcp',
    resource_name: 'Sallyport',
    authorization_servers: [issuer],
    bearer_methods_supported: ['header'],
  };
  expect(metadata({ issuer })).toEqual([200, described]);
  expect(metadata({ issuer }, { path: '/.well-known/oauth-protected-resource' })).toEqual([200, described]);
  const publicUrl = 'https://people.example/';
  expect(metadata({ issuer, publicUrl })).toEqual([
    200,
    { ...described, resource: 'https://people.example/mcp' },
  ]);
  expect(metadata()[1]).toMatchObject({
    authorization_servers: ['https://app.example'],
    scopes_supported: ['own:write', 'own:ro'],
  });
});

test('the platform is its own authorization server where no issuer is configured, and only there', () => {
  const server = { path: '/.well-known/oauth-authorization-server' };
  expect(metadata({}, server)).toMatchObject([
    200,
    { issuer: 'https://app.example', token_endpoint: 'https://app.example/oauth/token' },
  ]);
  expect(() => metadata({ issuer }, server)).toThrow('there is nothing at this path');
});

test('the challenge leads to it, and names no address that a header makes up', () => {
  const { event, all } = ask();
  expect(challengeOf(event, all)).toBe(`Bearer resource_metadata="https://app.example${path}"`);
  const refused = { ...event, headers: { ...event.headers, authorization: 'Bearer bad' } };
  expect(challengeOf(refused, all)).toBe(
    `Bearer error="invalid_token", resource_metadata="https://app.example${path}"`,
  );
  const odd = { ...event, headers: { host: 'a"b.example' } };
  expect(challengeOf(odd, all)).toBe('Bearer');
});

test.each([{ path: '/.well-known/other' }, { path: `${path}/x` }, { httpMethod: 'POST' }])(
  'anything else is not found: %o',
  (change) => {
    expect(() => metadata({}, change)).toThrow('there is nothing at this path');
  },
);

test('only paths below /.well-known are its own', () => {
  expect([isWellKnown({ path }), isWellKnown({ path: '/mcp' })]).toEqual([true, false]);
});
