/** The parts of a run's page, as they stand in its address. */
export const runTabs = ['charts', 'volunteers', 'playground', 'details'] as const;
export type RunTab = (typeof runTabs)[number];

export function isRunTab(value: unknown): value is RunTab {
  return (runTabs as readonly unknown[]).includes(value);
}
