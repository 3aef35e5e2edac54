/** Every address of the app. Pages are loaded when they are visited, so a volunteer never fetches the dashboard. */
import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from '@tanstack/react-router';
import { isRunTab, type RunTab } from '../admin/run/run-tabs.ts';
import { DonateRoute } from './donate-route.tsx';
import { NotFound } from './not-found.tsx';
import { Pending } from './pending.tsx';
import { RouteError } from './route-error.tsx';

const root = createRootRoute({ notFoundComponent: NotFound });

const home = createRoute({
  getParentRoute: () => root,
  path: '/',
  component: () => <DonateRoute runId={null} />,
});
const chooseRun = createRoute({
  getParentRoute: () => root,
  path: '/donate',
  component: () => <DonateRoute runId={null} />,
});
const donate = createRoute({
  getParentRoute: () => root,
  path: '/donate/$runId',
  component: function Donate() {
    return <DonateRoute runId={donate.useParams().runId} />;
  },
});

const admin = createRoute({
  getParentRoute: () => root,
  path: '/admin',
  component: lazyRouteComponent(() => import('../admin/admin-layout.tsx')),
});
const overview = createRoute({
  getParentRoute: () => admin,
  path: '/',
  component: lazyRouteComponent(() => import('../admin/overview/overview-page.tsx')),
});
const newRun = createRoute({
  getParentRoute: () => admin,
  path: '/new',
  component: lazyRouteComponent(() => import('../admin/new-run/new-run-page.tsx')),
});
const run = createRoute({
  getParentRoute: () => admin,
  path: '/runs/$runId',
  validateSearch: (search: Record<string, unknown>): { tab?: RunTab } =>
    isRunTab(search.tab) ? { tab: search.tab } : {},
  component: lazyRouteComponent(() => import('../admin/run/run-page.tsx')),
});
const datasets = createRoute({
  getParentRoute: () => admin,
  path: '/datasets',
  component: lazyRouteComponent(() => import('../admin/library/datasets-page.tsx')),
});
const models = createRoute({
  getParentRoute: () => admin,
  path: '/models',
  component: lazyRouteComponent(() => import('../admin/library/models-page.tsx')),
});

const tree = root.addChildren([
  home,
  chooseRun,
  donate,
  admin.addChildren([overview, newRun, run, datasets, models]),
]);

export const router = createRouter({
  routeTree: tree,
  defaultPendingComponent: Pending,
  defaultErrorComponent: RouteError,
  scrollRestoration: true,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
