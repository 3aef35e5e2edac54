/** Placement 'max-flow': a plan of layer ranges from a search on Helix's flow network. */
import { Random } from '@tabweave/shared';
import { InfeasiblePlanError } from '../plan.ts';
import type { Holding, Plan } from '../plan.ts';
import type { Device } from '../problem.ts';
import { layerCoverage } from './coverage.ts';
import { PlacementGraph } from './graph.ts';
import { placeRanges } from './placement.ts';
import type { FlowPlacement } from './placement.ts';
import { worldFlow } from './world-flow.ts';
import type { WorldFlow, WorldFlowInput } from './world-flow.ts';

export interface PlaceByFlowInput extends WorldFlowInput {
  /** As in `FlowSearchOptions`; 1,000,000 unless given, some tenths of a second. */
  evaluations?: number;
  /** Seeded with 0 unless given. */
  random?: Random;
}

export interface FlowPlan {
  plan: Plan;
  /** Micro-batches per second of the maximum flow. */
  throughput: number;
  /** That no placement of layer ranges exceeds. */
  bound: number;
}

const usualEvaluations = 1_000_000;
/** Weight of a device that the maximum flow leaves out, as a share of its rate: it stands by, and is tried. */
const standbyShare = 0.01;

/**
 * Ranges become holdings, their starts and ends cuts, flows weights; windows are what memory leaves room for.
 * Routing decides the way of each micro-batch (`pipelines` is null).
 * @throws InfeasiblePlanError where some layer fits no device, or the devices together have no room for the model.
 */
export function planByFlow(input: PlaceByFlowInput): FlowPlan {
  const { devices, microBatch, evaluations = usualEvaluations, random = new Random(0) } = input;
  const problem = worldFlow(input);
  checkRoom(input, problem);
  const found = placeRanges(problem, { evaluations, random });
  if (!(found.throughput > 0)) throw new InfeasiblePlanError(whyNoFlow(problem, found, devices));
  const { from, to } = found.placement;
  const ends = new Set([0, problem.layers]);
  for (let device = 0; device < devices.length; device++)
    if (from[device]! < to[device]!) ends.add(from[device]!).add(to[device]!);
  const cuts = [...ends].sort((a, b) => a - b);
  const flows = new PlacementGraph(problem).solve(found.placement).devices;
  const holdings = devices.flatMap((_, device): Holding[] => {
    const start = from[device]!;
    const end = to[device]!;
    if (start === end) return [];
    const standby = standbyShare * problem.rate(device, start, end);
    return [
      {
        device,
        from: cuts.indexOf(start),
        to: cuts.indexOf(end),
        weight: Math.max(flows[device]!, standby),
        window: problem.windowOf(device, start, end),
      },
    ];
  });
  return {
    plan: { cuts, holdings, microBatch, pipelines: null },
    throughput: found.throughput,
    bound: found.bound,
  };
}

/** The plan of `planByFlow`. */
export function placeByFlow(input: PlaceByFlowInput): Plan {
  return planByFlow(input).plan;
}

function checkRoom({ workload, devices, microBatch }: PlaceByFlowInput, problem: WorldFlow): void {
  if (workload.layers.length === 0)
    throw new InfeasiblePlanError('The model has no layers: there is nothing to place');
  const most = devices.reduce((bytes, { memoryBytes }) => Math.max(bytes, memoryBytes), 0);
  workload.layers.forEach(({ name }, layer) => {
    const needed = problem.memoryBytes(layer, layer + 1);
    if (needed > most)
      throw new InfeasiblePlanError(
        `Layer ${layer} (${name}) needs ${megabytes(needed)} with a micro-batch of ${microBatch}, ` +
          `and the largest of ${devices.length} devices has ${megabytes(most)}: ` +
          'wait for a larger device, or make the micro-batch smaller',
      );
  });
}

function whyNoFlow(problem: WorldFlow, { placement }: FlowPlacement, devices: readonly Device[]): string {
  const bare = layerCoverage(problem, placement).findIndex((rate) => rate <= 0);
  const room = devices.reduce((bytes, { memoryBytes }) => bytes + memoryBytes, 0);
  const needed = problem.memoryBytes(0, problem.layers);
  return bare >= 0
    ? `${devices.length} devices have ${megabytes(room)} together and the model needs ${megabytes(needed)} and more ` +
        `for the boundaries of stages: no placement found holds layer ${bare}; more devices are needed`
    : `No link between the ${devices.length} devices carries a micro-batch where one has to hand over to another`;
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}
