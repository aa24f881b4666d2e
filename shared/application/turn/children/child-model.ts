/**
 * The models that an agent, or a program of its sandbox, may name for a child: its own, the child's, and those of the provider with a price.
 * The calls of another would be paid by no budget (CH6).
 */
import { modelPrice, pricedModels } from '../../../domain/price.ts';
import type { Session } from '../../../domain/session.ts';
import { AppError } from '../../../errors.ts';
import type { Deps } from '../../deps.ts';

const namesShownMax = 20;

type Caller = Pick<Session, 'provider' | 'model'>;

/** `child` is absent for one that is made now, of its parent's provider. */
export const refuseUnpriced = (
  { modelPrices }: Deps<'modelPrices'>,
  { caller, child = caller }: { readonly caller: Caller; readonly child?: Caller },
  model: string | undefined,
): void => {
  const { provider } = child;
  const own = provider === caller.provider ? [caller.model, child.model] : [child.model];
  if (model === undefined || own.includes(model)) return;
  if (modelPrice({ provider, model }, modelPrices) !== undefined) return;
  const names = [...new Set([...own, ...pricedModels(provider, modelPrices)])].slice(0, namesShownMax);
  throw new AppError(
    'forbidden',
    `model: ${model.slice(0, 100)} has no price and is not the model of this session`,
    {
      suggestions: [`Leave it out, or use one of ${names.join(', ')}.`],
      recoveryActions: ['correct_arguments'],
    },
  );
};
