/**
 * The limits of ECS for requests, whatever the cluster contains (A30): a request that is accepted here is accepted there.
 * https://docs.aws.amazon.com/AmazonECS/latest/APIReference/API_RunTask.html
 */
import type { RunTaskCommandInput } from '@aws-sdk/client-ecs';
import { AwsError } from '../endpoint/http-messages.ts';

/** The only container of the task definitions. */
const containerName = 'sandbox';
const overridesCharactersMax = 8192;
const tasksMax = 10;
const subnetsMax = 16;
const groupsMax = 5;
const tagsMax = 50;
const tokenSyntax = /^[\x21-\x7e]{1,64}$/;
const starterSyntax = /^[\w/-]{1,128}$/;
const reasonCharactersMax = 255;

type Memory = { readonly min: number; readonly max: number; readonly step: number };
const gib = 1024;

/** By CPU units: https://docs.aws.amazon.com/AmazonECS/latest/developerguide/fargate-tasks-services.html */
const memoryOf: Readonly<Record<string, Memory>> = {
  256: { min: 512, max: 2 * gib, step: 512 },
  512: { min: gib, max: 4 * gib, step: gib },
  1024: { min: 2 * gib, max: 8 * gib, step: gib },
  2048: { min: 4 * gib, max: 16 * gib, step: gib },
  4096: { min: 8 * gib, max: 30 * gib, step: gib },
  8192: { min: 16 * gib, max: 60 * gib, step: 4 * gib },
  16384: { min: 32 * gib, max: 120 * gib, step: 8 * gib },
};

export const refuseImpossibleTask = (input: RunTaskCommandInput): void => {
  const { clientToken, startedBy, count = 1, tags = [], overrides = {} } = input;
  if (clientToken !== undefined && !tokenSyntax.test(clientToken))
    throw invalid('The client token has at most 64 printable characters of ASCII.');
  if (startedBy !== undefined && !starterSyntax.test(startedBy))
    throw invalid('startedBy has at most 128 letters, numbers, hyphens, slashes and underscores.');
  if (count < 1 || count > tasksMax) throw invalid('Tasks to start must be between 1 and 10.');
  if (tags.length > tagsMax) throw invalid('Tags can have at most 50 elements.');
  if (JSON.stringify(overrides).length > overridesCharactersMax)
    throw invalid('Container Overrides length must be at most 8192.');
  if (input.launchType === 'FARGATE') refuseWithoutNetwork(input);
  refuseSize(overrides);
};

const refuseWithoutNetwork = ({ networkConfiguration }: RunTaskCommandInput): void => {
  const { subnets = [], securityGroups = [] } = networkConfiguration?.awsvpcConfiguration ?? {};
  if (subnets.length === 0)
    throw invalid("Network Configuration must be provided when networkMode 'awsvpc' is specified.");
  if (subnets.length > subnetsMax) throw invalid('subnets can have at most 16 items.');
  if (securityGroups.length > groupsMax) throw invalid('securityGroups can have at most 5 items.');
};

type Overrides = NonNullable<RunTaskCommandInput['overrides']>;

const refuseSize = ({ cpu, memory, containerOverrides = [] }: Overrides): void => {
  const taskMemory = memory === undefined ? undefined : Number(memory);
  if (cpu !== undefined && taskMemory !== undefined && !isFargateSize(cpu, taskMemory))
    throw new AwsError(
      400,
      'ClientException',
      `No Fargate configuration exists for given values: ${cpu} CPU, ${memory} memory.`,
    );
  for (const container of containerOverrides) {
    if (container.name !== containerName)
      throw invalid(
        `Override for container named ${container.name} is not a container in the TaskDefinition.`,
      );
    if (taskMemory !== undefined && (container.memory ?? 0) > taskMemory)
      throw invalid("The 'memory' setting for container is greater than for the task.");
  }
};

const isFargateSize = (cpu: string, memory: number): boolean => {
  const sold = memoryOf[cpu];
  if (sold === undefined || memory < sold.min || memory > sold.max) return false;
  // 1.5 GB are not sold.
  return memory % sold.step === 0 && !(cpu === '256' && memory === 1.5 * gib);
};

export const refuseLongReason = (reason: string): void => {
  if (reason.length > reasonCharactersMax) throw invalid('Reason length must be at most 255.');
};

const invalid = (message: string): AwsError => new AwsError(400, 'InvalidParameterException', message);
