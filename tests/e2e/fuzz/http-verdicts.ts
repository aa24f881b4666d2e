/** Verdicts on answers of `/api` and of `/mcp`, where a refusal may stand in three places. */
import type { Cast } from './cast.ts';
import type { RawAnswer, RawRequest } from './raw-http.ts';
import type { RestCase } from './rest-requests.ts';
import { commonProblem, isRefusalCode, parsed, pathOf, refusalProblem } from './verdict.ts';

const restProblem = (asked: RestCase, answer: RawAnswer, cast: Cast): string | undefined => {
  const common = commonProblem(asked, answer, cast);
  if ('settled' in common) return undefined;
  if ('problem' in common) return common.problem;
  const { status, headers } = common.answered;
  if (status !== 413 && headers.get('x-request-id') !== headers.get('x-amzn-requestid'))
    return 'an answer that does not name its request';
  const isDocumented = asked.documented === undefined || asked.documented.includes(status);
  if (!isDocumented)
    return `status ${status}, which the document does not name: ${common.answered.text.slice(0, 300)}`;
  return status < 400 || asked.method === 'HEAD' ? undefined : refusalProblem(common.answered);
};

/** Whichever door a target leads to once `..` has been followed. */
export const httpProblem = (asked: RestCase, answer: RawAnswer, cast: Cast): string | undefined =>
  pathOf(asked.target) === '/mcp' ? mcpProblem(asked, answer, cast) : restProblem(asked, answer, cast);

const jsonRpcStatuses = [200, 400, 404, 405, 406, 413, 415];
const internalError = -32603;

const mcpProblem = (asked: RawRequest, answer: RawAnswer, cast: Cast): string | undefined => {
  const common = commonProblem(asked, answer, cast);
  if ('settled' in common) return undefined;
  if ('problem' in common) return common.problem;
  const { answered } = common;
  const { status, headers, text } = answered;
  if (status === 202) return text === '' ? undefined : '202 with a body';
  if (asked.method === 'HEAD') return undefined;
  const messages = messagesIn(headers.get('content-type') ?? '', text);
  if (messages === undefined || messages.some(({ jsonrpc }) => jsonrpc !== '2.0'))
    return refusalProblem(answered);
  if (!jsonRpcStatuses.includes(status)) return `status ${status}: ${text.slice(0, 300)}`;
  if (messages.length === 0) return 'a stream without an answer';
  return messages.map(messageProblem).find((problem) => problem !== undefined);
};

type Message = Readonly<Record<string, unknown>>;

const messagesIn = (type: string, text: string): readonly Message[] | undefined => {
  if (!type.includes('text/event-stream')) {
    const body: unknown = parsed(text);
    if (body === undefined) return undefined;
    return (Array.isArray(body) ? body : [body]) as readonly Message[];
  }
  const lines = text.split('\n').filter((line) => line.startsWith('data: '));
  return lines.map((line) => parsed(line.slice('data: '.length)) ?? {});
};

type RpcError = { readonly code?: unknown; readonly message?: unknown };
type Result = {
  readonly isError?: unknown;
  readonly content?: readonly { readonly text?: string }[];
  readonly _meta?: Message;
};

const messageProblem = ({ error, result, method }: Message): string | undefined => {
  if (error !== undefined) {
    const { code, message } = error as RpcError;
    if (!Number.isInteger(code) || typeof message !== 'string')
      return `an error of no form: ${JSON.stringify(error)}`;
    return code === internalError ? `an internal error: ${message}` : undefined;
  }
  if (result === undefined) return typeof method === 'string' ? undefined : 'a message of no kind';
  const { isError, content, _meta } = result as Result;
  if (isError !== true) return undefined;
  const refusal = parsed(content?.[0]?.text ?? '')?.['error'] as { readonly type?: unknown } | undefined;
  if (!isRefusalCode(refusal?.type)) return `a tool failed: ${JSON.stringify(refusal)}`;
  return typeof _meta?.['dev.sallyport/requestId'] === 'string'
    ? undefined
    : 'a refusal without the id of its request';
};
