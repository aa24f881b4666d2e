/** The scheduler in the simulated world: one invocation for each moment that was armed, late or twice as faults have it. */
import type { ScheduleId } from '#shared/domain/schedule/schedule.ts';
import type { Scheduler } from '#shared/ports/schedules.ts';
import type { Invocation } from './invocation.ts';
import type { Simulation } from './world.ts';

const lateMsMax = 60_000;

export type Moment = { readonly scheduleId: ScheduleId; readonly runAt: number };

export class Scheduling {
  readonly #sim: Simulation;
  readonly #invoke: (moment: Moment) => void;
  readonly #armed = new Set<string>();

  constructor(sim: Simulation, invoke: (moment: Moment) => void) {
    this.#sim = sim;
    this.#invoke = invoke;
  }

  portFor(invocation: Invocation): Scheduler {
    const name = (id: ScheduleId, runAt: number): string => `${id} ${runAt}`;
    return {
      arm: (scheduleId, runAt) =>
        invocation.call('arms a moment', () => this.#arm(name(scheduleId, runAt), { scheduleId, runAt }), {
          isWrite: true,
        }),
      disarm: (scheduleId, runAt) =>
        invocation.call('disarms a moment', () => void this.#armed.delete(name(scheduleId, runAt)), {
          isWrite: true,
        }),
    };
  }

  #arm(name: string, moment: Moment): void {
    const sim = this.#sim;
    if (this.#armed.has(name)) return;
    this.#armed.add(name);
    const times = sim.further.chance(sim.faults.wakeTwice) ? 2 : 1;
    for (let time = 0; time < times; time += 1) {
      const isLate = sim.further.chance(sim.faults.wakeLate);
      const lateMs = isLate ? sim.further.int(0, lateMsMax) : sim.further.int(0, 500);
      sim.after(Math.max(0, moment.runAt - sim.now()) + lateMs, () => {
        if (this.#armed.has(name)) this.#invoke(moment);
      });
    }
  }
}
