/**
 * A program for a sandbox that asks models by the providers' own client libraries, as people write them: it prints each piece of text as
 * it comes, then `used <input>/<output>`, or one line with the refusal. Bundled into one file, since a sandbox has no network.
 */
import { build } from 'esbuild';

const source = `
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { GoogleGenAI } from '@google/genai';

const base = 'http://127.0.0.1:19999';
const apiKey = 'a key that is none';
const say = (text) => process.stdout.write(text);
const used = (input, output) => say('\\nused ' + input + '/' + output + '\\n');
const content = 'say hello';

const wires = {
  anthropic: async (model) => {
    const client = new Anthropic({ apiKey, baseURL: base + '/anthropic', maxRetries: 0 });
    const stream = client.messages.stream({ model, max_tokens: 200, messages: [{ role: 'user', content }] });
    stream.on('text', say);
    const { usage } = await stream.finalMessage();
    used(usage.input_tokens, usage.output_tokens);
  },
  openai: async (model) => {
    const client = new OpenAI({ apiKey, baseURL: base + '/openai/v1', maxRetries: 0 });
    const stream = await client.responses.create({ model, input: content, stream: true });
    for await (const event of stream) {
      if (event.type === 'response.output_text.delta') say(event.delta);
      if (event.type === 'response.completed')
        used(event.response.usage.input_tokens, event.response.usage.output_tokens);
    }
  },
  chat: async (model) => {
    const client = new OpenAI({ apiKey, baseURL: base + '/openai/v1', maxRetries: 0 });
    const { choices, usage } = await client.chat.completions.create({ model, messages: [{ role: 'user', content }] });
    say(choices[0].message.content);
    used(usage.prompt_tokens, usage.completion_tokens);
  },
  gemini: async (model) => {
    const client = new GoogleGenAI({ apiKey, httpOptions: { baseUrl: base + '/gemini' } });
    let last;
    for await (const chunk of await client.models.generateContentStream({ model, contents: content })) {
      say(chunk.text ?? '');
      last = chunk.usageMetadata ?? last;
    }
    used(last.promptTokenCount, last.candidatesTokenCount);
  },
};
const [, , wire, model] = process.argv;
try {
  await wires[wire](model);
} catch (error) {
  say('\\n' + error.constructor.name + ' ' + error.status + ' ' + error.message.replaceAll('\\n', ' ') + '\\n');
}
`;

/** One file for \`node\`, which takes a wire and a model. */
export const brokerProgram = async (): Promise<string> => {
  const { outputFiles } = await build({
    stdin: { contents: source, resolveDir: import.meta.dirname, loader: 'js' },
    ...{
      bundle: true,
      write: false,
      minify: true,
      keepNames: true,
      platform: 'node',
      format: 'esm',
      target: 'node20',
    },
    banner: {
      js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
    },
  });
  return outputFiles[0]?.text ?? '';
};
