/** A trial notes what its programs want to reach, each once, and reaches nothing. */
import { expect, test } from 'vitest';
import { createTrialHosts } from './trial-hosts.ts';

test('models and the platform are noted beside the hosts, also after more hosts than are noted', () => {
  const trial = createTrialHosts();
  const egress = (host: string) => ({ type: 'egress', via: 'tunnel', host, port: 443 }) as const;
  expect(trial.refusal(egress('before.example'))).toBeUndefined();
  trial.setTrial();
  for (let number = 0; number < 60; number += 1) trial.refusal(egress(`h${number}.example`));
  for (const type of ['platform', 'model', 'model'] as const)
    expect(trial.refusal({ type })).toEqual({
      status: 403,
      message: expect.stringMatching(/^this is a trial of the call: .*, and this is recorded$/),
    });
  const wanted = trial.wantedHosts();
  expect(wanted.slice(0, 3)).toEqual(['platform', 'models', 'h0.example:443']);
  expect(wanted).toHaveLength(52);
});
