/**
 * The authorisations that AWS would check for one call: actions on resources, with the context that conditions read.
 *
 * They are derived from the request alone, by each service's table of actions, resources and condition keys
 * (https://docs.aws.amazon.com/service-authorization/latest/reference/reference_policies_actions-resources-contextkeys.html).
 */
import { accountId, region } from '../endpoint/account.ts';

export type Authorisation = {
  /** `dynamodb:GetItem` */
  readonly action: string;
  readonly resource: string;
  readonly context: Readonly<Record<string, readonly string[]>>;
};

/** A complete request to an AWS endpoint. */
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
