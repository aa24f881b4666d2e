/** A refusal of the model broker in the wire of the provider that a program speaks, as an answer and as the end of a stream. */
import type { BrokerProvider } from './provider.ts';
import type { BrokerRefusal } from './request.ts';

/** https://platform.claude.com/docs/en/api/errors */
const anthropicTypes: Readonly<Record<number, string>> = {
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
};

/** https://cloud.google.com/apis/design/errors */
const geminiStatuses: Readonly<Record<number, string>> = {
  402: 'RESOURCE_EXHAUSTED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  429: 'RESOURCE_EXHAUSTED',
};

const openAiTypes: Readonly<Record<number, string>> = {
  402: 'insufficient_quota',
  429: 'rate_limit_exceeded',
};

const serverErrors = 500;

export const refusalBody = (provider: BrokerProvider, { status, message }: BrokerRefusal): object => {
  const isOurs = status >= serverErrors;
  switch (provider) {
    case 'anthropic': {
      const type = anthropicTypes[status] ?? (isOurs ? 'api_error' : 'invalid_request_error');
      return { type: 'error', error: { type, message } };
    }
    case 'openai': {
      const type = openAiTypes[status] ?? (isOurs ? 'server_error' : 'invalid_request_error');
      return { error: { message, type, param: null, code: type } };
    }
    case 'gemini': {
      const name = geminiStatuses[status] ?? (isOurs ? 'UNAVAILABLE' : 'INVALID_ARGUMENT');
      return { error: { code: status, message, status: name } };
    }
  }
};

/** The last event of a stream that ends before its answer does; begins on a line of its own. */
export const refusalEvent = (provider: BrokerProvider, refusal: BrokerRefusal): string => {
  const data = JSON.stringify(refusalBody(provider, refusal));
  return provider === 'anthropic' ? `\n\nevent: error\ndata: ${data}\n\n` : `\n\ndata: ${data}\n\n`;
};
