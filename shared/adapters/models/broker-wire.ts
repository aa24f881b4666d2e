/**
 * `BrokerWire` by plain requests, for the model calls of programs: a provider's wire is passed on as it is, with the operator's key
 * and without anything of the program's own headers. No redirect is followed: the key goes to the configured address alone.
 */

import { brokerRefusalBytesMax } from '#shared/domain/broker/limits.ts';
import type { BrokerProvider } from '#shared/domain/broker/provider.ts';
import { AppError } from '#shared/errors.ts';
import type { BrokerWire } from '#shared/ports/broker-wire.ts';
import { headerSafe } from './model-backend.ts';
import type { ModelAccess } from './provider-access.ts';

const defaultBases: Readonly<Record<BrokerProvider, string>> = {
  anthropic: 'https://api.anthropic.com',
  openai: 'https://api.openai.com/v1',
  gemini: 'https://generativelanguage.googleapis.com',
};

export const makeBrokerWire = (access: ModelAccess): BrokerWire => ({
  send: async ({ provider, path, body }, signal) => {
    const base = (access[provider].baseUrl ?? defaultBases[provider]).replace(/\/$/, '');
    const key = await keyOf(access, provider);
    const response = await reach(provider, `${base}${path}`, {
      method: 'POST',
      headers: { ...headersOf(provider, key), 'content-type': 'application/json' },
      body: JSON.stringify(body),
      redirect: 'manual',
      signal,
    });
    return response.ok ? response : withoutKey(response, key);
  },
});

const reach = async (provider: BrokerProvider, url: string, request: RequestInit): Promise<Response> => {
  try {
    return await fetch(url, request);
  } catch {
    request.signal?.throwIfAborted();
    throw new AppError('provider_unavailable', `${provider} cannot be reached`);
  }
};

const keyOf = async (access: ModelAccess, provider: BrokerProvider): Promise<string> => {
  if (provider === 'anthropic' && access.anthropic.auth === 'iam')
    throw new AppError(
      'provider_not_configured',
      'this deployment signs its requests to Anthropic and has no key for programs',
    );
  return headerSafe(await access[provider].key(), `the key of ${provider}`);
};

const headersOf = (provider: BrokerProvider, key: string): Readonly<Record<string, string>> => {
  switch (provider) {
    case 'anthropic':
      return { 'x-api-key': key, 'anthropic-version': '2023-06-01' };
    case 'openai':
      return { authorization: `Bearer ${key}` };
    case 'gemini':
      return { 'x-goog-api-key': key };
  }
};

/** A provider may quote a key that it refuses, also in part. */
const withoutKey = async (response: Response, key: string): Promise<Response> => {
  const { status } = response;
  const isOfKey = status === 401 || status === 407;
  if (isOfKey || status < 400) {
    await response.body?.cancel();
    const reason = isOfKey ? 'does not accept the key of this deployment' : 'answered with a redirect';
    throw new AppError('provider_unavailable', `the provider ${reason}`);
  }
  const text = (await response.text()).slice(0, brokerRefusalBytesMax);
  return new Response(text.replaceAll(key, '…'), { status, headers: { 'content-type': 'application/json' } });
};
