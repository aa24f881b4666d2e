/** Example prompts of a new session, by provider. */
export type Example = { readonly title: string; readonly text: string };

const commands: readonly Example[] = [
  { title: 'Run a command', text: '$ echo "Hello from $(uname -s)" && date' },
  { title: 'Approve two calls', text: '$ echo one > numbers.txt\n$ seq 2 5' },
  {
    title: 'Run Python',
    text: '```python\nfor n in range(1, 6):\n    print(n, "squared is", n * n)\n```',
  },
  {
    title: 'Test network isolation',
    text: '```python\nimport socket\ntry:\n    socket.create_connection(("1.1.1.1", 443), timeout=3)\n    print("connected")\nexcept OSError as error:\n    print("no network:", error)\n```',
  },
];

const tasks: readonly Example[] = [
  {
    title: 'Write and run a program',
    text: 'Write a Python program that prints the first 20 prime numbers, run it, and save it as primes.py.',
  },
  { title: 'Look around', text: 'What is in your workspace, and which interpreters do you have?' },
  {
    title: 'Test network isolation',
    text: 'Try to open a connection to the internet and tell me what happens.',
  },
];

export const examplesFor = (provider: string): readonly Example[] => (provider === 'demo' ? commands : tasks);

/** The text without its code fences. */
export const previewOf = (text: string): string => text.replace(/^```\w*\n?/gm, '');
