import { expect, test } from 'vitest';
import { ref } from 'vue';
import { useHeldMessage } from './held-message.ts';

const box = () => {
  const [to, text] = [ref('s1'), ref('hello')];
  const answers: ((files: readonly string[] | undefined) => void)[] = [];
  const left: string[] = [];
  const { isHeld, hold, callOff } = useHeldMessage<readonly string[]>(
    () => [to.value, text.value],
    (held) => left.push(`${held.to} ${held.text}`),
  );
  const send = () => hold(() => new Promise((resolve) => answers.push(resolve)));
  return { to, text, answers, isHeld, left, send, callOff };
};

test('a message is held until its files are there, once', async () => {
  const { answers, isHeld, send } = box();
  const sent = [send(), send()];
  expect([isHeld.value, answers.length]).toEqual([true, 1]);
  answers[0]?.(['a']);
  expect(await Promise.all(sent)).toEqual([['a'], undefined]);
  expect(isHeld.value).toBe(false);
});

test('an upload that failed leaves the message in the box, to be sent again', async () => {
  const { answers, isHeld, send } = box();
  const first = send();
  answers[0]?.(undefined);
  expect([await first, isHeld.value]).toEqual([undefined, false]);
  const second = send();
  answers[1]?.(['a']);
  expect(await second).toEqual(['a']);
});

test('an edit and another session call it off', async () => {
  const { to, text, answers, isHeld, left, send } = box();
  const first = send();
  text.value = 'hello!';
  expect(isHeld.value).toBe(false);
  const second = send();
  for (const answer of answers) answer(['a']);
  expect(await Promise.all([first, second])).toEqual([undefined, ['a']]);
  const third = send();
  expect(left).toEqual([]);
  to.value = 's2';
  answers[2]?.(['a']);
  expect([await third, isHeld.value, left]).toEqual([undefined, false, ['s1 hello!']]);
});

test('a box that is removed calls it off', async () => {
  const { answers, isHeld, left, send, callOff } = box();
  const sent = send();
  callOff();
  expect(isHeld.value).toBe(false);
  answers[0]?.(['a']);
  expect([await sent, left]).toEqual([undefined, ['s1 hello']]);
});
