import { expect, test } from 'vitest';
import { networkDraftOf, networkOfDraft, networkProblems } from './project-network.ts';

const rule = { host: 'a.org', header: 'authorization', secret: 'TOKEN' };

test('a network comes back as it was', () => {
  const network = { allow: ['a.org', '*.b.org:443'], inject: [rule] };
  expect(networkOfDraft(networkDraftOf(network))).toEqual(network);
  expect(networkOfDraft(networkDraftOf('none'))).toBeNull();
  expect(networkDraftOf()).toEqual({ hosts: '', inject: '' });
});

test('rules that are cleared are sent as none', () => {
  expect(networkOfDraft({ hosts: 'a.org, b.org', inject: ' \n' })).toEqual({
    allow: ['a.org', 'b.org'],
    inject: [],
  });
});

test('a line that is no rule, and rules without hosts, are named', () => {
  expect(networkProblems({ hosts: 'a.org', inject: 'a.org TOKEN' }).inject).toContain(
    'host, header and secret',
  );
  expect(networkProblems({ hosts: '', inject: 'a.org x TOKEN' }).inject).toContain('hosts above');
  expect(networkProblems({ hosts: 'a.org', inject: 'a.org x TOKEN\n' })).toEqual({});
});
