/** Prompts of the conformance suite, one of which asks its client for something first. */
import { acceptedContent, completable, inputRequired, type McpServer } from '@modelcontextprotocol/server';
import * as z from 'zod';
import { image, resource, text } from './contents.ts';

const user = <Content>(content: Content) => ({ role: 'user' as const, content });
const context = z.object({ context: z.string() });

export const registerPrompts = (server: McpServer): void => {
  server.registerPrompt('test_simple_prompt', { description: 'Without arguments.' }, () => ({
    messages: [user(text('This is a simple prompt for testing.'))],
  }));
  const argsSchema = z.object({
    arg1: completable(z.string().describe('The first.'), (typed) =>
      ['paris', 'park', 'party'].filter((value) => value.startsWith(typed)),
    ),
    arg2: z.string().describe('The second.'),
  });
  server.registerPrompt(
    'test_prompt_with_arguments',
    { description: 'With two arguments.', argsSchema },
    ({ arg1, arg2 }) => ({
      messages: [user(text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`))],
    }),
  );
  server.registerPrompt(
    'test_prompt_with_embedded_resource',
    {
      description: 'With a resource in it.',
      argsSchema: z.object({ resourceUri: z.string().describe('Of the resource.') }),
    },
    ({ resourceUri }) => ({
      messages: [
        user(resource(resourceUri, 'text/plain', 'Embedded resource content for testing.')),
        user(text('Please process the embedded resource above.')),
      ],
    }),
  );
  server.registerPrompt('test_prompt_with_image', { description: 'With a picture.' }, () => ({
    messages: [user(image), user(text('Please analyze the image above.'))],
  }));
  server.registerPrompt(
    'test_input_required_result_prompt',
    { description: 'Asks for its context.' },
    ({ mcpReq }) => {
      const given = acceptedContent(mcpReq.inputResponses, 'user_context', context);
      if (given !== undefined) return { messages: [user(text(given.context))] };
      const user_context = inputRequired.elicit({
        message: 'What context should the prompt use?',
        requestedSchema: context,
      });
      return inputRequired({ inputRequests: { user_context } });
    },
  );
};
