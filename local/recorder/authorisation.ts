/**
 * What AWS asks the policies of a caller for one call: an action on a resource, with the context that conditions read.
 *
 * Made from the request alone, by the tables of actions, resources and condition keys of each service
 * (https://docs.aws.amazon.com/service-authorization/latest/reference/reference_policies_actions-resources-contextkeys.html).
 */
import { accountId, region } from '../endpoint/account.ts';

export type Authorisation = {
  /** `dynamodb:GetItem` */
  readonly action: string;
  readonly resource: string;
  readonly context: Readonly<Record<string, readonly string[]>>;
};

/** A request to an AWS endpoint, whole. */
export type AwsRequest = {
  readonly method: string;
  readonly url: URL;
  /** `GetItem` of `DynamoDB_20120810.GetItem`; empty where the service has none. */
  readonly operation: string;
  readonly body: Buffer;
};

export type AuthorisationsOf = (request: AwsRequest) => readonly Authorisation[];

export const arn = (service: string, rest: string): string =>
  `arn:aws:${service}:${region}:${accountId}:${rest}`;

export const jsonOf = (body: Buffer): Record<string, unknown> =>
  body.length === 0 ? {} : (JSON.parse(body.toString()) as Record<string, unknown>);
