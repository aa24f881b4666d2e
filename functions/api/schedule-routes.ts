/** `/schedules`: created, listed, shown, changed, deleted, triggered, and the history of their runs. */
import type { ScheduleDeps } from '#shared/application/deps.ts';
import {
  createSchedule,
  removeSchedule,
  triggerSchedule,
  updateSchedule,
} from '#shared/application/schedule/manage-schedules.ts';
import { listSchedules, scheduleHistory } from '#shared/application/schedule/read-schedules.ts';
import {
  changeScheduleBody,
  createScheduleBody,
  historyQuery,
  optionsFrom,
  restNames,
  scheduleQuery,
} from '#shared/contracts/rest/schedule-bodies.ts';
import {
  historyAnswer,
  listedView,
  runView,
  scheduleAnswer,
  schedulesAnswer,
  scheduleView,
  triggerAnswer,
} from '#shared/contracts/rest/schedule-view.ts';
import { pageItemsMax } from '#shared/domain/limits.ts';
import { type ApiRoute, json, principalOf, queryOf } from './api-route.ts';
import { fieldsOf } from './request-body.ts';
import { onSchedule } from './resource-route.ts';

export const scheduleRoutes = ({ ports }: { readonly ports: ScheduleDeps }): readonly ApiRoute[] => [
  ...collectionRoutes(ports),
  ...oneRoutes(ports),
  onSchedule(ports, {
    method: 'POST',
    path: '/api/schedules/{id}/trigger',
    needs: 'own:write',
    contract: {
      summary: 'Run a schedule now',
      answers: { 202: triggerAnswer },
      errors: ['conflict'],
    },
    handler: async (event, { schedule: { id } }) => {
      const runs = await triggerSchedule(ports, principalOf(event), id);
      return json(202, { id, runs: runs.map(runView) });
    },
  }),
  onSchedule(ports, {
    method: 'GET',
    path: '/api/schedules/{id}/history',
    needs: 'own:read',
    contract: {
      summary: 'List the runs of a schedule, newest first',
      query: historyQuery,
      answers: { 200: historyAnswer },
    },
    handler: async (event, { schedule: { id } }) => {
      const { limit: itemsMax, after } = queryOf(event, historyQuery);
      const { runs, next } = await scheduleHistory(ports, principalOf(event), { id, after, itemsMax });
      return json(200, { history: runs.map(runView), ...(next === undefined ? {} : { next }) });
    },
  }),
];

const collectionRoutes = (ports: ScheduleDeps): readonly ApiRoute[] => [
  {
    method: 'POST',
    path: '/api/schedules',
    needs: 'own:write',
    contract: {
      summary: 'Create a schedule',
      body: createScheduleBody,
      answers: { 201: scheduleAnswer },
      errors: ['project_not_found', 'workspace_not_found', 'resource_limit_exceeded'],
    },
    handler: async (event) => {
      const input = { options: optionsFrom(fieldsOf(event, createScheduleBody)), names: restNames };
      return json(201, scheduleView(await createSchedule(ports, principalOf(event), input)));
    },
  },
  {
    method: 'GET',
    path: '/api/schedules',
    needs: 'own:read',
    contract: {
      summary: 'List schedules, newest first',
      query: scheduleQuery,
      answers: { 200: schedulesAnswer },
      errors: ['project_not_found'],
    },
    handler: async (event) => {
      const { project, after } = queryOf(event, scheduleQuery);
      const page = { project, after, itemsMax: pageItemsMax };
      const { schedules, next } = await listSchedules(ports, principalOf(event), page);
      return json(200, { schedules: schedules.map(listedView), ...(next === undefined ? {} : { next }) });
    },
  },
];

const oneRoutes = (ports: ScheduleDeps): readonly ApiRoute[] => [
  onSchedule(ports, {
    method: 'GET',
    path: '/api/schedules/{id}',
    needs: 'own:read',
    contract: { summary: 'Show a schedule', answers: { 200: scheduleAnswer } },
    handler: async (_event, state) => json(200, scheduleView(state)),
  }),
  onSchedule(ports, {
    method: 'PATCH',
    path: '/api/schedules/{id}',
    needs: 'own:write',
    contract: {
      summary: 'Change a schedule; given targets replace all existing ones',
      body: changeScheduleBody,
      answers: { 200: scheduleAnswer },
      errors: ['project_not_found', 'workspace_not_found', 'conflict', 'resource_limit_exceeded'],
    },
    handler: async (event, { schedule: { id } }) => {
      const change = { id, options: optionsFrom(fieldsOf(event, changeScheduleBody)), names: restNames };
      return json(200, scheduleView(await updateSchedule(ports, principalOf(event), change)));
    },
  }),
  onSchedule(ports, {
    method: 'DELETE',
    path: '/api/schedules/{id}',
    needs: 'own:write',
    contract: { summary: 'Delete a schedule', answers: { 200: scheduleAnswer }, errors: ['conflict'] },
    handler: async (event, { pins, schedule: { id } }) =>
      json(200, scheduleView({ schedule: await removeSchedule(ports, principalOf(event), id), pins })),
  }),
];
