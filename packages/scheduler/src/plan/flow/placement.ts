/**
 * Placement of layer ranges by search in place of Helix's mixed-integer program: the placements of other systems are
 * improved where links are no limit by stages of unequal length and by coverage, and where they are, region by region
 * and on the maximum flow itself. The result is never below the best start.
 */
import type { Random } from '@tabweave/shared';
import { flowBound, refinedBound } from './bound.ts';
import { coverageFlow } from './coverage.ts';
import { CoverageSearch, shuffle } from './coverage-search.ts';
import { tryAllPlacements } from './exhaustive.ts';
import type { FlowProblem, Placement } from './flow-problem.ts';
import { emptyPlacement } from './flow-problem.ts';
import { PlacementGraph } from './graph.ts';
import { searchLinks } from './link-search.ts';
import { equalStages, petalsPlacement, speedProportional } from './seeds.ts';
import { StageSearch, oneRegion } from './stage-search.ts';
import type { StageShape } from './stage-search.ts';
import { findRegions, regionOrders } from './regions.ts';
import type { Regions } from './regions.ts';

export interface FlowSearchOptions {
  /** About this many ranges, groupings and placements are tried; a placement on the links counts as its devices. */
  evaluations: number;
  random: Random;
  /** Placements to start from besides the usual ones: the plan in force, say. */
  starts?: readonly Placement[];
}

export interface FlowPlacement {
  placement: Placement;
  /** Maximum flow of the placement; where it is 0, the placement is that of most coverage. */
  throughput: number;
  /** That no placement exceeds; see `bound.ts`. */
  bound: number;
  /** Whether no placement is better: it reaches the bound, or all were tried or ruled out. */
  exact: boolean;
  evaluations: number;
}

/** Annealings on the links, and placements that one tries at least. */
const anneals = 10;
const leastAnneal = 300;

const mostToTryAll = 6;

/** Above this many devices stages are so many-handed that coverage alone finds them, and faster. */
const mostForStages = 160;

export function placeRanges(
  problem: FlowProblem,
  { evaluations, random, starts = [] }: FlowSearchOptions,
): FlowPlacement {
  const search = new Search(problem, evaluations, random);
  search.offer(equalStages(problem));
  search.offer(speedProportional(problem));
  search.offer(petalsPlacement(problem, random));
  for (const start of starts) search.offer(start);
  search.byStages(oneRegion(problem.devices), 0.25);
  search.byCoverage(0.5);
  const searched = problem.devices > mostToTryAll ? 1 : 0.8;
  if (search.linksLimit) {
    search.byRegions(0.8 * searched);
    search.byLinks(searched);
  } else search.byCoverage(searched);
  search.byTryingAll();
  return search.result;
}

function upperBound(problem: FlowProblem): number {
  return problem.devices > mostForStages
    ? refinedBound(problem, 16)
    : refinedBound(problem, 100, flowBound(problem));
}

class Search {
  readonly #problem: FlowProblem;
  readonly #graph: PlacementGraph;
  readonly #random: Random;
  readonly #budget: number;
  readonly #bound: number;
  #used = 0;
  #exact = false;
  #best: Placement;
  #throughput = 0;
  /** The best placement and flow were links no limit. */
  #covering: Placement;
  #coverage = 0;

  constructor(problem: FlowProblem, budget: number, random: Random) {
    this.#problem = problem;
    this.#graph = new PlacementGraph(problem);
    this.#random = random;
    this.#budget = budget;
    this.#bound = upperBound(problem);
    this.#best = emptyPlacement(problem.devices);
    this.#covering = this.#best;
  }

  get result(): FlowPlacement {
    const exact = this.#exact || this.#throughput >= this.#bound * (1 - 1e-8);
    return {
      placement: this.#throughput > 0 ? this.#best : this.#covering,
      throughput: this.#throughput,
      bound: this.#bound,
      exact,
      evaluations: this.#used,
    };
  }

  get linksLimit(): boolean {
    return this.#throughput < this.#coverage * (1 - 1e-9);
  }

  /** Takes the placement where it is better. @returns its flow. */
  offer(placement: Placement): number {
    const coverage = coverageFlow(this.#problem, placement);
    if (coverage > this.#coverage) {
      this.#coverage = coverage;
      this.#covering = placement;
    }
    if (coverage <= this.#throughput) return 0;
    const throughput = this.#graph.throughput(placement);
    this.#used += this.#problem.devices;
    if (throughput > this.#throughput) {
      this.#throughput = throughput;
      this.#best = placement;
    }
    return throughput;
  }

  /** Bisects on the target between the best coverage and the bound; each grouping of stages is a placement. */
  byStages(shape: StageShape, share: number): void {
    if (this.#problem.devices > mostForStages) return;
    const end = share * this.#budget;
    const tries = Math.max(200, Math.min(20_000, (end - this.#used) / 16));
    let low = this.#coverage;
    let high = this.#bound;
    const search = new StageSearch(this.#problem, shape, this.#random);
    for (let round = 0; this.#used < end && high - low > 1e-3 * this.#bound; round++) {
      const before = search.evaluations;
      // The bound itself first: sometimes it is reached.
      const target = round === 0 ? high * (1 - 1e-9) : (low + high) / 2;
      const filled = search.search(target, tries);
      this.#used += 1 + search.evaluations - before;
      this.offer(search.placement());
      low = Math.max(low, this.#coverage);
      if (!filled) high = Math.max(low, target);
    }
  }

  /** Raises the target towards the bound as long as ruin and recreate reaches it, and less far after it fails. */
  byCoverage(share: number): void {
    const { devices } = this.#problem;
    const start = this.#used;
    const most = share * this.#budget - start;
    if (most <= 0) return;
    const search = new CoverageSearch(this.#problem, this.#covering, this.#random);
    const left = (): number => most - search.evaluations;
    // From nothing, then again and again at a little more than there is: who is not needed goes where flow is missing.
    for (const part of [0.85, 1]) {
      search.load(emptyPlacement(devices));
      search.sweep(part * this.#bound, this.#byReach());
      for (let round = 0, flow = 0; round < 12 && left() > most / 2 && search.flow > flow; round++) {
        flow = search.flow;
        this.offer(search.placement);
        search.sweep(Math.min(this.#bound, 1.06 * flow), this.#byReach());
      }
      this.offer(search.placement);
    }
    search.load(this.#covering);
    let gap = 0.5;
    while (left() > 0 && this.#coverage < this.#bound * (1 - 1e-9)) {
      const target = this.#coverage + gap * (this.#bound - this.#coverage);
      const reached = search.reach(target, Math.min(most / 12, left()));
      this.offer(search.placement);
      if (!reached) gap = gap < 0.02 ? 0.3 : 0.6 * gap;
    }
    this.#used = start + search.evaluations;
  }

  /** Stages by region: for each order of the regions and way to cross, bisect on the target. */
  byRegions(share: number): void {
    const regions = findRegions(this.#problem, this.#bound);
    if (regions === null || this.#problem.devices > mostForStages) return;
    const end = share * this.#budget;
    const tries = 2000;
    const orders = regionOrders(regions.count);
    while (this.#used < end && this.#throughput < this.#bound * (1 - 1e-9)) {
      const order = orders[this.#random.below(orders.length)]!;
      const search = new StageSearch(this.#problem, this.#shape(regions, order), this.#random);
      const target =
        this.#throughput + (this.#bound - this.#throughput) * (0.02 + 0.6 * this.#random.uniform() ** 2);
      const filled = search.search(target, tries);
      this.#used += this.#problem.devices + search.evaluations;
      const placement = search.placement();
      this.offer(placement);
      if (filled) {
        // Which of equal devices meets which at the crossings matters, as their links differ.
        const polished = searchLinks(this.#problem, placement, target, 300, this.#random);
        this.#used += polished.tried * this.#problem.devices;
        this.offer(polished.placement);
      }
    }
  }

  /** Anneals on the maximum flow, cool from the best so far and hot from anywhere in turn. */
  byLinks(share: number): void {
    const { devices } = this.#problem;
    const end = share * this.#budget;
    const slice = Math.max(leastAnneal, (end - this.#used) / devices / anneals);
    for (let round = 0; this.#used < end && this.#throughput < this.#bound * (1 - 1e-9); round++) {
      const tries = Math.ceil(Math.min(slice, (end - this.#used) / devices));
      const hot = round % 2 === 1;
      const start = hot ? this.#covering : this.#best;
      const found = searchLinks(this.#problem, start, this.#bound, tries, this.#random, hot ? 0.15 : 0.02);
      this.#used += Math.max(1, found.tried) * devices;
      this.offer(found.placement);
    }
  }

  /** With a few devices, what is left of the budget may do for all placements. */
  byTryingAll(): void {
    if (this.#problem.devices > mostToTryAll) return;
    const { placement, exact, tried } = tryAllPlacements(
      this.#problem,
      this.#throughput,
      this.#budget - this.#used,
    );
    this.#used += tried;
    this.#exact = exact;
    if (placement !== null) this.offer(placement);
  }

  #shape({ regionOf, between }: Regions, order: readonly number[]): StageShape {
    const random = this.#random;
    const receive: StageShape['receive'][number][] = [null];
    const send: StageShape['send'][number][] = [];
    for (let index = 1; index < order.length; index++) {
      const from = order[index - 1]!;
      const to = order[index]!;
      const capacity = between[from]![to]! * (0.9 + 0.3 * random.uniform());
      const kind = random.below(3);
      send.push(kind === 0 ? null : { group: from, cap: kind === 1 ? capacity : 2 * capacity });
      receive.push(kind === 1 ? null : { group: to, cap: kind === 0 ? capacity : 2 * capacity });
    }
    send.push(null);
    return { groups: regionOf, order, receive, send };
  }

  /** Devices with much room first: those with little fill what they leave. */
  #byReach(): number[] {
    const { devices, layers } = this.#problem;
    const room = Float64Array.from({ length: devices }, (_, device) =>
      this.#problem.reach(device, layers >> 1),
    );
    return shuffle([...room.keys()], this.#random).sort((d, e) => room[e]! - room[d]!);
  }
}
