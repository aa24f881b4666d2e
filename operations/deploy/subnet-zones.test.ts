import { expect, test } from 'vitest';
import { synthesise } from '../../infra/stacks/synthesise.ts';
import { subnetsIn } from './subnet-zones.ts';

test('each subnet of the template has the number of its parameter', () => {
  const { network } = synthesise({ settings: { network: { cidr: '10.77.0.0/16', zones: 8 } } });
  const resources = Object.entries(network.Resources);
  const held = resources.map(([id, { Type }]) => ({ id, type: Type, physicalId: `subnet of ${id}` }));
  const parameters = subnetsIn(held).map(({ number, id }) => [`subnet of ${idOf(resources, number)}`, id]);
  expect(parameters).toHaveLength(8);
  for (const [wanted, found] of parameters) expect(found).toBe(wanted);
});

type Resources = readonly (readonly [string, { readonly Properties?: object }])[];

const idOf = (resources: Resources, number: number): string | undefined =>
  resources.find(([, { Properties }]) => {
    const zone: unknown = Reflect.get(Properties ?? {}, 'AvailabilityZoneId');
    return JSON.stringify(zone) === JSON.stringify({ Ref: `Zone${number}Id` });
  })?.[0];
