/** Tools of the conformance suite that ask their client for something first: by elicitation, sampling or its roots. */
import {
  acceptedContent,
  createRequestStateCodec,
  type InputRequest,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
  type McpServer,
  type ServerContext,
} from '@modelcontextprotocol/server';
import * as z from 'zod';
import { text } from './contents.ts';

export const stateCodec = createRequestStateCodec<{ round: number }>({
  key: 'the key of a fixture, of thirty-two bytes or more',
});

const nameOnly = z.object({ name: z.string() });
const askName = (message: string): InputRequest =>
  inputRequired.elicit({ message, requestedSchema: nameOnly });
const askOk = (): InputRequest =>
  inputRequired.elicit({ message: 'Please confirm', requestedSchema: z.object({ ok: z.boolean() }) });
const askColor = (): InputRequest =>
  inputRequired.elicit({
    message: 'Step 2: What is your favorite color?',
    requestedSchema: z.object({ color: z.string() }),
  });
const askModel = (question: string): InputRequest =>
  inputRequired.createMessage({
    messages: [{ role: 'user', content: text(question) }],
    maxTokens: 100,
  });

type Answer = { content: ReturnType<typeof text>[] } | InputRequiredResult;
const say = (value: string): Answer => ({ content: [text(value)] });

export const registerInputTools = (server: McpServer): void => {
  const tool = (name: string, run: (context: ServerContext) => Promise<Answer>): void =>
    void server.registerTool(name, { description: name }, run);

  tool('test_input_required_result_elicitation', async ({ mcpReq }) => {
    const given = acceptedContent(mcpReq.inputResponses, 'user_name', nameOnly);
    if (given !== undefined) return say(`Hello, ${given.name}!`);
    return inputRequired({ inputRequests: { user_name: askName('What is your name?') } });
  });
  // A client that cannot be asked is refused by the SDK, which knows what it has declared.
  tool('test_missing_capability', async () =>
    inputRequired({ inputRequests: { question: askModel('Are you there?') } }),
  );
  tool('test_input_required_result_sampling', async ({ mcpReq }) => {
    const given = inputResponse(mcpReq.inputResponses, 'capital_question');
    if (given.kind === 'sampling') return say(JSON.stringify(given.result.content));
    const capital_question = askModel('What is the capital of France?');
    return inputRequired({ inputRequests: { capital_question } });
  });
  tool('test_input_required_result_list_roots', async ({ mcpReq }) => {
    const given = inputResponse(mcpReq.inputResponses, 'client_roots');
    if (given.kind === 'roots') return say(given.roots.map(({ uri }) => uri).join(' '));
    return inputRequired({ inputRequests: { client_roots: inputRequired.listRoots() } });
  });
  for (const name of [
    'test_input_required_result_request_state',
    'test_input_required_result_tampered_state',
  ])
    tool(name, async ({ mcpReq }) => {
      if (mcpReq.requestState<{ round: number }>()?.round === 1) return say('state-ok');
      const requestState = await stateCodec.mint({ round: 1 });
      return inputRequired({ inputRequests: { confirm: askOk() }, requestState });
    });
  tool('test_input_required_result_multiple_inputs', async ({ mcpReq }) => {
    if (mcpReq.requestState<{ round: number }>()?.round === 1) return say('all given');
    return inputRequired({
      inputRequests: {
        user_name: askName('What is your name?'),
        greeting: askModel('Generate a greeting'),
        client_roots: inputRequired.listRoots(),
      },
      requestState: await stateCodec.mint({ round: 1 }),
    });
  });
  tool('test_input_required_result_multi_round', async ({ mcpReq }) => {
    const round = mcpReq.requestState<{ round: number }>()?.round ?? 0;
    if (round === 2) return say('both steps given');
    const step1 = askName('Step 1: What is your name?');
    const inputRequests = round === 0 ? { step1 } : { step2: askColor() };
    return inputRequired({ inputRequests, requestState: await stateCodec.mint({ round: round + 1 }) });
  });
  tool('test_input_required_result_capabilities', async () => {
    const { elicitation, sampling } = server.server.getClientCapabilities() ?? {};
    return inputRequired({
      inputRequests: {
        ...(elicitation === undefined ? {} : { user_name: askName('What is your name?') }),
        ...(sampling === undefined ? {} : { greeting: askModel('Generate a greeting') }),
      },
      requestState: await stateCodec.mint({ round: 1 }),
    });
  });
};
